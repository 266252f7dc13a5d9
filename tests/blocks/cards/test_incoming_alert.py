"""What a card shows of an alert: how it stands, suspect changes, owners, who has it, and to whom it is handed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from blocks.cards.incoming_alert import (
    alert_line,
    assignee_actions,
    assignee_line,
    hand_over_blocks,
    hand_over_click,
    hand_over_modal,
    hand_over_text,
    suspect_lines,
)
from bot.casework.alerts import Choice
from bot.domain.alerts import ThreadAlert
from bot.domain.returns import SuspectChange
from bot.domain.threads import HandOver
from tests.blocks.limits import as_slack_takes_it, view_as_slack_takes_it
from tests.builders import a_thread
from tests.tables import each_row

ASKED = datetime(2026, 1, 7, 9, tzinfo=UTC)


def suspect(**changes: Any) -> SuspectChange:
    known = {
        "ref": "shop/pay.py:1-6",
        "commit": "9b0d7e1" + "0" * 33,
        "author": "Ann",
        "subject": "Charge the fee",
        "changed_at": ASKED - timedelta(days=2),
    }
    return SuspectChange(**{**known, **changes})


def said(*suspects: SuspectChange) -> list[str]:
    return [block.to_dict()["elements"][0]["text"] for block in suspect_lines(suspects, ASKED)]


def test_words_of_others_call_nobody() -> None:
    """A subject or an author is shown as text."""
    line = said(suspect(author="<!channel>", subject="`<@U1>` & *all*"))[1]
    assert "<!channel>" not in line
    assert "<@U1>" not in line


def test_a_commit_whose_words_may_not_be_shown_is_still_named() -> None:
    """By its id alone."""
    assert said(suspect(author="", subject=""))[1].endswith("(2 d before the question) in `9b0d7e1`")


def shown(at: datetime) -> str:
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} {{time}}|{at:%Y-%m-%d %H:%M} UTC>"


ENDED = ASKED + timedelta(minutes=18)


@each_row(
    "state, count, says",
    [
        ("firing", 1, f":bell: *Firing*, since {shown(ASKED)}"),
        ("firing", 4, f":bell: *Firing*, 4 times, last {shown(ASKED)}"),
        ("resolved", 1, f":white_check_mark: *Resolved* {shown(ENDED)}, after 18 min"),
        ("resolved", 1200, f":white_check_mark: *Resolved* {shown(ENDED)}, after 18 min; it fired 1,200 times"),
        ("acknowledged", 1, f"🔕 *Acknowledged in the alert tool*, {shown(ENDED)}"),
        ("info", 2, f"🔕 *No longer an alert*, {shown(ENDED)}; it fired 2 times"),
    ],
)
def test_an_alert_is_one_line_however_often_it_fired(state: str, count: int, says: str) -> None:
    """Its state, how often, and when."""
    known = {"tool": "grafana", "name": "CPU", "fingerprint": "x", "first_at": ASKED, "last_at": ASKED}
    alert = ThreadAlert(state=state, count=count, changed_at=ASKED if state == "firing" else ENDED, **known)
    [line] = alert_line(a_thread(alert=alert))
    assert line.to_dict()["elements"][0]["text"] == says
    assert alert_line(a_thread()) == []


def test_an_open_alert_can_be_taken_and_shows_who_has_it() -> None:
    """The buttons name who had it when they were shown; a question of a person has none."""
    page = a_thread(from_bot=True)
    handed = page.evolve(assignee="U2", handed=HandOver(by="U1", at=ASKED))
    assert "<@U2> has it*; <@U1> handed it over" in as_slack_takes_it(assignee_line(handed))[0]["elements"][0]["text"]
    assert hand_over_click(page) != hand_over_click(handed)
    [row] = as_slack_takes_it(assignee_actions(handed))
    assert [one["text"]["text"] for one in row["elements"]] == ["I have it", "Hand to…"]
    assert assignee_actions(a_thread()) == []


def test_whom_it_is_handed_to_is_told_the_question_and_no_draft() -> None:
    """Under Slack's limits, however long the question and the list are."""
    state = a_thread(question="slow <!channel> " * 900, draft_pending="secret", assignee="U2", card_channel="C0OPS")
    told = as_slack_takes_it(hand_over_blocks(state.evolve(card_ts="2.0", handed=HandOver(by="U1", at=ASKED))))
    assert "<@U1> handed this to you" in told[0]["text"]["text"]
    assert "secret" not in str(told)
    assert "asked in a direct message" in hand_over_text(a_thread(chat_id="D0ANN"))
    many = [Choice("Ann & <b>" * 30, f"U{number}") for number in range(150)]
    for choices in (many, []):
        view_as_slack_takes_it(hand_over_modal(hand_over_click(state), choices))
