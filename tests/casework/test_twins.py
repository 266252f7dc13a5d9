"""The same question or alert in several threads: one investigation, one card, a post in each chosen thread."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blocks.cards.draft_actions import click_of
from blocks.cards.draft_card import CardFacts, card_blocks
from bot.casework.clicks import DraftClick
from bot.domain.alerts import AlertState, Severity, ThreadAlert
from bot.domain.events import MessageType
from bot.domain.threads import Resolution, ThreadState, ThreadStatus
from bot.errors import Conflict, InputError, ProviderError
from tests.builders import QUESTION_TS, an_event
from tests.casework.office import BEN, Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row

QUESTION = "How often do we retry a failed charge?"
DOWN = "prod is down: checkout returns 500 since 14:05"
AGAIN = ("how often do we retry a failed charge", "<@U9> How often do we  retry a failed charge?! :pray:", QUESTION)


def ask_again(office: Office, number: int = 1, text: str = QUESTION, chat: str = "C2", sender: str = "U3") -> str:
    """Let somebody ask in another thread; returns its id."""
    ts = f"{float(QUESTION_TS) + number:.6f}"
    office.arrive(an_event(text, ts, chat_id=chat, sender={"id": sender}))
    office.work()
    return f"T1.{chat}.{ts}"


def with_twins(office: Office) -> list[str]:
    office.asked(QUESTION)
    ids = [ask_again(office, number, text, f"C{number + 1}") for number, text in enumerate(AGAIN, 1)]
    office.service.cards.catch_up()
    return ids


def too(office: Office) -> DraftClick:
    """Return the click on "Answer there too" of the card as it stands."""
    return click_of(office.shown, with_twins=True)


def closed(office: Office, thread_id: str) -> ThreadState:
    state = office.store.last_closed(thread_id)
    assert state is not None
    return state


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def test_the_same_question_in_four_threads_is_one_card_and_one_investigation(office: Office) -> None:
    """The card lists the other threads."""
    ids = with_twins(office)
    assert (len(office.messenger.cards), len(office.investigator.assignments)) == (1, 1)
    assert [twin.thread_id for twin in office.shown.shown_twins] == ids


def test_one_click_answers_all_each_once_and_each_with_its_line(office: Office) -> None:
    """Four posts in four threads, four lines in the log, nothing left open."""
    ids = with_twins(office)
    said = office.decisions.approve(too(office), by=BEN)
    assert said == "Posted here and in 3 of 3 other threads."
    assert len({(post.chat_id, post.thread_ts) for post in office.messenger.posts}) == len(office.messenger.posts) == 4
    assert [record["thread_id"] for record in office.log.records()] == [office.ended.thread_id, *ids]
    assert office.store.threads() == []


def test_a_twin_that_the_card_did_not_show_yet_is_not_answered(office: Office) -> None:
    """It gets its own card once the first thread is closed."""
    with_twins(office)
    click = too(office)
    late = ask_again(office, 9, chat="C9")
    office.decisions.approve(click, by=BEN)
    assert len(office.messenger.posts) == 4
    office.work()
    state = office.store.get(late)
    assert state is not None
    assert (state.twin_of, state.card_ts is not None, state.earlier_reply is not None) == (None, True, True)


def test_approval_of_the_first_alone_leaves_one_card_for_all_others(office: Office) -> None:
    """The oldest of the twins is investigated, the others are its twins."""
    ids = with_twins(office)
    office.decisions.approve(office.click(), by=BEN)
    office.work()
    first = office.store.get(ids[0])
    assert first is not None
    assert first.twin_of is None
    assert [twin.thread_id for twin in first.shown_twins] == ids[1:]
    assert len(office.messenger.cards) == 2


def test_a_twin_is_taken_out_by_one_click_and_investigated(office: Office) -> None:
    """It has its own card, and the first card does not show it."""
    ids = with_twins(office)
    office.decisions.take_out(DraftClick(thread_id=ids[0], version=0, draft_hash=""))
    office.work()
    state = office.store.get(ids[0])
    assert state is not None
    assert (state.twin_of, state.draft_pending is not None) == (None, True)
    assert [twin.thread_id for twin in office.state.shown_twins] == ids[1:]
    with pytest.raises(Conflict):
        office.decisions.take_out(DraftClick(thread_id=ids[0], version=0, draft_hash=""))


def test_a_dismissal_closes_the_twins_that_the_card_showed(office: Office) -> None:
    """Nothing is posted anywhere."""
    ids = with_twins(office)
    office.decisions.dismiss(too(office), by=BEN, reason="noise")
    assert [closed(office, twin).resolution for twin in ids] == [Resolution.DISMISSED] * 3
    assert office.messenger.posts == []


@pytest.mark.parametrize("mentions", [(), ("U0BOT",)])
def test_whoever_asks_on_in_a_twins_thread_gets_an_answer_there(office: Office, mentions: tuple[str, ...]) -> None:
    """It becomes a thread of its own."""
    ids = with_twins(office)
    event = an_event(
        "it is about refunds", f"{float(QUESTION_TS) + 50:.6f}", chat_id="C2", sender={"id": "U3"},
        thread_id=ids[0].split(".", 2)[2], msg_type=MessageType.THREAD_REPLY, mentions=mentions,
    )  # fmt: skip
    office.arrive(event)
    office.work()
    state = office.store.get(ids[0])
    assert state is not None
    assert (state.twin_of, state.card_ts is not None) == (None, True)


@pytest.mark.parametrize(("kind", "left"), [(MessageType.DELETE, None), (MessageType.EDIT, "own")])
def test_a_twin_that_is_deleted_or_asks_something_else_leaves_the_card(
    office: Office, kind: MessageType, left: str | None
) -> None:
    """A deleted one is closed; an edited one is investigated."""
    ids = with_twins(office)
    ts = ids[0].split(".", 2)[2]
    office.queue(an_event("Why is staging slow today?", ts, chat_id="C2", sender={"id": "U3"}, msg_type=kind))
    office.work()
    state = office.store.get(ids[0])
    assert ("own" if state is not None and state.twin_of is None else None) == left
    assert [twin.thread_id for twin in office.state.shown_twins] == ids[1:]


def test_an_alarm_makes_a_page_of_the_first_card_and_rings_there_only(office: Office) -> None:
    """Whoever is paged is paged once for all of them."""
    office.asked(DOWN)
    office.store.amend(office.state.thread_id, lambda now: now.evolve(severity=Severity.ACT))
    twin = ask_again(office, 1, DOWN)
    office.clock.advance(1)
    office.pages.tick()
    state = office.store.get(twin)
    assert state is not None
    assert (state.twin_of, office.state.severity) == (office.state.thread_id, Severity.PAGE)
    assert office.page_chat.together == [1]


@each_row("minutes, rings", [(9, False), (11, True)])
def test_an_acknowledged_page_rings_again_for_the_same_alarm_once_it_would_have_rung_anyway(
    tmp_path: Path, minutes: int, rings: bool
) -> None:
    """Whoever took it has had the time that a ring gives; before that they are left alone."""
    office = Office(tmp_path, pages={"again_after": "10m", "then": "U0BOSS"}).asked(DOWN)
    office.clock.advance(600)
    office.pages.tick()
    office.decisions.acknowledge(office.state.thread_id, by=BEN)
    office.clock.advance(60 * minutes)
    ask_again(office, 1, DOWN)
    before = len(office.page_chat.said)
    office.pages.tick()
    assert len(office.page_chat.said) - before == rings
    assert (office.state.paging.acknowledged_by, len(office.state.twins)) == (None if rings else BEN, 1)
    office.clock.advance(1_200)
    office.pages.tick()
    assert ("U0BOSS" in [to for to, _ in office.page_chat.said]) is rings
    office.decisions.acknowledge(office.state.thread_id, by=BEN)
    assert office.state.paging.acknowledged_by == BEN


def test_a_twin_whose_chat_takes_no_reply_gets_a_card_of_its_own(office: Office) -> None:
    """The others are answered; who clicked is told, and its card says what Slack said once somebody tries there."""
    ids = with_twins(office)
    office.messenger.refuse_in["C3"] = ProviderError("Slack could not post the reply: not_in_channel")
    said = office.decisions.approve(too(office), by=BEN)
    assert said.startswith("Posted here and in 2 of 3 other threads. Slack did not take 1 yet;")
    office.work()
    state = office.store.get(ids[1])
    assert state is not None
    assert (state.twin_of, state.post_intent, state.status) == (None, None, ThreadStatus.PENDING_USER)
    assert {post.chat_id for post in office.messenger.posts} == {"C1", "C2", "C4"}
    with pytest.raises(ProviderError, match="not_in_channel"):
        office.decisions.approve(office.click(), by=BEN)


def test_an_earlier_answer_says_which_cited_lines_changed_since(office: Office) -> None:
    """It is found by its question."""
    office.asked(QUESTION)
    office.decisions.approve(office.click(), by=BEN)
    ref = office.ended.investigator_return.evidence_refs[0].ref  # type: ignore[union-attr]
    unchanged = office.store.get(ask_again(office, 1))
    office.changed_refs.add(ref)
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    changed = office.store.get(ask_again(office, 2))
    assert unchanged is not None and changed is not None  # noqa: PT018
    assert unchanged.earlier_reply is not None and changed.earlier_reply is not None  # noqa: PT018
    assert (unchanged.earlier_reply.changed, changed.earlier_reply.changed) == ((), (ref,))
    said = json.dumps([block.to_dict() for block in card_blocks(changed, CardFacts(link_to=lambda _: None))])
    assert "the lines it cites are not there any more" in said
    assert ref in said


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.full)])
def test_a_crash_at_any_point_posts_in_each_thread_once(tmp_path: Path, every: int) -> None:
    """Whatever was approved is posted everywhere, once, with one line in the log each."""

    def story(office: Office) -> None:
        office.asked(QUESTION)
        ask_again(office)
        office.service.cards.catch_up()
        office.decisions.approve(too(office), by=BEN)

    numbers = iter(range(10_000))

    def build(faults: Faults) -> Office:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return Office(folder, faults=faults)

    for point, office in crash_everywhere(build, story, every=every):
        office.faults.crash_at = None
        office.restart()
        office.work()
        places = [(post.chat_id, post.thread_ts) for post in office.messenger.posts]
        lines = [record["thread_id"] for record in office.log.records()]
        assert len(places) == len(set(places)), point
        assert len(lines) == len(set(lines)) == len(places), point


def other_question(office: Office, text: str = "After what time does billing try a payment again?") -> ThreadState:
    """Let somebody ask the same in other words, which gets a card of its own; returns its state."""
    state = office.store.get(ask_again(office, 5, text, chat="C5"))
    assert state is not None
    return state


def joined(office: Office) -> ThreadState:
    """Join a second question to the first by hand; returns the first."""
    office.asked(QUESTION)
    second = other_question(office)
    office.decisions.join(click_of(second), office.state.thread_id, by=BEN)
    office.service.cards.catch_up()
    return office.state


def test_what_asks_the_same_in_other_words_is_joined_by_hand_and_answered_by_one_click(office: Office) -> None:
    """Its own card goes; the other's shows its words and who joined it; each thread has its post and its line."""
    first = joined(office)
    twin = first.shown_twins[0]
    assert (twin.chat_id, twin.joined_by) == ("C5", BEN)
    said = json.dumps([block.to_dict() for block in card_blocks(first, CardFacts(link_to=lambda _: None))])
    assert "After what time does billing" in said
    assert f"<@{BEN}> says that it asks the same" in said
    assert office.messenger.removed == [("C0OPS", office.messenger.cards[1].ts)]
    office.decisions.approve(click_of(office.state, with_twins=True), by=BEN)
    assert sorted(post.chat_id for post in office.messenger.posts) == ["C1", "C5"]
    assert len(list(office.log.records())) == 2


def test_the_twins_of_a_joined_thread_are_placed_anew(office: Office) -> None:
    """Those that ask in its words follow it."""
    office.asked(QUESTION)
    second = other_question(office)
    third = ask_again(office, 9, second.question, chat="C9")
    second = office.store.get(second.thread_id) or second
    assert [twin.thread_id for twin in second.shown_twins] == [third]
    office.decisions.join(click_of(second), office.state.thread_id, by=BEN)
    office.work()
    assert [twin.chat_id for twin in office.state.shown_twins] == ["C5", "C9"]


def test_a_draft_that_a_human_wrote_is_not_given_up_for_another(office: Office) -> None:
    """Whoever joins is told to do it from the other card."""
    office.asked(QUESTION)
    second = other_question(office)
    click = office.decisions.edit(click_of(second), "My own words.", by=BEN)
    with pytest.raises(InputError, match="A human wrote this draft"):
        office.decisions.join(click, office.state.thread_id, by=BEN)
    assert office.state.twins == ()


def test_a_thread_is_joined_to_an_open_one_only(office: Office) -> None:
    """Offered are the others, the newest first; whoever chose one that ended meanwhile chooses again."""
    office.asked(QUESTION)
    second = other_question(office)
    assert [one.thread_id for one, _ in office.decisions.joinable(click_of(second))] == [office.state.thread_id]
    first_id = office.state.thread_id
    office.decisions.dismiss(click_of(office.state), by=BEN, reason=None)
    with pytest.raises(Conflict, match="Choose again"):
        office.decisions.join(click_of(second), first_id, by=BEN)
    assert office.decisions.joinable(click_of(second)) == []


@each_row("fingerprint, is_found", [("f1", True), ("f2", False)])
def test_an_alert_is_shown_what_was_answered_to_the_same_one(tmp_path: Path, fingerprint: str, is_found: bool) -> None:
    """Its fingerprint counts, not its words."""
    office = Office(tmp_path)
    at = office.clock.now()
    alert = ThreadAlert(
        tool="grafana", state=AlertState.FIRING, name="lag", fingerprint="f1", first_at=at, last_at=at, changed_at=at
    )
    office.asked("How come the queue lag is 900?")
    office.store.amend(office.state.thread_id, lambda now: now.evolve(alert=alert))
    office.decisions.approve(office.click(), by=BEN)
    again = office.ended.model_copy(
        update={
            "thread_id": "T1.C7.1.2", "question": "How come the queue lag is 3?", "version": 0,
            "alert": alert.model_copy(update={"fingerprint": fingerprint}),
        }
    )  # fmt: skip
    office.twins.open_thread(again, may_join=True)
    kept = office.store.get("T1.C7.1.2")
    assert kept is not None
    assert (kept.earlier_reply is not None) is is_found
