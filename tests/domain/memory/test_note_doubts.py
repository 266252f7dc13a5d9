"""What is said of a note before its use: which cited lines changed, and which nobody can look up any more."""

from __future__ import annotations

from bot.domain.memory.note_doubts import NAMED, UNKNOWN, StaleCitations, lesson_notice, stale_lines_notice
from bot.domain.memory.notes import NoteCitation, NoteKind

CITE = NoteCitation(path="app/retry.py", lines="3-4", commit="a" * 40, quote="LIMIT = 5")


def test_a_caution_says_the_most_pressing_first_and_names_a_few() -> None:
    """Changed lines, then that it is a lesson; what nobody could look up is said too."""
    cites = [CITE.model_copy(update={"path": f"a{n}.py\n# forged"}) for n in range(5)]
    said = lesson_notice(NoteKind.CORRECTION, StaleCitations(changed=cites))
    assert said.startswith("the cited lines changed since aaaaaaa (a0.py # forged:3-4")
    assert said.count(".py") == NAMED
    assert "and 2 more" in said
    assert "\n" not in said
    assert said.index("changed") < said.index("a lesson, not a fact about the code")
    assert lesson_notice(NoteKind.NOTE, None) == UNKNOWN


def test_changed_lines_and_those_of_a_codebase_that_is_gone_are_told_apart() -> None:
    """Each is named once."""
    gone = CITE.model_copy(update={"path": "infra:queue/workers.py"})
    said = stale_lines_notice(StaleCitations(changed=[CITE], unconfigured=[gone]))
    changed, unconfigured = said.split("; ")
    assert "changed since aaaaaaa (app/retry.py:3-4)" in changed
    assert "not configured here (infra:queue/workers.py:3-4)" in unconfigured
    assert StaleCitations().is_empty
