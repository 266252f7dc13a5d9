"""The life of an alert in its thread: it fires, repeats, is acknowledged, ends and fires again, whatever dies between.

The messages come as the watcher queues them; each story is a line of states, with what the thread says at its end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from blocks.cards.incoming_alert import hand_over_click
from bot.casework.approvers import Approvers
from bot.domain.alerts import Alert, AlertState, Severity
from bot.domain.events import Event, MessageType
from bot.domain.jobs import RebuildThread
from bot.domain.returns import CodeOwner
from bot.domain.threads import Resolution, ThreadState, ThreadStatus
from bot.domain.waits import DoubtCode
from bot.errors import Conflict, InputError, ProviderError, Unavailable
from bot.ports import Person
from handlers.buttons.draft_buttons import NOT_YOURS, HandOverButtons
from tests.builders import THREAD_ID, a_return, an_event
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row

FIRST = 1795165200
"""When the first message of a story is written; each step is a minute later."""


def ts_of(minute: int) -> str:
    return f"{FIRST + 60 * minute}.000100"


def an_alert(state: str = "firing", name: str = "High latency on orders-2", **changes: Any) -> Alert:
    """Return what a tool's message says; equal names are one alert."""
    known: dict[str, Any] = {"tool": "grafana", "state": state, "name": name, "fingerprint": f"grafana:{name}"}
    return Alert(**{**known, "severity": Severity.PAGE, **changes})


def told(state: str = "firing", *, minute: int = 0, edits: bool = False, place: str = "C1", **alert: Any) -> Event:
    """Return a message of the tool about an alert, written in that minute, or edited since."""
    said = an_alert(state, **alert)
    return an_event(
        f"[{state}] {said.name}",
        ts_of(minute),
        chat_id=place,
        sender={"id": "B1", "type": "bot"},
        msg_type=MessageType.EDIT if edits else MessageType.TEXT,
        alert=said,
    )


def hear(office: Office, *events: Event) -> Office:
    """Let messages arrive, a minute apart, and be worked off."""
    for event in events:
        office.clock.advance(60)
        office.arrive(event)
        office.work()
    return office


def an_office(folder: Path, *events: Event, **more: Any) -> Office:
    return hear(Office(folder, pages={"again_after": "10m", "then": "U0BOSS"}, **more), *events)


def only(office: Office) -> ThreadState:
    """Return the one thread there is, open or not."""
    [state] = office.store.threads()
    return state


def rings(office: Office, minutes: int = 40) -> list[str]:
    """Let time pass, a tick each minute; return who was reached."""
    before = len(office.page_chat.said)
    for _ in range(minutes):
        office.clock.advance(60)
        office.pages.tick()
    return [to for to, _ in office.page_chat.said[before:]]


def life(*steps: str) -> list[Event]:
    """Return a story: each step is a state, "edit" before it for the first message; a minute each."""
    found = []
    for minute, step in enumerate(steps):
        edit, _, state = step.rpartition(" ")
        found.append(told(state, minute=0 if edit else minute, edits=bool(edit)))
    return found


@each_row(
    "steps, state, count, is_ringing",
    [
        (["firing"], "firing", 1, True),
        (["firing", "firing", "firing", "firing"], "firing", 4, True),
        (["firing", "acknowledged"], "acknowledged", 1, False),
        (["firing", "firing", "resolved"], "resolved", 2, False),
        (["firing", "acknowledged", "resolved"], "resolved", 1, False),
        (["firing", "resolved", "firing"], "firing", 2, True),
        (["firing", "acknowledged", "firing"], "firing", 2, True),
        (["firing", "edit resolved"], "resolved", 1, False),
        (["firing", "edit firing", "edit firing"], "firing", 1, True),
        (["firing", "edit acknowledged", "edit resolved"], "resolved", 1, False),
        (["firing", "edit resolved", "edit firing"], "firing", 1, True),
        (["firing", "edit info"], "info", 1, False),
        (["firing", "firing", "edit resolved"], "firing", 2, True),
        (["firing", "info"], "firing", 1, True),
        (["resolved", "firing", "firing"], "firing", 2, True),
    ],
)
def test_a_life_of_an_alert_is_one_thread(
    tmp_path: Path, steps: list[str], state: str, count: int, is_ringing: bool
) -> None:
    """One card, one count, the state of its newest message; nobody is rung for what fires no more."""
    office = an_office(tmp_path, *life(*steps))
    [thread] = office.store.threads()
    assert thread.alert is not None
    assert (thread.alert.state, thread.alert.count) == (state, count)
    assert bool(rings(office)) is is_ringing
    assert len(office.messenger.cards) == 1
    assert len(office.investigator.assignments) == 1


def test_an_alert_is_one_thread_whatever_channel_it_is_told_in(tmp_path: Path) -> None:
    """The thread is where it was told first."""
    office = an_office(tmp_path, told(), told(minute=1, place="C2"), told("resolved", minute=2, place="C3"))
    state = only(office)
    assert state.alert is not None
    assert (state.chat_id, state.alert.count, state.alert.state) == ("C1", 2, "resolved")


def test_messages_that_come_late_or_twice_count_once_and_change_no_state(tmp_path: Path) -> None:
    """A repeat from before the end, delivered after it, was one more; the same one again is not."""
    late = told(minute=1)
    office = an_office(tmp_path, told(), told("resolved", minute=2), late, late, told())
    alert = only(office).alert
    assert alert is not None
    assert (alert.state, alert.count, alert.message_ids) == ("resolved", 2, tuple(map(ts_of, range(3))))


@each_row("end", ["resolved", "acknowledged"])
def test_an_alert_whose_end_came_first_rings_nobody(tmp_path: Path, end: str) -> None:
    """A backfill may bring what fired before an end that was heard live, by an earlier process too."""
    office = an_office(tmp_path, told(end, minute=1))
    office.restart()
    hear(office, told())
    assert (office.store.threads(), rings(office)) == ([], [])
    hear(office, told(minute=2))
    assert rings(office) != []


def test_the_severity_of_a_thread_is_its_alerts(tmp_path: Path) -> None:
    """Whatever its words would say of a person's message; a repeat that is urgent rings."""
    office = an_office(tmp_path, told(severity=Severity.ACT, name="prod is down!!"))
    assert (only(office).severity, rings(office)) == (Severity.ACT, [])
    hear(office, told(minute=1, name="prod is down!!"))
    assert (only(office).severity, rings(office, 1)) == (Severity.PAGE, ["ops"])
    hear(office, told(minute=2, name="prod is down!!", severity=Severity.ACT))
    assert (only(office).severity, rings(office)) == (Severity.ACT, [])


def test_an_alarm_that_a_person_raises_pages_until_the_alert_ends(tmp_path: Path) -> None:
    """In the thread of an alert that is not urgent by itself, and again after its end."""
    office = an_office(tmp_path, told(severity=Severity.ACT))

    def alarm(minute: int) -> Event:
        changes = {"thread_id": ts_of(0), "msg_type": "thread_reply", "sender": {"id": ANN}}
        return an_event("prod is down!!", ts_of(minute), **changes)

    hear(office, alarm(1), told(minute=2, severity=Severity.ACT))
    assert rings(office, 10)
    hear(office, told("resolved", minute=3, severity=Severity.ACT))
    assert rings(office) == []
    hear(office, alarm(60))
    assert rings(office, 10)


def test_forty_edits_of_one_alert_are_one_change(tmp_path: Path) -> None:
    """No edited question: the card says once what became of the alert, and the draft can be approved."""
    edits = [told("firing", edits=True) for _ in range(39)]
    office = an_office(tmp_path, told(), *edits, told("resolved", edits=True))
    state = only(office)
    assert [doubt.code for doubt in state.doubts] == [DoubtCode.ALERT]
    assert state.stale_reasons[0].startswith("the alert was resolved (")
    office.workspace.edit("C1", ts_of(0), ts_of(0), "something else")
    office.service.cards.catch_up(at_once=True)
    office.decisions.approve(office.click(), by=BEN)
    assert len(office.log.lines) == 1


@each_row(
    "steps, told",
    [
        (("firing", "acknowledged", "resolved"), ["the alert was resolved"]),
        (("firing", "resolved", "firing"), []),
        (("firing", "resolved", "firing", "resolved"), ["the alert was resolved"]),
    ],
)
def test_only_the_last_change_of_an_alert_casts_a_doubt(
    tmp_path: Path, steps: tuple[str, ...], told: list[str]
) -> None:
    """And none that undoes the one before: the draft was made for an alert that fires."""
    office = an_office(tmp_path, *life(*steps))
    assert [reason.split(" (")[0] for reason in only(office).stale_reasons] == told


def test_an_alert_that_fires_after_its_thread_closed_has_a_new_one(tmp_path: Path) -> None:
    """By a new message; the old one told again opens nothing."""
    office = an_office(tmp_path, told())
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    hear(office, told(), told(edits=True))
    assert office.store.open_threads() == []
    hear(office, told(minute=9))
    state = only(office)
    assert state.alert is not None
    assert (state.original_message_id, state.alert.count) == (ts_of(9), 1)


def test_an_alert_that_ended_before_its_thread_closed_fires_again_by_an_edit(tmp_path: Path) -> None:
    """Tools that change their message in place write no new one; every further edit is the same firing."""
    office = an_office(tmp_path, told(), told("resolved", edits=True))
    office.service.cards.catch_up(at_once=True)
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    hear(office, told(edits=True), told(edits=True))
    assert [state.is_open for state in office.store.threads()] == [True]
    assert len(office.messenger.cards) == 2


def test_the_first_messages_deletion_withdraws_the_thread_and_no_others(tmp_path: Path) -> None:
    """A repeat that is deleted is forgotten by nobody: it fired."""
    office = an_office(tmp_path, told(), told(minute=1))
    hear(office, an_event("", ts_of(1), msg_type=MessageType.DELETE, sender={"id": "B1", "type": "bot"}))
    assert only(office).is_open
    hear(office, an_event("", ts_of(0), msg_type=MessageType.DELETE, sender={"id": "B1", "type": "bot"}))
    closed = office.store.last_closed(f"T1.C1.{ts_of(0)}")
    assert closed is not None
    assert closed.resolution is Resolution.WITHDRAWN


def test_an_urgent_alert_in_the_slack_thread_of_another_one_rings(tmp_path: Path) -> None:
    """Whether the first is not urgent or has ended; one that is not urgent rings nobody, whatever its words."""
    mild = told(severity=Severity.ACT)
    other = told(minute=2, name="orders-3").model_copy(update={"thread_id": ts_of(0)})
    words = told(minute=1, name="prod is down!!", severity=Severity.ACT).model_copy(update={"thread_id": ts_of(0)})
    office = an_office(tmp_path, mild, words)
    assert rings(office) == []
    hear(office, other)
    assert rings(office, 1) == ["ops"]


@each_row("name", ["", "grafana", "#12"])
def test_what_names_no_alert_is_about_the_one_whose_slack_thread_it_is_in(tmp_path: Path, name: str) -> None:
    """Such as "Acknowledged by Ann"; elsewhere it is about none."""
    ended = told("resolved", minute=1, name=name)
    office = an_office(tmp_path, told(), ended)
    assert rings(office, 10) == ["ops"]
    hear(office, ended.model_copy(update={"thread_id": ts_of(0), "message_id": ts_of(2)}))
    state = only(office)
    assert state.alert is not None
    assert (state.alert.state, state.alert.name, rings(office)) == ("resolved", "High latency on orders-2", [])


def test_a_thread_that_was_opened_first_gets_its_alert(tmp_path: Path) -> None:
    """Somebody's mention may be faster than the alert's own job."""
    office = an_office(tmp_path)
    mention = {"thread_id": ts_of(0), "msg_type": "thread_reply", "mentions": ("U0BOT",)}
    hear(office, an_event("<@U0BOT> why?", ts_of(1), **mention), told())
    state = only(office)
    assert state.alert is not None
    assert (state.severity, rings(office, 1)) == (Severity.PAGE, ["ops"])


def test_an_alert_that_was_joined_to_another_thread_rings_when_it_fires_anew(tmp_path: Path) -> None:
    """And only until it ends; as long as it is the same firing the first thread rings for it."""
    office = an_office(tmp_path, told(severity=Severity.ACT), told(name="orders-3", minute=1))
    first, twin = sorted(office.store.open_threads(), key=lambda state: state.started_at)
    office.store.evolve(twin.thread_id, twin_of=first.thread_id)
    hear(office, told(name="orders-3", minute=2))
    assert rings(office) == []
    hear(office, told("resolved", name="orders-3", minute=3), told(name="orders-3", minute=4))
    assert rings(office, 1) == ["ops"]
    hear(office, told("resolved", name="orders-3", minute=5))
    assert rings(office) == []


def test_an_alert_has_its_card_while_all_work_is_paused(tmp_path: Path) -> None:
    """Nothing is investigated; it rings, and its end is noted."""
    office = Office(tmp_path, pages={"again_after": "10m"})
    office.pausing.pause(by=BEN, name="ben")
    hear(office, told())
    assert (len(office.messenger.cards), office.investigator.assignments) == (1, [])
    assert rings(office, 10) == ["ops"]
    hear(office, told("resolved", minute=1))
    state = only(office)
    assert state.alert is not None
    assert (state.status, state.alert.state, rings(office)) == (ThreadStatus.INVESTIGATING, AlertState.RESOLVED, [])
    office.pausing.resume(by=BEN)
    office.work()
    assert len(office.investigator.assignments) == 1


def test_a_lost_record_is_rebuilt_with_its_alert(tmp_path: Path) -> None:
    """State, count and silence; doing it twice is harmless."""
    office = an_office(tmp_path, told(), told(minute=1), told("resolved", minute=2))
    before = only(office)
    office.store.memory.remove("threads", before.thread_id, version=before.version)
    for _ in range(2):
        office.do_work(RebuildThread(thread_id=before.thread_id, file="x.corrupt"))
    after = only(office)
    assert after.alert is not None
    assert (after.alert.state, after.alert.count, after.severity) == ("resolved", 2, Severity.ACT)
    assert rings(office) == []


@pytest.mark.parametrize("end", [pytest.param("firing", marks=pytest.mark.full), "resolved"])
def test_a_kill_at_any_step_counts_nothing_twice(tmp_path: Path, end: str) -> None:
    """Whatever was claimed is claimed again: one thread, one card, the same count and state."""

    def build(faults: Faults) -> Office:
        return Office(tmp_path, pages={"again_after": "10m"}, faults=faults)

    def story(office: Office) -> None:
        hear(office, *life("firing", "firing", end))

    for at, office in crash_everywhere(build, story):
        office.restart()
        hear(office, *life("firing", "firing", end))
        state = only(office)
        assert state.alert is not None, at
        assert (state.alert.state, state.alert.count) == (end, 3 if end == "firing" else 2), at
        assert len(office.messenger.cards) == 1, at


CARL = "U3"


def paged(folder: Path, faults: Faults | None = None) -> Office:
    """Return an office in which an alert rings."""
    office = Office(folder, faults=faults, pages={"again_after": "10m"})
    office.arrive(told())
    office.work()
    return office


def test_whoever_has_it_ends_the_ringing(tmp_path: Path) -> None:
    """The first of two clicks on one card counts; the other is told who has it."""
    office = paged(tmp_path)
    [state] = office.store.threads()
    click = hand_over_click(state)
    office.hand_overs.take(click, by=BEN)
    with pytest.raises(Conflict, match="<@U2> has it"):
        office.hand_overs.take(click, by=CARL)
    [state] = office.store.threads()
    assert (state.assignee, state.handed, state.paging.acknowledged_by) == (BEN, None, BEN)
    office.clock.advance(3_600)
    office.pages.tick()
    assert office.page_chat.said == []


def test_what_is_handed_over_is_told_and_shown(tmp_path: Path) -> None:
    """A person, or a group; whoever has it may hand it on."""
    office = paged(tmp_path)
    office.workspace.groups["S1"] = frozenset({CARL})
    for to in (CARL, "S1"):
        [state] = office.store.threads()
        assert "direct message" in office.hand_overs.hand(hand_over_click(state), to, by=BEN)
    assert [one for one, _ in office.page_chat.said] == [CARL, "S1"]
    office.hand_overs.tick()
    assert len(office.page_chat.said) == 2


@pytest.mark.parametrize("to", ["", "C0OPS", "S0EMPTY", "U0GUEST", "<!channel>"])
def test_only_a_member_or_a_group_of_members_gets_it(tmp_path: Path, to: str) -> None:
    """What a dialogue sends is not believed."""
    office = paged(tmp_path)
    office.workspace.people["U0GUEST"] = Person(user_id="U0GUEST", name="Gus", is_guest=True)
    office.workspace.groups["S0EMPTY"] = frozenset()
    [state] = office.store.threads()
    with pytest.raises(InputError):
        office.hand_overs.hand(hand_over_click(state), to, by=BEN)
    assert office.store.threads() == [state]


def test_a_chat_that_is_away_is_told_later_and_a_refusal_is_said(tmp_path: Path) -> None:
    """Who has it is known at once."""
    office = paged(tmp_path)
    for error, untold in ((Unavailable("away"), True), (ProviderError("user_disabled"), False)):
        office.page_chat.refuses[CARL] = error
        [state] = office.store.threads()
        office.hand_overs.hand(hand_over_click(state), CARL, by=BEN)
        [state] = office.store.threads()
        assert state.handed is not None
        assert state.handed.is_told is not untold
    assert "user_disabled" in office.messenger.told[-1]


def test_wherever_it_dies_whoever_gets_it_is_told_once(tmp_path: Path) -> None:
    """Before and after the record, and before and after the message."""

    def handed(office: Office) -> None:
        office.arrive(told())
        office.work()
        [state] = office.store.threads()
        office.hand_overs.hand(hand_over_click(state), CARL, by=BEN)

    def begun(faults: Faults) -> Office:
        return Office(tmp_path, faults=faults)

    for point, office in crash_everywhere(begun, handed):
        office.restart()
        office.clock.advance(60)
        office.hand_overs.tick()
        handed_to = [state.assignee for state in office.store.threads()]
        assert len(office.page_chat.said) == (handed_to == [CARL]), point


def test_the_dialogue_offers_owners_groups_and_colleagues(tmp_path: Path) -> None:
    """An owner whom the chat does not know is not offered; nobody stands there twice."""
    owners = (CodeOwner(name="Ben", email="ben@acme.example"), CodeOwner(name="Gone", email="gone@acme.example"))
    office = Office(tmp_path, a_return(owners=owners)).asked()
    office.workspace.mails["ben@acme.example"] = BEN
    office.workspace.groups |= {"S1": frozenset({CARL}), "C0OPS": frozenset({ANN, BEN})}
    state = office.store.get(THREAD_ID)
    assert state is not None
    offered = office.hand_overs.choices(hand_over_click(state))
    assert [one.place_id for one in offered] == [BEN, "S1", ANN]


def test_only_approvers_take_or_hand_over(tmp_path: Path) -> None:
    """At the click and at the submit; nobody else changes who has it."""
    office, said = paged(tmp_path), list[str]()
    office.workspace.groups["C0OPS"] = frozenset({BEN})
    approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=office.workspace)
    buttons = HandOverButtons(office.hand_overs, approvers, say=lambda click, text, typed=None: said.append(text))
    [state] = office.store.threads()
    value = ids.CLICK.encode(hand_over_click(state))
    view = {"private_metadata": value, "state": {"values": {ids.PERSON: {ids.INPUT: {"selected_user": CARL}}}}}
    for user in (ANN, BEN):
        body = {"user": {"id": user, "team_id": "T1"}, "channel": {"id": "C0OPS"}}
        buttons.views[ids.HAND_VIEW](ack=lambda **_: None, body=body, view=view)
    [state] = office.store.threads()
    assert said[0] == NOT_YOURS
    assert (state.assignee, state.handed and state.handed.by) == (CARL, BEN)
    body = {"user": {"id": ANN, "team_id": "T1"}, "channel": {"id": "C0OPS"}}
    buttons.actions[ids.HAVE_IT](ack=lambda **_: None, body=body, action={"value": value}, client=None)
    assert office.store.threads() == [state]


def test_repeats_ring_nobody_who_has_acknowledged_it(tmp_path: Path) -> None:
    """A person's click holds as long as it is the same firing; once it fires anew it rings anew."""
    office = an_office(tmp_path, told())
    office.decisions.acknowledge(only(office).thread_id, by=BEN)
    hear(office, told(minute=1), told(minute=2))
    assert rings(office) == []
    hear(office, told("resolved", minute=3), told(minute=4))
    assert rings(office, 1) == ["ops"]


def test_a_page_that_ended_stays_silent_after_a_restart(tmp_path: Path) -> None:
    """It is on disk that it ended."""
    office = an_office(tmp_path, told(), told("resolved", minute=1))
    assert office.restart() == []
    assert rings(office) == []


def test_two_services_are_two_threads(tmp_path: Path) -> None:
    """What is said of one changes nothing of the other."""
    events = [told(name="orders-2"), told(name="orders-3", minute=1), told("resolved", name="orders-2", minute=2)]
    office = an_office(tmp_path, *events)
    found = {s.alert.name: s.alert.state for s in office.store.open_threads() if s.alert}
    assert found == {"orders-2": "resolved", "orders-3": "firing"}
    assert rings(office, 10) == ["ops"]


def test_an_alert_in_the_slack_thread_of_another_one_is_a_follow_up(tmp_path: Path) -> None:
    """One Slack thread has one record; what else fires there is not lost."""
    other = told(minute=1, name="orders-3").model_copy(update={"thread_id": ts_of(0)})
    office = an_office(tmp_path, told(), other)
    assert [said.text for said in only(office).followups] == ["[firing] orders-3"]
