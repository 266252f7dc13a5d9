"""Replies without a human: armed by a person, sent if every condition holds, and taken back by a click.

The conditions of being armed are checked every minute (autonomy.json; bot/domain/questions/autonomy.py). Such a reply
is posted as an approved one is (replies.py), with one difference: if Slack did not confirm it and it does not stand in
the thread afterwards, it is not posted again but waits for a human. A record in auto_replies/ is written before the
post, so that each gets its audit card after any crash.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from bot.casework.posting.freshness import StillStands, check_outbound, find_changes
from bot.casework.posting.replies import Replies
from bot.casework.reports.autonomy_metrics import AutonomyCase, parse_arming, read_arming, read_case
from bot.casework.reports.journal_history import PastThreads
from bot.casework.thread_service import ThreadService
from bot.domain.hours import ActiveHours
from bot.domain.questions.autonomy import LOOK, armed_condition, judge_draft, looked_at, turned, why_not
from bot.domain.questions.autonomy_record import (
    Arming,
    AutoJudgement,
    AutonomyMode,
    AutoReply,
    Condition,
    ConditionCode,
)
from bot.domain.threads import PendingReason, Resolution, ThreadState, ThreadStatus, reply_id_of
from bot.errors import Conflict, ProviderError, StoreError, TriageError, Unavailable
from bot.ports import AuditChat, Store
from bot.ports.collections import Collection, SingleDocument
from bot.ports.system import Replicas

log = logging.getLogger(__name__)

KEPT_FOR: Final = timedelta(weeks=8)
"""How long a reply can be taken back by its button; the record counts for four weeks."""

REFUSED_FOR: Final = timedelta(hours=1)
"""How long to wait before a post is tried again that Slack refused for good, as in an archived channel."""

TURNED: Final[Mapping[AutonomyMode, str]] = {
    AutonomyMode.OFF: "Automatic replies and their shadow marks are off. Every draft waits for an approver.",
    AutonomyMode.SHADOW: "Automatic replies are off. Every draft waits for an approver again.",
    AutonomyMode.ON: "Automatic replies are armed. Each one is shown in the ops channel with Take back. "
    "To stop: /triage metrics --disarm",
}


class ArmingService:
    """The switch of one team; `say` tells the ops channel. Beside another living process nothing is armed."""

    def __init__(
        self,
        service: ThreadService,
        store: Store,
        stored: SingleDocument,
        *,
        hours: ActiveHours | None,
        say: Callable[[str], None],
        replicas: Replicas | None,
    ) -> None:
        self._service, self._store, self._stored = service, store, stored
        self._past, self._lock = PastThreads(store), threading.Lock()
        self.hours, self._say, self._replicas = hours, say, replicas
        self._was_armed = False

    @property
    def mode(self) -> AutonomyMode:
        """What triage.yml allows and nobody switched off."""
        mode = AutonomyMode(self._service.settings.autonomy)
        return AutonomyMode.OFF if mode is AutonomyMode.OFF or read_arming(self._stored).is_off else mode

    def tick(self) -> None:
        """Disarm, and say so, where something does not hold any more; raises StoreError."""
        if self._was_armed or read_arming(self._stored).is_armed:
            self._look()

    def ask(self) -> Condition:
        """Return whether it is armed, looked at anew; raises StoreError."""
        self.tick()
        return armed_condition(read_arming(self._stored))

    def turn(self, to: AutonomyMode, *, by: str) -> str:
        """Turn the switch within what triage.yml allows; returns what to say.

        Raises:
            InputError: it is to be armed, and a condition does not hold; all that do not are named.
        """
        case = self.case()
        with self._lock:
            self._stored.change(lambda raw: _written(raw, turned(parse_arming(raw), to, case.missing, case.now, by=by)))
            self._was_armed = to is AutonomyMode.ON
        log.warning("automatic replies: %s", to, extra={"action": "autonomy_turned"})
        return TURNED[to]

    def case(self) -> AutonomyCase:
        """Return the case for or against; raises StoreError."""
        living = [one for one in self._replicas.list() if one.is_alive] if self._replicas else []
        mode, now = AutonomyMode(self._service.settings.autonomy), self._service.clock.now()
        return read_case(self._store, self._past, now, mode, self.hours, others=max(0, len(living) - 1))

    def _look(self) -> None:
        with self._lock:
            case, before = self.case(), read_arming(self._stored)
            if looked_at(before, case.missing, case.now) != before:
                self._stored.change(lambda raw: _written(raw, looked_at(parse_arming(raw), case.missing, case.now)))
            after = read_arming(self._stored)
            was_armed, self._was_armed = self._was_armed, after.is_armed
        if not after.is_armed and (was_armed or after.disarmed_at == case.now):
            why = why_not(after) or ": the record of who armed them is gone"
            self._say(f"Automatic replies are off{why}. Every draft waits for an approver. To look: {LOOK}")


def _written(raw: Mapping[str, Any], standing: Arming) -> Mapping[str, Any]:
    return {**raw, **standing.model_dump(mode="json")}


class AutoReplies:
    """The replies of one team that no human approved."""

    def __init__(
        self,
        service: ThreadService,
        replies: Replies,
        still_stands: StillStands,
        arming: ArmingService,
        sent: Collection[AutoReply],
        chat: AuditChat,
    ) -> None:
        self._service, self._replies, self._still_stands = service, replies, still_stands
        self._arming, self._sent, self._chat = arming, sent, chat
        self._settling, self._waits = threading.Lock(), dict[str, datetime]()

    def consider(self, thread_id: str) -> None:
        """Judge a draft that has just become ready, once, and send it if everything allows that.

        What stands in the way is on record, and the draft waits for an approver as ever.
        """
        state = self._service.store.get(thread_id)
        if self._arming.mode is AutonomyMode.OFF or state is None or not _is_ready(state):
            return
        judgement = self._judge(state)
        try:
            if judgement.missing or judgement.mode is not AutonomyMode.ON or not self._send(state, judgement):
                self._service.store.amend(thread_id, lambda now: now.evolve(auto=judgement) if _is_ready(now) else None)
        except TriageError:
            extra = {"action": "auto_reply_failed", "thread_id": thread_id}
            log.warning("a reply was not sent automatically", extra=extra, exc_info=True)

    def take_back(self, reply_id: str, *, by: str) -> str:
        """Have the reply say that it was withdrawn, and count it as a false positive; returns what happened.

        Raises:
            InputError: it is no longer on file.
            Conflict: somebody took it back before.
            StoreError: the disk refuses; nothing happened.
        """
        at = self._service.clock.now()

        def taken(now: AutoReply) -> AutoReply:
            if now.taken_back_by is not None:
                raise Conflict(f"<@{now.taken_back_by}> has taken it back already. Your click changed nothing.")
            return now.evolve(taken_back_by=by, taken_back_at=at)

        reply = self._sent.change(reply_id, taken)
        log.warning("a reply was taken back", extra={"action": "auto_taken_back", "thread_id": reply.thread_id})
        self._arming.tick()
        if not self._settle(reply_id):
            return "Taken back and counted. Slack did not take the change yet; triage tries again."
        return (
            "Taken back: where the reply stands, it says that it was withdrawn. Please answer the asker in the thread."
        )

    def tick(self) -> None:
        """Show each reply that was sent, and carry out what was taken back; what the chat refuses waits."""
        now = self._service.clock.now()
        for one in self._sent.all():
            if now - one.at > KEPT_FOR:
                self._sent.remove(one.id)
            elif not one.is_settled and self._waits.get(one.id, now) <= now:
                self._settle(one.id)

    def _judge(self, state: ThreadState) -> AutoJudgement:
        now, hours = self._service.clock.now(), self._arming.hours
        found = judge_draft(state, is_working=None if hours is None else hours.contains(now))
        qualifies = all(one.holds for one in found)
        if qualifies and self._arming.mode is AutonomyMode.ON:
            found = (*found, self._armed())
        return AutoJudgement(
            at=now,
            draft_hash=state.draft_hash or "",
            mode=self._arming.mode,
            qualifies=qualifies,
            conditions=found,
        )

    def _armed(self) -> Condition:
        try:
            return self._arming.ask()
        except StoreError as error:
            return Condition(code=ConditionCode.ARMED, holds=False, said=f"the record cannot be read: {error}")

    def _send(self, state: ThreadState, judgement: AutoJudgement) -> bool:
        """Post the draft; False where the question was edited, or something changed that the card then shows.

        How urgent an edit made the question is known when its event is read, which may be later.
        """
        assert state.draft_pending is not None
        messages = self._service.workspace.thread(state.chat_id, state.thread_ts)
        if self._replies.adopt_standing(state, messages):
            return True
        if any(one.edited for one in messages if one.message_id == state.original_message_id):
            return False
        check_outbound(state.draft_pending, self._service.known_secrets)
        if changes := find_changes(self._service, state, self._still_stands, messages):
            self._service.store.amend(state.thread_id, lambda now: now.with_doubts(changes) if _is_ready(now) else None)
            return False
        self._sent.add(reply_id_of(state), _record(state, judgement))
        self._replies.post(state, by=None, auto=judgement)
        self._settle(reply_id_of(state))
        return True

    def _settle(self, reply_id: str) -> bool:
        """Bring the card and the reply in line with the record; False where the chat does not take it now."""
        with self._settling:
            one = self._posted(self._sent.find(reply_id))
            if one is None or one.posted_message_id is None:
                return True
            try:
                is_back = one.taken_back_by is not None
                if is_back and not one.is_withdrawn:
                    self._chat.withdraw(one)
                    one = self._sent.evolve(one.id, is_withdrawn=True)
                if one.shows_taken_back is not is_back:
                    self._service.cards.guard.require()
                    place = self._chat.show(one)
                    shown = {"card_channel": place[0], "card_ts": place[1], "shows_taken_back": is_back}
                    self._sent.evolve(one.id, **shown)
            except ProviderError as error:
                log.warning("an automatic reply is not shown yet", extra={"action": "audit_waits"}, exc_info=True)
                pause = timedelta(seconds=error.retry_after_s or 0) if isinstance(error, Unavailable) else REFUSED_FOR
                self._waits[reply_id] = self._service.clock.now() + pause
                return False
            self._waits.pop(reply_id, None)
        return True

    def _posted(self, one: AutoReply | None) -> AutoReply | None:
        """Return a record with where its reply stands; None where none was sent, and then the record is removed."""
        if one is None or one.posted_message_id is not None:
            return one
        state = self._service.store.latest(one.thread_id)
        if state is None or state.is_open or reply_id_of(state) != one.id:
            return one
        if state.resolution is not Resolution.AUTO:
            self._sent.remove(one.id)
            return None
        return self._sent.evolve(one.id, posted_message_id=state.posted_message_id)


def _is_ready(state: ThreadState) -> bool:
    """Whether a draft waits for an approval, and nobody has judged it for this yet."""
    waits = state.status is ThreadStatus.PENDING_USER and state.pending_reason is PendingReason.APPROVAL
    is_judged = state.auto is not None and state.auto.draft_hash == state.draft_hash
    return waits and state.draft_hash is not None and state.post_intent is None and not is_judged


def _record(state: ThreadState, judgement: AutoJudgement) -> AutoReply:
    return AutoReply(
        id=reply_id_of(state),
        thread_id=state.thread_id,
        chat_id=state.chat_id,
        message_id=state.original_message_id,
        question=state.question,
        reply=state.draft_pending or "",
        permalink=state.permalink,
        at=judgement.at,
    )
