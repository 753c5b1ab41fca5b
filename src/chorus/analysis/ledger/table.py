"""The claims of the paper by number: their text, the studies that answer them, and how they are judged.

The texts are in `data/claims.csv`; claims 43 and 44 are ours. A structural claim names the tests that show it.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from chorus.analysis.context import AnalysisContext
from chorus.analysis.ledger import claims
from chorus.analysis.ledger.checks import Check, NoEffect, Outcome
from chorus.analysis.ledger.evidence import CONTINUOUS, Evidence

Judge = Callable[[Evidence], list[Check]]
_D, _C, _QR = ("dqn",), (CONTINUOUS,), ("qr-dqn",)
# Number -> the groups of algorithms that the claim is about, and what it asks of their runs.
CHECKS: dict[int, tuple[tuple[str, ...], Judge]] = {
    1: (_D, claims.curse),
    2: (_C, claims.curse_in_most),
    3: (_D, claims.together),
    4: (_D, claims.gain_comes_from_voting),
    5: (_C, claims.compensates_in_some),
    6: (_D, claims.passive_behind_active),
    7: (_D, claims.tandem_gap_at_least),
    8: (_D, claims.gaps_correlate),
    9: (_D, claims.members_above_passive),
    10: (_C, claims.tandem_gap_larger),
    12: (_D, claims.large_buffer_keeps_gap),
    13: (_C, claims.large_buffer_removes_gap),
    14: (_D, claims.smaller_ensembles),
    15: (_D, claims.more_sharing),
    16: (_D, claims.sharing_with_large_buffer),
    17: (_D + _C, claims.cerl_helps),
    18: (_C, claims.cerl_gives_back_half),
    19: (_D, claims.sharing_trades_diversity),
    20: (_D, claims.cerl_keeps_diversity),
    23: (_D + _C, claims.cerl_costs_little),
    24: (_D + _C, claims.ensembles_cost),
    25: (_D, claims.against_plain("self-oversampled")),
    27: (_D, claims.life_loss_curse),
    28: (_QR, claims.curse),
    29: (_D, claims.against_plain("per-step")),
    30: (_D, claims.passive_share_shrinks_gap),
    31: (_D, claims.bootstrapping_hurts),
    32: (_D, claims.cerl_improves_with_size),
    33: (_D + _C, claims.self_target),
    35: (_D, claims.cerl_with_sharing),
    36: (_D, claims.against_plain("wide", NoEffect)),
    37: (_D, claims.auxiliary_tasks),
    38: (_C, claims.huber_shields),
    40: (_C, claims.small_buffers_hurt_more),
    41: (_D, claims.hard_games),
    43: (_C, claims.sampling_noise),
    44: (_D, claims.hyperparameters_matter),
}
# Claims about many games, which only the paper scale has.
MANY_GAMES = (8, 41)
# Number -> the tests that show a structural claim.
TESTS: dict[int, tuple[str, ...]] = {
    11: (
        "tests/laws/test_law_01_single.py::test_copies_that_act_in_turn_gather_and_learn_what_one_does",
        "tests/laws/test_law_10_tandem.py::test_half_a_tandem_draws_like_two_members",
    ),
    21: ("tests/golden/test_networks.py::test_what_cerl_adds_to_ten_members",),
    22: ("tests/golden/test_networks.py::test_parameter_counts",),
    26: ("tests/property/test_own_transitions.py::test_the_own_share_holds_before_and_after_the_ring_wraps",),
    34: ("tests/golden/test_soft.py::test_self_target_asks_ones_own_critics_about_the_others_actions",),
    39: ("tests/laws/test_law_06_gradient_scaling.py::test_each_layer_is_divided_by_the_heads_it_serves",),
    42: (
        "tests/loop/test_loop_tape.py::test_the_owner_of_a_transition_is_the_member_that_acted",
        "tests/laws/test_law_10_tandem.py::test_half_a_tandem_draws_like_two_members",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is claimed, where, and which studies answer it, in the order in which to run them."""

    number: int
    source: str
    text: str
    studies: tuple[str, ...]
    note: str

    @property
    def scale(self) -> Literal["paper"] | None:
        """The only scale that can settle the claim; None if every scale can."""
        return "paper" if self.number in MANY_GAMES else None

    @property
    def tests(self) -> tuple[str, ...]:
        return TESTS.get(self.number, ())

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of algorithms that it is about; none for a structural claim."""
        return CHECKS[self.number][0] if self.number in CHECKS else ()

    def judge(self, context: AnalysisContext, group: str) -> tuple[Outcome, ...]:
        """The outcomes of all checks of a group."""
        _, checks = CHECKS[self.number]
        return tuple(check.judge(context) for check in checks(Evidence(context, group)))


@cache
def all_claims() -> tuple[Claim, ...]:
    """The claims in the order of their numbers."""
    text = files("chorus.data").joinpath("claims.csv").read_text(encoding="utf-8")
    return tuple(
        Claim(
            number=int(row["number"]),
            source=row["source"],
            text=row["claim"],
            studies=tuple(row["studies"].split()),
            note=row["note"],
        )
        for row in csv.DictReader(text.splitlines())
    )
