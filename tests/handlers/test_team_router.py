"""Which team something from Slack is for."""

from __future__ import annotations

from typing import Any

from blocks import ids
from bot.casework.clicks import DraftClick
from bot.domain.events import Event
from bot.intake.normalise import Identity
from handlers.team_router import TeamListeners, TeamRouter
from tests.payloads import payload
from tests.tables import each_row

ME = Identity(team_id="T1", user_id="U0BOT", bot_id="B0BOT")


class Watching:
    """What a watcher knows: its channels, and its open threads."""

    def __init__(self, *channels: str) -> None:
        self.channels, self.open, self.heard = set(channels), set[str](), set[str]()
        self.alerts, self.answered = set[str](), set[str]()

    def watches(self, chat_id: str) -> bool:
        return chat_id in self.channels

    def has_heard(self, event: Event) -> bool:
        return event.message_id in self.heard

    def has_open(self, thread_id: str) -> bool:
        return thread_id in self.open

    def follows(self, event: Event) -> bool:
        return event.thread_id in self.answered

    def is_under_alert(self, event: Event) -> bool:
        return event.thread_id in self.alerts


class People:
    """What a team's approvers know: who belongs to it."""

    def __init__(self, users: set[str]) -> None:
        self._users = users

    def belongs(self, user_id: str, team_id: str) -> bool:
        return team_id == "T1" and user_id in self._users


class Company:
    """Two teams: payments watches C0PAY, platform C0PLAT."""

    def __init__(self, *, shared_ops: bool = False) -> None:
        self.router = TeamRouter(ME)
        self.watchers = {"payments": Watching("C0PAY"), "platform": Watching("C0PLAT")}
        self.owned: dict[str, set[str]] = {"payments": set(), "platform": set()}
        self.cards: dict[str, set[str]] = {"payments": set(), "platform": set()}
        self.people: dict[str, set[str]] = {"payments": set(), "platform": set()}
        for team in self.watchers:
            self._add(team, "C0OPS" if shared_ops else f"C0{team[:2].upper()}OPS")

    def _add(self, team: str, ops: str) -> None:
        self.router.add(
            TeamListeners(
                team=team,
                ops_channel=ops,
                watcher=self.watchers[team],  # type: ignore[arg-type]
                approvers=People(self.people[team]),  # type: ignore[arg-type]
                commands=None,  # type: ignore[arg-type]
                shortcuts={},
                actions={},
                views={},
                owns=lambda name: name in self.owned[team],
                has_card=lambda ts: ts in self.cards[team],
                owned=lambda _: frozenset(),
            )
        )

    def of_message(self, channel: str, ts: str = "1.000001", **more: Any) -> str:
        event = {"type": "message", "channel": channel, "user": "U1", "text": "why?", "ts": ts, **more}
        return self.router.of_message({"team_id": "T1", "event": event}).team

    def of_shortcut(self, channel: str, user: str, **more: Any) -> str:
        message = {"type": "message", "user": "U1", "text": "why?", "ts": "9.000001", **more}
        body = {"user": {"id": user, "team_id": "T1"}, "channel": {"id": channel}, "message": message}
        return self.router.of_shortcut(body).team

    def of_value(self, value: object, channel: str = "") -> str:
        body: dict[str, Any] = {"actions": [{"value": value}]}
        if channel:
            body["channel"] = {"id": channel}
        return self.router.of_click(body).team


def test_a_message_goes_to_the_team_of_its_channel() -> None:
    """Its ops channel is the team's, too; a channel of nobody is the first team's."""
    company = Company()
    assert [company.of_message(one) for one in ("C0PAY", "C0PLAT", "C0PLOPS", "C0ELSE")] == [
        "payments",
        "platform",
        "platform",
        "payments",
    ]


def test_a_reply_goes_to_who_works_on_its_thread() -> None:
    """Also where the channel is another team's by now; an edit and a deletion likewise."""
    company = Company()
    company.watchers["platform"].open.add("T1.C0PAY.1.000001")
    assert company.of_message("C0PAY", "2.000001", thread_ts="1.000001") == "platform"
    changed = {"subtype": "message_changed", "ts": "3.000001"}
    message = {"user": "U1", "text": "why now?", "ts": "1.000001", "edited": {"user": "U1", "ts": "3.0"}}
    assert company.of_message("C0PAY", **changed, message=message, previous_message={**message, "text": "why?"}) == (
        "platform"
    )
    assert company.of_message("C0PAY", "4.000001", thread_ts="3.500001") == "payments"
    company.watchers["platform"].answered.add("9.000001")
    assert company.of_message("C0ELSE", "9.000002", thread_ts="9.000001") == "platform"


def test_what_a_team_has_is_delivered_again_to_nobody_else() -> None:
    """Its channel has changed hands meanwhile, and the new team reads back."""
    company = Company()
    company.watchers["payments"].heard.add("7.000001")
    assert company.of_message("C0PLAT", "7.000001") == "payments"
    assert company.of_message("C0PLAT", "7.000002") == "platform"


def test_under_a_card_in_a_shared_ops_channel_it_is_the_cards_team() -> None:
    """Two teams with the same approvers may share one."""
    company = Company(shared_ops=True)
    company.cards["platform"].add("5.000001")
    assert company.of_message("C0OPS", "6.000001", thread_ts="5.000001") == "platform"
    assert company.of_message("C0OPS", "6.000002", thread_ts="5.500001") == "payments"


def test_the_shortcut_goes_by_thread_then_channel_then_the_only_team_of_the_person() -> None:
    """Who belongs to both teams, or to none, gets the first; what is nobody's message goes by the person, too."""
    company = Company()
    company.watchers["platform"].open.add("T1.C0PAY.1.000001")
    company.people["platform"] |= {"U0PLAT", "U0BOTH"}
    company.people["payments"] |= {"U0BOTH", "U0PAY"}
    assert company.of_shortcut("C0PAY", "U0PAY", thread_ts="1.000001") == "platform"
    assert company.of_shortcut("C0PAY", "U0PLAT") == "payments"
    assert company.of_shortcut("C0ELSE", "U0PLAT") == "platform"
    assert company.of_shortcut("C0ELSE", "U0PLAT", text=5) == "platform"
    assert {company.of_shortcut("C0ELSE", user) for user in ("U0BOTH", "U0NONE", "U0PAY")} == {"payments"}


THREAD = "T1.C0PLAT.1.2"


@each_row(
    "name, value",
    [
        (THREAD, ids.CLICK.encode(DraftClick(thread_id=THREAD, version=3, draft_hash="00112233aabbccdd", seen=1))),
        ("infra", ids.FINDING.encode(ids.FindingValue("infra", "0123456789abcdef"))),
        ("infra", ids.FINDING.encode(ids.FindingValue("infra", "0123456789abcdef", "1 h"))),
        ("infra", "infra"),
    ],
)
def test_a_click_goes_to_whose_it_is_wherever_it_was_clicked(name: str, value: str) -> None:
    """A thread, a session, a snooze or a suggestion; as button, option or dialogue."""
    company = Company()
    company.owned["platform"].add(name)
    assert company.of_value(value, "C0PAOPS") == "platform"
    option = {"actions": [{"selected_option": {"value": value}}]}
    dialogue = {"view": {"private_metadata": value}}
    assert company.router.of_click(option).team == company.router.of_click(dialogue).team == "platform"


@each_row("value", [None, 5, "", "../../etc/passwd", "\x00", ["infra"], {"a": 1}, "|" * 5_000, "a" * 9_000])
def test_what_names_nothing_goes_by_its_channel(value: object) -> None:
    """Whatever it holds: no name is looked up that could be a path."""
    company = Company()
    looked: list[str] = []
    company.owned = {team: _Recording(looked) for team in company.owned}
    assert company.of_value(value, "C0PLOPS") == "platform"
    assert company.of_value(value) == "payments"
    assert not [name for name in looked if "/" in name or ".." in name or len(name) > 200]


class _Recording(set[str]):
    def __init__(self, looked: list[str]) -> None:
        super().__init__()
        self._looked = looked

    def __contains__(self, name: object) -> bool:
        self._looked.append(str(name))
        return False


def test_a_team_that_is_removed_gets_nothing_any_more() -> None:
    """What is left is everybody's."""
    company = Company()
    company.router.remove("platform")
    assert company.of_message("C0PLAT") == company.of_value("infra", "C0PLOPS") == "payments"


def test_below_an_alert_it_is_the_team_of_its_session() -> None:
    """Direct messages are no team's channel."""
    company = Company()
    company.watchers["platform"].alerts.add("1800000000.000100")
    body = payload("message")
    body["event"] |= {"channel": "D0ANA", "thread_ts": "1800000000.000100", "ts": "1800000000.000200"}
    assert company.router.of_message(body).team == "platform"
