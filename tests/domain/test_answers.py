"""Help: what a wrong word is met with. What help says of each command is tested where it is typed."""

from __future__ import annotations

from blocks.views.answers import answer_blocks
from bot.domain.answers import unknown_command
from tests.blocks.limits import shown
from tests.tables import each_row


def test_an_unknown_word_is_met_with_the_near_ones() -> None:
    """And with the whole list."""
    seen = shown(answer_blocks(unknown_command("stauts")))
    assert "There is no `/triage stauts`, and nothing was done. Did you mean `/triage status`?" in seen
    assert "`/triage status`: open questions" in seen


@each_row("word", ["<!channel>", "`x`", "x" * 40, "&"])
def test_an_unknown_word_is_repeated_inertly(word: str) -> None:
    """Whatever was typed."""
    shown(answer_blocks(unknown_command(word)))
