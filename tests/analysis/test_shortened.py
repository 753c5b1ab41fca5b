"""Which studies shortened runs speak about, by the ledger and by the package's data."""

from chorus.analysis.ledger import Entry, all_claims
from chorus.analysis.ledger.checks import Outcome
from chorus.analysis.shortened import find_shortened, shortened_studies
from chorus.studies.table import STUDIES


def entry(number: int, *places: str, status: str = "agrees") -> Entry:
    claim = next(claim for claim in all_claims() if claim.number == number)
    return Entry(claim, "agrees", tuple(Outcome("", status, scale=place) for place in places))


def test_studies_of_claims_with_a_check_judged_by_shortened_runs() -> None:
    """Claim 33 has two studies. Claim 28 was judged by whole runs, and of claim 16 nothing was run."""
    entries = [
        entry(33, "laptop", "laptop, shortened runs"),
        entry(28, "laptop"),
        entry(16, "laptop, shortened runs", status="missing"),
        entry(38, "laptop, shortened runs, other environments"),
    ]
    assert find_shortened(entries) == ["diverging-member", "figure22", "sac-self-target"]


def test_what_the_package_names_are_studies() -> None:
    assert shortened_studies() and shortened_studies() <= set(STUDIES)
