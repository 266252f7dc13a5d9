"""Mentions that are instructions: whose question is worked on, who is told what, and what is never done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.casework.approvers import Approvers
from bot.casework.mentions import DECIDE, GONE, GUESTS, HOW, NOT_YOURS, OWN, WHAT, WORDLESS, Mentions
from bot.domain.events import Sender
from bot.domain.jobs import JobKind, MentionInstruction
from bot.domain.threads import Resolution
from bot.errors import ProviderError
from bot.intake.classifier.classification import classify
from bot.ports import ChatMessage, Person
from tests.builders import QUESTION_TS, THREAD_ID, an_event
from tests.casework.office import ANN, BEN, RULES, SORTER, Office
from tests.tables import each_row

LATER = "1795165290.000100"


class Desk:
    """An office whose messages pass by Mentions first; BEN is the approver."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.office = office = Office(folder, **settings)
        office.workspace.groups["C0OPS"] = frozenset({BEN})
        self.told: list[tuple[str, str, str, str | None]] = []
        self.refuse: ProviderError | None = None
        self.mentions = Mentions(
            service=office.service,
            decisions=office.decisions,
            approvers=Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=office.workspace),
            bot_user_id="U0BOT",
            tell=self._tell,
            rules=RULES,
            orchestrator=office.orchestrator,
        )

    def _tell(self, channel: str, user: str, text: str, thread_ts: str | None) -> None:
        if self.refuse:
            raise self.refuse
        self.told.append((channel, user, text, thread_ts))

    def root(self, text: str, *, by: str = ANN, is_bot: bool = False) -> None:
        self.office.workspace.say(
            "C1", QUESTION_TS, ChatMessage(message_id=QUESTION_TS, sender_id=by, text=text, is_bot=is_bot)
        )

    def mention(self, words: str, *, by: str = BEN, at: str = LATER, **changes: Any) -> None:
        """Say something to the bot in the thread of the question, as the queue hands it over."""
        event = an_event(
            content=f"<@U0BOT> {words}", message_id=at, sender=Sender(id=by), mentions=("U0BOT",),
            **{"thread_id": QUESTION_TS, "msg_type": "thread_reply", **changes},
        )  # fmt: skip
        work = SORTER.sort(event, classify(event, RULES, inflight=False))
        if isinstance(work, MentionInstruction):
            self.mentions.follow_instruction(work)
        else:
            self.office.do_work(work)

    @property
    def words(self) -> list[str]:
        return [text for _, _, text, _ in self.told]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@each_row("words", ["look into this", "", "👀", "any idea?"])
def test_the_threads_question_is_worked_on_in_the_name_of_who_asked_it(tmp_path: Path, words: str) -> None:
    """The mention is on record as a follow-up, so that neither it nor its redelivery casts a doubt on the draft."""
    desk = Desk(tmp_path)
    desk.root("why do we retry five times?")
    desk.mention(words)
    state = desk.office.store.get(THREAD_ID)
    assert state is not None
    assert (state.question, state.original_sender_id) == ("why do we retry five times?", ANN)
    assert state.original_message_id == QUESTION_TS
    assert [followup.message_id for followup in state.followups] == [LATER]
    assert state.stale_reasons == ()
    desk.mention(words)
    again = desk.office.store.get(THREAD_ID)
    assert again is not None
    assert len(again.rounds) == 1
    assert desk.told == []


def test_where_the_root_asks_nothing_the_last_question_before_the_mention_counts(desk: Desk) -> None:
    """And what was asked after it does not."""
    desk.root("deploys of this week")
    for ts, text in (("1795165210.000100", "how long do they take?"), ("1795165299.000100", "is it Friday?")):
        desk.office.workspace.say("C1", QUESTION_TS, ChatMessage(message_id=ts, sender_id="U7", text=text))
    desk.mention("look into this")
    state = desk.office.store.get(THREAD_ID)
    assert state is not None
    assert (state.question, state.original_sender_id) == ("how long do they take?", "U7")


def test_a_closed_question_is_taken_up_again_with_its_own_words(desk: Desk) -> None:
    """A second mention after the decision; the same mention again opens nothing."""
    desk.root("why do we retry five times?")
    desk.mention("look into this")
    first = desk.office.store.get(THREAD_ID)
    assert first is not None
    desk.office.decisions.dismiss(desk.office.click(), by=BEN, reason=None)
    desk.mention("look into this")
    assert desk.office.store.get(THREAD_ID) is None
    desk.mention("try again", at="1795165295.000100")
    state = desk.office.store.get(THREAD_ID)
    assert state is not None
    assert state.question == "why do we retry five times?"
    old, new = desk.office.messenger.cards
    assert old.shown[-1].resolution is Resolution.DISMISSED
    assert state.card_ts == new.ts


@pytest.mark.parametrize(
    ("root", "by", "says"),
    [(None, ANN, GONE), ("why?", "U0BOT", OWN), ("  ", ANN, WORDLESS), ("why five?", "U0GUEST", GUESTS)],
)
def test_what_cannot_be_looked_into_says_why(desk: Desk, root: str | None, by: str, says: str) -> None:
    """To the one who pointed to it, in the thread; no card is made."""
    desk.office.workspace.people["U0GUEST"] = Person(user_id="U0GUEST", name="guest", is_guest=True)
    if root is not None:
        desk.root(root, by=by)
    desk.mention("look into this")
    assert desk.told == [("C1", BEN, says, QUESTION_TS)]
    assert desk.office.store.threads() == []


@pytest.mark.parametrize(
    ("words", "says"),
    [("status", "/triage status"), ("pause", "/triage pause"), ("lgtm", DECIDE), ("", HOW), ("look into this", WHAT)],
)
def test_outside_a_thread_the_one_who_wrote_is_told_how(desk: Desk, words: str, says: str) -> None:
    """Whoever it is; a guest is told nothing, as none of their messages is heard."""
    desk.office.workspace.people["U0GUEST"] = Person(user_id="U0GUEST", name="guest", is_guest=True)
    for by in (ANN, "U0GUEST"):
        desk.mention(words, by=by, thread_id=None, msg_type="text")
    [(_, user, text, thread)] = desk.told
    assert (user, thread) == (ANN, None)
    assert says in text
    assert desk.office.store.threads() == []


@each_row("words", ["look into this", ""])
def test_outside_a_thread_the_message_above_is_meant(tmp_path: Path, words: str) -> None:
    """It is worked on in its own thread, by a job of that thread."""
    desk = Desk(tmp_path)
    desk.root("why do we retry five times?")
    desk.mention(words, thread_id=None, msg_type="text")
    [job] = desk.office.jobs.waiting.values()
    assert job.key == THREAD_ID
    assert isinstance(job.work, MentionInstruction)
    desk.mentions.follow_instruction(job.work)
    state = desk.office.store.get(THREAD_ID)
    assert state is not None
    assert (state.question, state.original_sender_id) == ("why do we retry five times?", ANN)


def test_thanks_open_nothing_and_repeat_nothing(desk: Desk) -> None:
    """Neither where no thread is open, nor under a waiting draft."""
    desk.mention("thanks!")
    assert desk.office.store.threads() == []
    desk.office.asked()
    desk.office.clock.advance(300)
    desk.mention("thanks!", at="1795165999.000100")
    state = desk.office.store.get(THREAD_ID)
    assert state is not None
    assert len(state.rounds) == 1
    assert desk.told == []


def test_a_word_under_a_card_is_context_for_approvers_only(desk: Desk) -> None:
    """Written down once however often the job is done; a thanks under it is none."""
    desk.office.asked()
    state = desk.office.store.get(THREAD_ID)
    assert state is not None
    under = {"chat_id": "C0OPS", "thread_id": state.card_ts}
    desk.mention("also check the retry path", by=ANN, **under)
    assert desk.words == [NOT_YOURS]
    for _ in range(2):
        desk.mention("also check the retry path", **under)
    desk.mention("thanks", **under)
    noted = desk.office.store.get(THREAD_ID)
    assert noted is not None
    assert [(note.by, note.text) for note in noted.human_context] == [(BEN, "also check the retry path")]
    assert noted.status == "investigating"
    assert sum(job.kind is JobKind.USER for job in desk.office.jobs.waiting.values()) == 1


def test_an_approver_who_writes_under_the_card_of_a_page_has_it(desk: Desk) -> None:
    """Whoever may not decide does not silence it."""
    desk.office.asked("prod is down!!")
    card = desk.office.state.card_ts
    desk.mention("it is the database", by=ANN, chat_id="C0OPS", thread_id=card)
    assert desk.office.state.paging.acknowledged_by is None
    desk.mention("it is the database", chat_id="C0OPS", thread_id=card)
    assert desk.office.state.paging.acknowledged_by == BEN
