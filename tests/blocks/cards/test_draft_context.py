"""What stands around a draft: how its alert stands, and suspect changes, which nobody has judged."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from blocks.cards.draft_context import alert_line, suspect_lines
from bot.domain.alerts import ThreadAlert
from bot.domain.returns import SuspectChange
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


def test_each_line_names_place_time_author_and_commit() -> None:
    """The age is that when the question was asked; of one place only the newest commit is called the last."""
    title, first, second = said(suspect(), suspect(changed_at=ASKED - timedelta(days=9)))
    assert "nobody has judged them" in title
    assert first.startswith("`shop/pay.py:1-6` last changed <!date^")
    assert first.endswith("(2 d before the question) by Ann in `9b0d7e1`: Charge the fee")
    assert second.startswith("`shop/pay.py:1-6` before that <!date^")


def test_a_commit_is_not_called_the_last_where_a_later_one_changed_the_lines_too() -> None:
    """The later one may stand with another place."""
    line = said(suspect(is_latest=False))[1]
    assert line.startswith("`shop/pay.py:1-6` changed <!date^")


def test_nothing_is_said_of_nothing() -> None:
    """No trace, no line."""
    assert said() == []


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
