"""Tables and marked places of Markdown pages."""

import pytest

from chorus.analysis.markdown import fill, table


def test_a_table_has_a_rule_and_no_bars_in_its_cells() -> None:
    assert table(["", "a|b"], [["x", "1"], ["y", "2 | 3"]]) == "|  | a/b |\n| --- | --- |\n| x | 1 |\n| y | 2 / 3 |"
    assert table(["only"], []) == "| only |\n| --- |"


def test_a_marked_place_is_filled_and_the_rest_stays() -> None:
    page = "before\n<!-- runs:begin -->\nold\\1\n<!-- runs:end -->\nafter"
    assert fill(page, "runs", "new \\1\n") == "before\n<!-- runs:begin -->\nnew \\1\n<!-- runs:end -->\nafter"


@pytest.mark.parametrize("text", ["nothing", "<!-- a:begin -->\n<!-- a:end --><!-- a:begin -->\n<!-- a:end -->"])
def test_a_page_must_have_the_place_once(text: str) -> None:
    with pytest.raises(ValueError, match="it must have one"):
        fill(text, "a", "new")
