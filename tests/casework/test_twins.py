"""The same question or alert in several threads: one investigation, one card, a post in each chosen thread."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from blocks.cards.draft_actions import click_of
from blocks.cards.draft_card import CardFacts, card_blocks
from bot.casework.decisions import DraftClick
from bot.domain.events import MessageType
from bot.domain.severity import Severity
from bot.domain.threads import Resolution, ThreadState, ThreadStatus
from bot.errors import Conflict, ProviderError
from tests.builders import QUESTION_TS, an_event
from tests.casework.office import BEN, Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row

QUESTION = "How often do we retry a failed charge?"
DOWN = "prod is down: checkout returns 500 since 14:05"
AGAIN = ("Hi, how frequently do we retry failed charges?", "how often do we retry failed charges", QUESTION)


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
    office.twins.tick()
    office.work()
    state = office.store.get(late)
    assert state is not None
    assert (state.twin_of, state.card_ts is not None, state.earlier_reply is not None) == (None, True, True)


def test_approval_of_the_first_alone_leaves_one_card_for_all_others(office: Office) -> None:
    """The oldest of the twins is investigated, the others are its twins."""
    ids = with_twins(office)
    office.decisions.approve(office.click(), by=BEN)
    office.twins.tick()
    office.work()
    first = office.store.get(ids[0])
    assert first is not None
    assert first.twin_of is None
    assert [twin.thread_id for twin in first.shown_twins] == ids[1:]
    assert len(office.messenger.cards) == 2


def test_a_twin_is_taken_out_by_one_click_and_investigated(office: Office) -> None:
    """It has its own card, and the first card does not show it."""
    ids = with_twins(office)
    office.decisions.take_out(DraftClick(thread_id=ids[0], version=0, draft_hash=""), by=BEN)
    office.work()
    state = office.store.get(ids[0])
    assert state is not None
    assert (state.twin_of, state.draft_pending is not None) == (None, True)
    assert [twin.thread_id for twin in office.state.shown_twins] == ids[1:]
    with pytest.raises(Conflict):
        office.decisions.take_out(DraftClick(thread_id=ids[0], version=0, draft_hash=""), by=BEN)


def test_a_twin_is_taken_out_also_after_it_was_answered(office: Office) -> None:
    """The reply stands; a new investigation knows what was wrong, and its draft is not taken for posted."""
    ids = with_twins(office)
    office.decisions.approve(too(office), by=BEN)
    office.decisions.take_out(DraftClick(thread_id=ids[1], version=0, draft_hash=""), by=BEN)
    office.work()
    state = office.store.get(ids[1])
    assert state is not None
    assert (state.draft_pending is not None, len(state.human_context), len(office.messenger.posts)) == (True, 1, 4)


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


def test_a_page_stays_acknowledged_where_pages_never_ring_again(tmp_path: Path) -> None:
    """`again_after: null` says that one call is enough."""
    office = Office(tmp_path, pages={"again_after": None}).asked(DOWN)
    office.decisions.acknowledge(office.state.thread_id, by=BEN)
    office.clock.advance(86_400)
    ask_again(office, 1, DOWN)
    assert office.state.paging.acknowledged_by == BEN


def test_a_twin_whose_chat_takes_no_reply_gets_a_card_of_its_own(office: Office) -> None:
    """The others are answered; who clicked is told, and its card says what Slack said once somebody tries there."""
    ids = with_twins(office)
    office.messenger.refuse_in["C3"] = ProviderError("Slack could not post the reply: not_in_channel")
    said = office.decisions.approve(too(office), by=BEN)
    assert said.startswith("Posted here and in 2 of 3 other threads. Slack did not take 1 yet;")
    office.twins.tick()
    office.work()
    state = office.store.get(ids[1])
    assert state is not None
    assert (state.twin_of, state.post_intent, state.status) == (None, None, ThreadStatus.PENDING_USER)
    assert {post.chat_id for post in office.messenger.posts} == {"C1", "C2", "C4"}
    with pytest.raises(ProviderError, match="not_in_channel"):
        office.decisions.approve(office.click(), by=BEN)


def test_every_asker_sees_that_their_question_is_looked_into_and_answered(office: Office) -> None:
    """Each message has the reaction of its own thread; one that is taken out keeps its own."""
    ids = with_twins(office)
    stamps = [QUESTION_TS, *(one.split(".", 2)[2] for one in ids)]
    assert [office.asker_chat.standing[ts] for ts in stamps] == [{"eyes"}] * 4
    office.decisions.take_out(DraftClick(thread_id=ids[0], version=0, draft_hash=""), by=BEN)
    office.decisions.approve(click_of(office.state, with_twins=True), by=BEN)
    office.service.asker.tick()
    answered = {"white_check_mark"}
    assert [office.asker_chat.standing[ts] for ts in stamps] == [answered, {"eyes"}, answered, answered]


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


def test_a_tick_without_twins_reads_no_thread(tmp_path: Path) -> None:
    """It looks through all of them once a minute, for twins it did not see come."""
    office = Office(tmp_path).asked(QUESTION)
    looks = 0
    listed = office.store.open_threads

    def counted() -> list[ThreadState]:
        nonlocal looks
        looks += 1
        return listed()

    office.store.open_threads = counted  # type: ignore[method-assign]
    for _ in range(60):
        office.twins.tick()
        office.clock.advance(1)
    assert looks == 1
    office.twins.tick()
    assert looks == 2


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
        office.twins.tick()
        office.work()
        places = [(post.chat_id, post.thread_ts) for post in office.messenger.posts]
        lines = [record["thread_id"] for record in office.log.records()]
        assert len(places) == len(set(places)), point
        assert len(lines) == len(set(lines)) == len(places), point


CAUSES = (
    "[FIRING:{n}] HighErrorRate service=checkout env=prod host=web-{n} value={n}.5 at {t}",
    "[FIRING:{n}] HighErrorRate service=billing env=prod host=web-{n} value={n}.5 at {t}",
    "CRITICAL: disk 9{d}% full on db-prod-{n}",
    "CRITICAL: disk 9{d}% full on db-staging-{n}",
    "{t} ERROR payment gateway timeout after {n} ms, order {n}{n}, trace {u}",
    "ALERT queue lag {n} messages on orders since {t}",
    "ALERT queue lag {n} messages on refunds since {t}",
    "prod is down: checkout-{u8}-x2z4k returns 500 for request {u}",
    "prod is down: checkout-{u8}-x2z4k returns 503 for request {u}",
    "Certificate of api.example.com expires in {n} hours",
)


@pytest.mark.parametrize("each", [4, pytest.param(20, marks=pytest.mark.full)])
@each_row("sender", ["B1", "U0PAGER"])
def test_many_alerts_of_ten_causes_make_at_most_twelve_cards(tmp_path: Path, each: int, sender: str) -> None:
    """Ids, hosts, numbers, times, channels and the order differ; most apps post as a user of their own."""
    office = Office(tmp_path, watcher={"allow_bots": [sender]})
    chance = random.Random(7)
    causes = [cause for cause in CAUSES for _ in range(each)]
    chance.shuffle(causes)
    for number, cause in enumerate(causes, 1):
        text = cause.format(
            n=chance.randrange(1, 900), d=chance.randrange(10), t=f"2026-11-22T14:{chance.randrange(60):02}:11Z",
            u=f"{chance.getrandbits(64):016x}", u8=f"{chance.getrandbits(32) | 1:08x}0",
        )  # fmt: skip
        event = an_event(text, f"{float(QUESTION_TS) + number:.6f}", chat_id=f"C{number % 4 + 1}", mentions=("U0BOT",))
        event = event.model_copy(update={"sender": event.sender.model_copy(update={"id": sender, "type": "bot"})})
        office.arrive(event)
        office.work()
    office.service.cards.catch_up()
    assert 10 <= len(office.messenger.cards) <= 12
    listed = sum(1 + len(card.shown[-1].shown_twins) for card in office.messenger.cards)
    unlisted = [s for s in office.store.open_threads() if s.twin_of is None and s.card_ts is None]
    assert (listed, unlisted) == (10 * each, [])
