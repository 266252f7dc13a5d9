"""An answer of a command, laid out for Slack and printed on the terminal: the same words, harmless on both."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from blocks.views.answers import EMOJI, MAX_PARTS, answer_blocks, line_text
from bot.cli.output import WIDTH, show
from bot.domain.answers import Answer, Line, Part, lines_of, sentence
from tests.blocks.limits import texts
from tests.tables import each_row

AT: Final = datetime(2026, 11, 21, 3, 12, tzinfo=UTC)
FOREIGN: Final = "\x1b[2Jred\u202e\nnow <!channel> ```"
ANSWER: Final = Answer(
    parts=(
        Part(lines=lines_of(["Moved: Tree."]), quoted="- over 90 %\n- <!here>"),
        Part(
            title="Daily", lines=(Line(text="Tree: `git status`", mark="alert", name="shop", who="U1", more=("Ok",)),)
        ),
        Part(title="Before", lines=(Line(text=FOREIGN, at=AT),)),
    ),
    undo=("tiers", "shop", "add", "daily", "Tree: `git status`"),
    following="tiers shop",
    problem="Nothing was done.",
)


def drawn(answer: Answer) -> str:
    return "\n".join(texts([block.to_dict() for block in answer_blocks(answer)]))


def test_slack_shows_every_part_and_nothing_foreign_acts() -> None:
    """Bold names, the emoji of a word, the reader's time, the way back, and what to type next."""
    assert drawn(ANSWER).replace("\u200b", "").split("\n") == [
        "Nothing was done.",
        "Moved: Tree.",
        "```",
        "- over 90 %",
        "- &lt;!here&gt;",
        "```",
        "To undo: /triage tiers shop add daily Tree: `git status`",
        "*Daily*",
        ":red_circle: *shop* alert · <@U1> · Tree: `git status`",
        "Ok",
        "*Before*",
        "<!date^1795230720^{date_short_pretty} {time}|2026-11-21 03:12 UTC> [2Jred now &lt;!channel&gt; ``'",
        "Next: `/triage tiers shop`",
    ]


def test_the_terminal_prints_the_same_in_columns() -> None:
    """Nothing in it moves the cursor; what is to be typed is quoted for a shell."""
    assert show(ANSWER).split("\n") == [
        "Moved: Tree.",
        "  | - over 90 %",
        "  | - <!here>",
        "To undo: triage tiers shop add daily 'Tree: `git status`'",
        "",
        "Daily",
        "  alert shop  Tree: `git status`",
        "              Ok",
        "",
        "Before",
        "  21 Nov 03:12  [2Jred now <!channel> ```",
        "",
        "Next: triage tiers shop",
    ]


def test_a_long_answer_fits_a_screen_of_slack_and_the_width_of_a_terminal() -> None:
    """What is left out is counted."""
    many = Answer(parts=tuple(Part(lines=lines_of(["word & " * 90] * 30)) for _ in range(MAX_PARTS + 3)))
    said = list(texts([block.to_dict() for block in answer_blocks(many)]))
    assert all(len(text) <= 3_000 for text in said)
    assert "3 more on the terminal." in said[-1]
    one = Answer(parts=(Part(lines=lines_of(["word & " * 90] * 30)),))
    assert re.search(r"\n… and 2\d more$", drawn(one))
    assert max(map(len, show(many).split("\n"))) <= WIDTH


def test_a_sentence_names_commands_as_they_are_typed_there() -> None:
    """With the slash in Slack, without it on the terminal."""
    said = sentence("See /triage heartbeat list", "heartbeat why shop")
    assert drawn(said) == "See /triage heartbeat list\nNext: `/triage heartbeat why shop`"
    assert show(said) == "See triage heartbeat list\n\nNext: triage heartbeat why shop"


@each_row("word", list(EMOJI))
def test_how_something_stands_is_said_in_a_word_too(word: str) -> None:
    """For who sees no emoji."""
    assert line_text(Line(mark=word, name="shop", text="x")) == f"{EMOJI[word]} *shop* {word} · x"
