"""The studies whose claims the shipped shortened runs judge.

A shortened run has fewer steps than its scale, so it is no run of a study, and yet the ledger judges by it what whole
runs cannot. Which studies that concerns is part of the package's data, written by `python examples/results_page.py`.
"""

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from chorus.analysis.ledger import Entry
from chorus.analysis.ledger.entries import SCALES, Place
from chorus.analysis.shipped import DATA

KEY = "shortened_studies"
_PLACES = {Place(scale, shortened=True, comparable=kind).words for scale in SCALES for kind in (True, False)}


def find_shortened(entries: Iterable[Entry]) -> list[str]:
    """The studies of the claims of which a check was judged by shortened runs."""
    found = {
        study
        for entry in entries
        if any(outcome.status != "missing" and outcome.scale in _PLACES for outcome in entry.outcomes)
        for study in entry.claim.studies
    }
    return sorted(found)


@cache
def shortened_studies() -> frozenset[str]:
    """What the package's data say."""
    content = json.loads(files("chorus.data").joinpath(DATA).read_text(encoding="utf-8"))
    return frozenset(content[KEY])
