"""The ledger of the paper's claims: what runs say about each of them."""

from chorus.analysis.ledger.entries import Entry, count_words, evaluate, open_commands, to_json, to_markdown
from chorus.analysis.ledger.table import Claim, all_claims

__all__ = ["Claim", "Entry", "all_claims", "count_words", "evaluate", "open_commands", "to_json", "to_markdown"]
