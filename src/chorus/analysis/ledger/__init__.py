"""The ledger of the paper's claims: what runs say about each of them."""

from chorus.analysis.ledger.entries import Entry, evaluate
from chorus.analysis.ledger.table import Claim, all_claims
from chorus.analysis.ledger.writing import count_words, open_commands, to_json, to_markdown

__all__ = ["Claim", "Entry", "all_claims", "count_words", "evaluate", "open_commands", "to_json", "to_markdown"]
