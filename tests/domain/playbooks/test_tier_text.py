"""A tier edited as text: what was not touched keeps every byte, what was is a plain task, nothing else is reached."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.playbook import parse
from bot.domain.playbooks.tier_text import tier_text, with_tier_text
from bot.domain.tiers import Tier
from bot.errors import InputError
from tests.playbooks import template
from tests.tables import each_row

FILE = (
    "\ufeff# Heartbeat\r\n## Quick\r\n* [x] a\r\n  - detail\r\n\r\n+ [ ] b  \r\n<!-- why -->\r\n- c\r\n"
    "## Daily\n- [x] d"
)
LINES = ["- a", "  - detail", "- b", "- c", "- new", "plain", "  - more", "", "# Daily", "```", "<!-- x", "- (none)"]


@each_row("tier", [*Tier])
@each_row("text", [FILE, template("worker").render(), template("master").render(), "", "- [ ] freeform\n- b\n"])
def test_a_text_that_comes_back_as_it_was_changes_no_byte(text: str, tier: Tier) -> None:
    """Line ends, boxes, comments and trailing blanks included."""
    playbook = parse(text)
    changes = with_tier_text(playbook, tier, tier_text(playbook, tier).replace("\n", "\r\n"))
    assert changes.playbook.render() == text
    assert (changes.added, changes.removed) == ((), ())


def test_only_the_lines_that_changed_are_edited() -> None:
    """A line above, a line changed, a detail added; the comment between two tasks stays."""
    changes = with_tier_text(parse(FILE), Tier.QUICK, "- first\n* a\n  - detail\n- b, too\n- c\n  - `df -h`")
    assert changes.playbook.render() == (
        "\ufeff# Heartbeat\r\n## Quick\r\n- [ ] first\r\n* [x] a\r\n  - detail\r\n\r\n- [ ] b, too\r\n"
        "<!-- why -->\r\n- c\r\n"
        "  - `df -h`\r\n## Daily\n- [x] d"
    )
    assert changes.added == ("- first", "- b, too", "  - `df -h`")
    assert changes.removed == ("+ b",)


def test_a_tier_is_emptied_and_filled_again() -> None:
    """The heading stays, and a missing one is added."""
    empty = with_tier_text(parse(FILE), Tier.QUICK, "").playbook
    assert empty.tasks(Tier.QUICK) == ()
    assert "## Quick" in empty.render()
    full = with_tier_text(empty, Tier.QUICK, "one\n- two").playbook
    assert [task.text for task in full.tasks(Tier.QUICK)] == ["one", "two"]
    assert with_tier_text(full, Tier.HOURLY, "three").playbook.tasks(Tier.HOURLY)[0].text == "three"


@each_row(
    "text",
    ["# Daily", "- a\n```\n- b", "- <!-- x", "- a\n- a", "  - x", "- (none)", "- a\n## Notes\n- b", "x" * 301],
)
def test_no_structure_is_smuggled_in(text: str) -> None:
    """Refused, and nothing is changed."""
    with pytest.raises(InputError):
        with_tier_text(template("worker"), Tier.HOURLY, text)


def test_paragraphs_are_not_edited_as_lines() -> None:
    """What is a task there, only the file can say."""
    with pytest.raises(InputError, match="make them a list"):
        with_tier_text(parse("## Quick\nLook at everything.\n"), Tier.QUICK, "- a")


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=12), max_size=8))
def test_whatever_is_submitted_stays_in_its_tier(lines: list[str]) -> None:
    """Either it is refused, or every other entry reads as before and the tier reads as it was written."""
    before = parse(FILE)
    try:
        after = with_tier_text(before, Tier.QUICK, "\n".join(lines)).playbook
    except InputError:
        return
    others = [e.text for e in before.entries if e not in before.tasks(Tier.QUICK)]
    assert [e.text for e in after.entries if e not in after.tasks(Tier.QUICK)] == others
    again = with_tier_text(after, Tier.QUICK, tier_text(after, Tier.QUICK))
    assert again.playbook.render() == after.render()
