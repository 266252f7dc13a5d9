"""The card about a note whose lines changed: within Slack's limits, nobody's words alive, one glance to decide."""

from __future__ import annotations

from typing import Any

import pytest

from blocks import ids
from blocks.cards.recheck_card import recheck_blocks, recheck_text
from bot.domain.citations.links import code_links
from bot.domain.memory.notes import NoteCitation
from bot.domain.memory.rechecks import ChangedLines, Recheck, RecheckOutcome, recheck_id
from bot.errors import InputError
from tests.blocks.cards.test_draft_card import HOSTILE
from tests.blocks.limits import as_slack_takes_it, texts
from tests.builders import NOW
from tests.tables import each_row

OLD = NoteCitation(path="shop/retry.py", lines="3-4", commit="a" * 40, quote="LIMIT = 5\nWAIT = 1")
NEW = NoteCitation(path="shop/retry.py", lines="7-8", commit="b" * 40, quote="LIMIT = 7\nWAIT = 1")


def recheck(**changes: Any) -> Recheck:
    fields: dict[str, Any] = {
        "id": recheck_id("memory/retries.md", [OLD]),
        "ref": "memory/retries.md",
        "title": "Retries",
        "excerpt": "Five times.",
        "saved_by": "U2",
        "saved_at": "2026-11-20T09:00:00+00:00",
        "head": "b" * 40,
        "changes": (ChangedLines(cite=OLD, now=NEW),),
        "at": NOW,
    }
    return Recheck(**{**fields, **changes})


def shown(one: Recheck, remote: str | None = None) -> str:
    blocks = as_slack_takes_it(recheck_blocks(one, link_to=code_links(remote)))
    assert blocks[0]["block_id"] == ids.recheck_block_id(one.id)
    return "\n".join(text for block in blocks for text in texts(block))


def test_the_card_shows_the_note_what_stood_there_and_what_stands_there_now() -> None:
    """With both places linked where the code host is known."""
    said = shown(recheck(), "git@github.com:acme/shop.git")
    assert "*Is this note still true?*" in said
    assert "> *Retries*\n> Five times." in said
    assert "```\n-LIMIT = 5\n+LIMIT = 7\n WAIT = 1\n```" in said
    for place in (f"blob/{'a' * 40}/shop/retry.py#L3-L4|shop/retry.py:3-4>", f"blob/{'b' * 40}/shop/retry.py#L7-L8|"):
        assert place in said
    assert "kept by <@U2> on 2026-11-20" in said
    assert "`shop/retry.py:3-4`" in shown(recheck())


def test_every_changed_line_is_shown_as_the_one_it_is() -> None:
    """Comments of SQL and increments look like a diff's own lines, other separators like its line ends."""
    old = OLD.model_copy(update={"quote": "-- five\n++tries\n@@ five"})
    new = NEW.model_copy(update={"quote": "-- seven\n++tries\u2028+LIMIT = 5\u202e\n@@ seven"})
    said = shown(recheck(changes=(ChangedLines(cite=old, now=new),)))
    assert "```\n--- five\n-++tries\n-@@ five\n+-- seven\n+++tries +LIMIT = 5\n+@@ seven\n```" in said


def test_lines_that_are_gone_are_said_to_be_gone() -> None:
    """With what they said."""
    said = shown(recheck(changes=(ChangedLines(cite=OLD, now=None),)))
    assert "those lines are gone" in said
    assert "-LIMIT = 5\n-WAIT = 1" in said


def test_the_buttons_carry_the_recheck_and_go_with_the_decision() -> None:
    """Decided by whom, and where the note is."""
    *_, actions = recheck_blocks(recheck(), link_to=lambda _: None)
    found = {button["action_id"]: button["value"] for button in actions.to_dict()["elements"]}
    assert found == {ids.STILL_TRUE: recheck().id, ids.RETIRE: recheck().id}
    assert ids.decode_recheck(recheck().id) == recheck().id
    endings = {
        RecheckOutcome.KEPT: "*Still true*, confirmed by <@U3>; it cites the lines as they are at `bbbbbbb`",
        RecheckOutcome.RETIRED: "*Retired* by <@U3>; it is no longer searched",
        RecheckOutcome.MOOT: "The lines are back",
        RecheckOutcome.GONE: "The note was removed",
    }
    for outcome, words in endings.items():
        one = recheck(outcome=outcome, decided_by="U3", retired_as="memory/retired/retries.md")
        said = shown(one)
        assert words in said
        assert "*Retries*" in said
        assert "`memory/retired/retries.md`" in said


@each_row("words", HOSTILE.values())
def test_hostile_notes_and_code_stay_text(words: str) -> None:
    """In the name, the title, the words, the lines and who is said to have kept it."""
    quote = words.strip()[:4_000] or "x"
    old, new = (OLD.model_copy(update={"quote": f"{n}{quote}", "path": f"a/{words[:300]}"}) for n in "12")
    one = recheck(
        ref=f"memory/{words[:300]}.md",
        title=words[:120],
        excerpt=words[:300],
        saved_by=words[:50],
        saved_at=words[:50],
        changes=tuple(ChangedLines(cite=old, now=now) for now in (new, None, new, None)),
    )
    for outcome in RecheckOutcome:
        assert shown(one.evolve(outcome=outcome, decided_by="U3", retired_as=one.ref))
    assert 0 < len(recheck_text(one)) <= 300


@each_row("value", ["", "x", "0" * 15, "0" * 17, "../../../etc/pass", None, 7])
def test_no_other_value_is_a_recheck(value: object) -> None:
    """It is refused before it names a file."""
    with pytest.raises(InputError):
        ids.decode_recheck(value)
