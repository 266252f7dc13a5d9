"""Takes a queued event to a draft that waits for a human, by dispatching specialists; it never opens a codebase file.

Each step is saved before the next begins, and each can be repeated: a job that died is claimed again and goes on from
the saved status. The steps allowed are the table in bot/domain/threads.py.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Final

from bot.casework.pause import PauseSwitch
from bot.casework.rounds import Rounds
from bot.casework.thread_service import ThreadService
from bot.casework.twins import Twins
from bot.casework.waiting_drafts import QuestionPages
from bot.domain.alerts import AlertState, Severity, ThreadAlert
from bot.domain.events import Event
from bot.domain.jobs import ContinueThread, FollowUpArrived, MessageDeleted, MessageEdited, QuestionAsked
from bot.domain.paging import Paging
from bot.domain.questions.rubrics import question_type_of, rubric_for
from bot.domain.threads import Followup, Resolution, ThreadState, ThreadStatus
from bot.domain.waits import question_edited, wrote_in_thread
from bot.errors import Unavailable
from bot.intake.classifier.classification import Rules, asks_question
from bot.intake.classifier.classification import is_alarm as speaks_of_alarm
from bot.ports import Person, is_stranger

log = logging.getLogger(__name__)

MAX_FOLLOWUPS = 200
ASKED_MORE: Final = "<@{who}> asked more in the thread"
FOLLOWUP_CHARS = 4_000
"""What is kept of a busy thread: its record is read and written whole, and its every step waits for that."""


class Orchestrator:
    """Works off the jobs of one kind: chat events, and threads to investigate again.

    `lost` names the threads whose records could not be read: their cards may stand already, so they count as begun when
    they were asked. `pages` gets each message with the id of the open thread it came into. While `pausing` is on a
    message gets its card and no more; the rest waits in the queue. A thread of which `twins` says that the same is
    asked in another one gets neither card nor investigation.
    """

    def __init__(
        self,
        service: ThreadService,
        rounds: Rounds,
        *,
        bot_user_id: str,
        lost: Collection[str],
        rules: Rules,
        pausing: PauseSwitch,
        pages: QuestionPages,
        twins: Twins,
    ) -> None:
        self._service, self._pausing, self._rules = service, pausing, rules
        self._pages, self._twins = pages, twins
        self._rounds = rounds
        self._bot_user_id, self._lost = bot_user_id, lost

    def take_question(self, asked: QuestionAsked) -> None:
        """Open a thread for a question and work on it; in an open thread it is a follow-up."""
        state = self._open_thread(asked.key)
        if state is not None:
            self._take_word(state, asked)
        elif self._begin_thread(asked):
            self._work_on(asked.key)

    def take_follow_up(self, message: FollowUpArrived) -> None:
        """Record a message that was written in an open thread; where that has closed it is forgotten."""
        state = self._open_thread(message.key)
        if state is not None:
            self._take_word(state, message)

    def continue_thread(self, work: ContinueThread) -> None:
        """Carry a thread as far as it goes without a human; harmless when there is nothing to do."""
        self._work_on(work.thread_id)

    def open_unworked(self, asked: QuestionAsked) -> None:
        """Open the thread of a question as `take_question` does, if it is not open yet, and investigate nothing."""
        if self._open_thread(asked.key) is None:
            self._begin_thread(asked)

    def note_follow_up(self, message: FollowUpArrived) -> None:
        """Let pages hear at once of a message in an open thread: it may say that somebody deals with it."""
        state = self._service.store.get(message.key)
        if state is not None and state.is_open:
            self._pages.hear(message.event, state.thread_id)

    def _open_thread(self, thread_id: str) -> ThreadState | None:
        """Return the thread if it is open; one that is closed is finished and makes room for the next."""
        state = self._service.store.get(thread_id)
        if state is not None and not state.is_open:
            self._service.cards.finish(thread_id)
            return None
        return state

    def _take_word(self, state: ThreadState, message: FollowUpArrived) -> None:
        if message.event.message_id != state.original_message_id:
            self._follow_up(state, message)
        else:
            self._work_on(state.thread_id)

    def _begin_thread(self, work: QuestionAsked) -> bool:
        """Put the state of a new thread on disk; False where the message opens none."""
        thread_id, event = work.key, work.event
        asked = work.question or event
        person = self._asker(asked)
        if self._is_stranger(person, event):
            return False
        closed = self._service.store.last_closed(thread_id)
        if closed is not None and event.message_id in closed.message_ids and not _fires_again(closed, event):
            return False
        kind, alert = question_type_of(asked.content), _alert_of(asked)
        is_page = alert is None and (work.is_alarm or self._speaks_of_alarm(asked.content, event.content))
        is_its_own = asked is event or self._speaks_of_alarm(asked.content)
        state = ThreadState(
            thread_id=thread_id,
            team_id=event.team_id,
            chat_id=event.chat_id,
            chat_name=event.chat_name,
            original_message_id=asked.message_id,
            opened_by_message_id=None if asked is event else event.message_id,
            original_sender_id=asked.sender.id,
            original_sender_name=person.name,
            from_bot=asked.sender.type == "bot",
            question=asked.content,
            alert=alert,
            images=asked.images,
            codebases=work.codebases,
            permalink=self._service.workspace.permalink(asked.chat_id, asked.message_id),
            question_type=kind,
            severity=alert.urgency if alert else Severity.PAGE if is_page else Severity.ACT,
            mentions_bot=self._bot_user_id in asked.mentions,
            paging=Paging() if is_its_own or not is_page else _raised_by(event),
            rubric=rubric_for(kind, also=self._service.settings.rubrics.get(kind, ())).render(),
            draft_version=closed.draft_version + 2 if closed else 0,  # no old button fits, not even of a run
            card_channel=self._service.direct.card_channel(event),
            started_at=event.create_time if thread_id in self._lost else self._service.clock.now(),
            last_event_at=event.create_time,
        )
        may_join = alert is None and asked is event and event.thread_id is None and closed is None
        self._twins.open_thread(state if asked is event else _with_followup(state, event), may_join=may_join)
        return True

    def _speaks_of_alarm(self, *said: str) -> bool:
        """Whether any of these words page."""
        return any(speaks_of_alarm(words, self._rules) for words in said)

    def _raised(self, state: ThreadState, event: Event) -> ThreadState:
        """Return the thread as a page from now on where a later message raises the alarm; it never falls."""
        is_alarm = event.alert.urgency is Severity.PAGE if event.alert else self._speaks_of_alarm(event.content)
        if state.severity is Severity.PAGE or not is_alarm:
            return state
        is_its_own = event.message_id == state.original_message_id
        said = Paging() if is_its_own else _raised_by(event)
        paging = state.paging.raised(self._service.clock.now()).evolve(said=said.said, said_by=said.said_by)
        return state.evolve(severity=Severity.PAGE, paging=paging)

    def _is_stranger(self, person: Person, event: Event) -> bool:
        """Whether what somebody writes starts no work: Slack's event does not say who is a guest."""
        if self._service.settings.watcher.allow_external or not is_stranger(person):
            return False
        self._service.direct.turn_away(event)
        return True

    def _asker(self, event: Event) -> Person:
        """Return who asked; a listed alert bot has a bot id, which the chat knows no user for."""
        if event.sender.type == "bot":
            return Person(user_id=event.sender.id, name=event.sender.id, is_bot=True)
        return self._service.workspace.person(event.sender.id)

    def _work_on(self, thread_id: str) -> None:
        """Carry the thread as far as it goes without a human; harmless when there is nothing to do."""
        if self._twins.hold(thread_id):
            return
        state = self._service.store.get(thread_id)
        if state is not None and state.is_open and state.card_ts is None:
            self._service.direct.begin(state)
            self._service.cards.show_card(thread_id)  # nothing is looked into unseen
        if not self._waits(thread_id):
            self._rounds.run(thread_id)
        self._service.cards.show_card(thread_id)

    def _waits(self, thread_id: str) -> bool:
        """Whether the thread's work may not begin now; then a job for it waits in the queue."""
        if not self._pausing.is_paused:
            return False
        state = self._service.store.get(thread_id)
        if state is not None and state.is_open and state.status is not ThreadStatus.PENDING_USER:
            self._service.queue(thread_id)
        return True

    def _follow_up(self, state: ThreadState, message: FollowUpArrived) -> None:
        """Record a message that came into an open thread; a question has a waiting draft made anew.

        The work is queued behind what else was said meanwhile, so that one run knows all of it. An ack says nothing. A
        guest is not heard, but whoever approves is told that they wrote (bot/casework/posting/freshness.py).

        Raises:
            Unavailable: it asks something while the reply is being posted; it is a new question once that stands.
        """
        event, is_question = message.event, self._asks(message)
        self._pages.hear(event, state.thread_id)  # once more: a crash may have come before `note_follow_up`
        if message.is_ack or self._is_stranger(self._asker(event), event):
            return
        if any(known.message_id == event.message_id for known in state.followups):
            self._work_on(state.thread_id)
            return
        if event.sender.id == state.original_sender_id or is_question:
            self._twins.take_out(state.thread_id)  # whoever goes on in a twin's thread wants an answer there

        def record(now: ThreadState) -> ThreadState | None:
            if is_question and (now.post_intent or not now.is_open):
                return None
            noted = _with_followup(self._raised(now, event), event, waits=is_question and _is_in_run(now))
            if is_question and now.status in (ThreadStatus.INVESTIGATING, ThreadStatus.BOUNCED):
                return noted  # the next round knows it
            doubted = noted.with_doubts([wrote_in_thread(event.sender.id, event.create_time)])
            if is_question and now.status is ThreadStatus.PENDING_USER:
                return doubted.reopened(at=self._service.clock.now(), why=ASKED_MORE.format(who=event.sender.id))
            return doubted

        recorded = self._service.store.amend(state.thread_id, record)
        if recorded is None:
            raise Unavailable("The reply is being posted; the question is taken up after that.", retry_after_s=1)
        if recorded.is_at_work:
            self._service.queue(state.thread_id)
        self._service.cards.show_card(state.thread_id)

    def _asks(self, message: FollowUpArrived) -> bool:
        """Whether a message in an open thread wants an answer: it mentions the bot, or is a question by the rules."""
        if not isinstance(message, QuestionAsked):
            return False
        return self._bot_user_id in message.event.mentions or asks_question(message.event.content, self._rules)

    def note_edit(self, edit: MessageEdited) -> None:
        """Mark the draft stale when the question's words changed; the new words are what a next round answers."""
        state, event = self._open_thread(edit.key), edit.event
        if state is None or event.message_id != state.original_message_id:
            return
        at = self._service.clock.now()

        def edited(now: ThreadState) -> ThreadState | None:
            raised = self._raised(now, event)
            if event.content == now.question:  # the run under way has read it already
                return raised if raised is not now else None
            changed = raised.evolve(question=event.content, last_event_at=at)
            return changed.with_doubts([question_edited(event.content)])

        now = self._service.store.amend(state.thread_id, edited)
        if now is None:
            return
        self._twins.sort_out(state, now)
        self._work_on(state.thread_id)

    def note_deletion(self, deletion: MessageDeleted) -> None:
        """Close the thread when its question is gone; forget a follow-up when only that is gone."""
        state, event = self._open_thread(deletion.key), deletion.event
        if state is None:
            return
        if event.message_id == state.original_message_id:
            self._service.store.amend(state.thread_id, self._withdrawn)
            self._twins.unlist(state)
            self._service.cards.finish(state.thread_id)
            return
        self._service.store.amend(
            state.thread_id,
            lambda now: now.evolve(followups=tuple(f for f in now.followups if f.message_id != event.message_id)),
        )

    def _withdrawn(self, now: ThreadState) -> ThreadState | None:
        """Return the thread closed, but not from under a reply that is being posted: that one closes it."""
        if not now.is_open or now.post_intent:
            return None
        return now.close(Resolution.WITHDRAWN, at=self._service.clock.now(), why="the question was deleted")


def _alert_of(event: Event) -> ThreadAlert | None:
    """Return the alert of a thread that a message opens; None where a person wrote it."""
    return ThreadAlert.of_first(event.alert, event.message_id, event.create_time) if event.alert else None


def _fires_again(closed: ThreadState, event: Event) -> bool:
    """Whether the message of a thread that closed says that its alert fires, which had not been so any more."""
    is_firing = event.alert is not None and event.alert.state is AlertState.FIRING
    return is_firing and closed.alert is not None and not closed.alert.is_firing


def _raised_by(event: Event) -> Paging:
    """Return the words by which a message makes the page of another one's question."""
    return Paging(said=event.content[:FOLLOWUP_CHARS], said_by=event.sender.id)


def _with_followup(state: ThreadState, event: Event, *, waits: bool = False) -> ThreadState:
    followup = Followup(
        message_id=event.message_id,
        sender_id=event.sender.id,
        text=event.content[:FOLLOWUP_CHARS],
        at=event.create_time,
        waits=waits,
    )
    followups = (*state.followups, followup)[-MAX_FOLLOWUPS:]
    return state.evolve(followups=followups, last_event_at=event.create_time)


def _is_in_run(state: ThreadState) -> bool:
    """Whether a draft is being made that knows nothing of what is said now."""
    return state.status in (ThreadStatus.ESCALATED, ThreadStatus.AWAITING_VALIDATION)
