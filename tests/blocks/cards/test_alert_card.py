"""The alert's card, as data: what it shows, what it offers, and that hostile words stay words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from blocks import ids
from blocks.cards.alert_card import (
    alert_blocks,
    alert_text,
    closing_blocks,
    closing_text,
    mark_of,
    playbook_modal,
)
from blocks.text.outgoing_text import local_time
from blocks.text.splitting import SECTION_CHARS
from bot.domain.heartbeats.alerts import Alert, OpenFinding, Removal, finding_digest
from bot.errors import InputError
from bot.heartbeat.alert_routing import digest_text
from tests.tables import each_row

AT = datetime(2026, 11, 21, 3, 12, tzinfo=UTC)
FINDING = OpenFinding(key="shop/ci/main-red", task="ci", text="**Main** is red.", first_at=AT, last_at=AT)


def alert(finding: OpenFinding | None = FINDING, **changes: Any) -> Alert:
    fields = {"session_id": "shop", "session_name": "Shop", "text": "**Main** is red.", "at": AT}
    return Alert(**{**fields, "finding": finding, **changes})


def shown(of: Alert) -> str:
    return repr([block.to_dict() for block in alert_blocks(of)])


def offered(of: Alert) -> list[str]:
    rows = [block.to_dict() for block in alert_blocks(of) if block.type == "actions"]
    return [element["action_id"] for row in rows for element in row["elements"]]


def test_an_open_finding_offers_every_button() -> None:
    """What it says comes first, since when stands below."""
    assert offered(alert()) == [
        ids.ACKNOWLEDGE,
        ids.SNOOZE,
        ids.FIXED,
        ids.INVESTIGATE,
        ids.RUN_NOW,
        ids.OPEN_PLAYBOOK,
    ]
    assert "🟠 *Act: Main is red.*" in shown(alert())
    assert f"*Shop* · since {local_time(AT)}" in shown(alert())


def test_an_acknowledged_finding_says_who_has_it_and_offers_no_second_acknowledgement() -> None:
    """A snooze says until when."""
    has_it = FINDING.evolve(acknowledged_by="U0ANA", snoozed_until=AT + timedelta(hours=1))
    assert ids.ACKNOWLEDGE not in offered(alert(has_it))
    assert "<@U0ANA> acknowledged it" in shown(alert(has_it))
    assert f"snoozed until {local_time(AT + timedelta(hours=1))}" in shown(alert(has_it))
    assert ":zzz: *Act: Main" in shown(alert(has_it))
    assert ":eyes: *Act: Main" in shown(alert(has_it, at=AT + timedelta(hours=2)))


@each_row("ended, says", [({"resolved_at": AT}, f"*Resolved* {local_time(AT)}"), ({"fixed_by": "U0BEN"}, "<@U0BEN>")])
def test_a_closed_finding_offers_nothing(ended: dict[str, Any], says: str) -> None:
    """It says how it ended, in the notification too."""
    closed = alert(FINDING.evolve(**ended))
    assert offered(closed) == []
    assert says in shown(closed)
    assert alert_text(closed).startswith("Resolved: ")
    assert alert_text(closed).endswith(" · Shop")


def test_hostile_words_notify_nobody_and_break_nothing() -> None:
    """Whatever a commit message or a name carries, in each field that holds words."""
    ping = "<!channel> <!here> <!everyone> <@U1> <!subteam^S1> *x* `"
    texts = {"session_name": ping, "text": ping + "x" * 20_000, "reasoning": ping, "notes": (ping,)}
    for name, words in texts.items():
        text = shown(alert(**{name: words}))
        for mark in ("<!channel>", "<!here>", "<!everyone>", "<@U1>", "<!subteam"):
            assert mark not in text, name


def test_a_buttons_value_comes_back_as_it_went_and_nothing_else_does() -> None:
    """What does not decode is refused."""
    digest = finding_digest(FINDING.key)
    assert ids.FINDING.decode(f"shop|{digest}") == ids.FindingValue("shop", digest)
    assert ids.FINDING.decode(f"1 h!shop|{digest}") == ids.FindingValue("shop", digest, "1 h")
    for value in ("", None, "shop|xyz", f"../x|{digest}", f"shop|{digest}|more", 7):
        with pytest.raises(InputError):
            ids.FINDING.decode(value)


def test_the_playbook_is_shown_as_it_stands_whatever_its_length() -> None:
    """Within a dialogue's limits."""
    view = playbook_modal("Shop", "# Heartbeat\n" + "- [ ] ```check``` <!here>\n" * 5_000).to_dict()
    assert len(view["blocks"]) <= 100
    assert "<!here>" not in repr(view)


def a_list(count: int, **changes: Any) -> Alert:
    """Return a list of findings whose first is gone."""
    listed = [FINDING.evolve(key=f"shop/ci/n{n}", text=f"<!channel> {n} " + "is *red* " * 60) for n in range(count)]
    listed[0] = listed[0].evolve(resolved_at=AT)
    return alert(None, text=digest_text("shop", listed), listed=tuple(listed), **changes)


def test_a_list_of_findings_fits_a_message_and_notifies_nobody() -> None:
    """Ticked off is what is gone; there is nothing to click, for each click is about one finding."""
    blocks = [block.to_dict() for block in alert_blocks(a_list(60))]
    assert all(len(block["text"]["text"]) <= SECTION_CHARS for block in blocks if block["type"] == "section")
    assert len(blocks) <= 5
    drawn = repr(blocks)
    assert "59 of 60 findings still open" in drawn
    assert "… and 30 more" in drawn
    assert "➖ resolved:" in drawn
    assert "<!channel>" not in drawn
    assert offered(a_list(60)) == []


def test_the_mark_of_a_list_names_its_findings() -> None:
    """The same ones in any order are the same list; one that is said again is another."""
    one, two, three = (FINDING.evolve(key=f"shop/ci/n{n}") for n in range(3))
    marks = [mark_of(alert(None, listed=listed)) for listed in [(one, two), (two, one), (one, three)]]
    assert marks[0] == marks[1] != marks[2]
    assert mark_of(alert(None, listed=(one.evolve(sent_at=AT), two))) != marks[0]
    assert mark_of(alert(None)) is None


def test_how_findings_ended_is_said_until_their_cards_say_so() -> None:
    """Of a removed check that it was removed, of a list each, and of what a human closed nothing; each with a mark."""
    gone = FINDING.evolve(resolved_at=AT, is_unshown=True)
    removed = FINDING.evolve(key="shop/x/y", removed=Removal(at=AT, by="U0ANA"), is_unshown=True)
    why = "its check was removed by <@U0ANA>; last result: failing"
    assert closing_text(alert(gone)) == ":white_check_mark: Resolved."
    assert closing_text(alert(removed)) == f":heavy_minus_sign: Closed: {why}."
    both = alert(None, listed=(gone, removed, FINDING))
    assert closing_text(both).splitlines() == [
        ":white_check_mark: Resolved:",
        "• **Main** is red.",
        ":heavy_minus_sign: Closed:",
        f"• **Main** is red.: {why}",
    ]
    assert len({str(closing_blocks(one)[0].block_id) for one in (alert(gone), alert(removed), both)}) == 3
    for said in (FINDING, gone.evolve(is_unshown=False), FINDING.evolve(fixed_by="U0BEN", is_unshown=True)):
        assert closing_blocks(alert(said)) == []


@each_row(
    "text, bold, below",
    [
        ("- **Disk** of `db` is full\n- `df`: 99 %", "*Act: Disk of `db` is full*", "• `df`: 99 %"),
        ("```\nTraceback\n```", "*Act: A finding*", "```\nTraceback\n```"),
        ("word " * 100, "*Act: word word", "word " * 30),
    ],
)
def test_the_first_line_is_the_heading_whatever_it_is_made_of(text: str, bold: str, below: str) -> None:
    """Nothing of the text is lost."""
    first = alert_blocks(alert(text=text))[0].to_dict()["text"]["text"]
    assert first.startswith(f"🟠 {bold}")
    assert below.strip() in first
