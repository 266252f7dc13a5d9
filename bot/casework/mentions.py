"""Carries out a mention that is an instruction: look at the thread, add to a card; of a command, says where to type it.

A mention with a question of its own goes to the orchestrator. Nothing changes without permission, only the writer sees
the answer, and no reply is posted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.casework.approvers import Approvers
from bot.casework.clicks import DraftClick
from bot.casework.decisions import Decisions
from bot.casework.orchestrator import Orchestrator
from bot.casework.thread_service import ThreadService
from bot.domain.events import Event, thread_key
from bot.domain.jobs import MentionInstruction
from bot.domain.mention_instructions import InstructionKind
from bot.domain.threads import ThreadState
from bot.errors import InputError, ProviderError
from bot.intake.classifier.classification import Rules, asks_question
from bot.ports import ChatMessage, is_stranger

log = logging.getLogger(__name__)

_STOPS: Final = ":;.,!"

Tell = Callable[[str, str, str, str | None], None]
"""Takes `(channel, user, text, thread ts or None)` and tells that user alone."""

HOW: Final = "Ask in your own words, for example: where is the retry limit set? Commands: /triage help"
WHAT: Final = (
    "Look into what? Mention me in the thread of the question, or ask in your own words. Nothing was investigated."
)
GONE: Final = "The message this thread began with is gone, so there is nothing to look into."
OWN: Final = "That message is mine. Use its buttons, or mention me with a question in your own words."
WORDLESS: Final = "The message this thread began with has no words and no picture. Ask in your own words."
GUESTS: Final = (
    "A guest or somebody of another workspace wrote that; triage takes such messages only with "
    "watcher.allow_external: true. Ask in your own words, and it is your question."
)
DECIDE: Final = "Only approvers decide on drafts, with the buttons of the card in the ops channel. Nothing was changed."
NOT_YOURS: Final = "Only approvers may add to a card; nothing was changed. Who they are: /triage approve-list"


@dataclass(frozen=True, kw_only=True, slots=True)
class Mentions:
    """Follows instructions."""

    service: ThreadService
    decisions: Decisions
    approvers: Approvers
    bot_user_id: str
    tell: Tell
    rules: Rules
    orchestrator: Orchestrator

    def follow_instruction(self, mention: MentionInstruction) -> None:
        """Do what a mention asks for; what has words of its own and stands under no card is a question as ever.

        Raises:
            ProviderError: the chat cannot say who wrote, or what stands in the thread; trying again may help.
            StoreError: the disk refuses.
        """
        event, kind = mention.event, mention.instruction.kind
        card = self._card_of(event)
        if card is None and (kind is InstructionKind.QUESTION or self._is_under_way(event, kind)):
            self.orchestrator.take_question(mention)
        elif self._is_ignored(event.sender.id):
            self.service.direct.turn_away(event)
        elif kind is InstructionKind.COMMAND:
            self._say(event, f"A mention changes nothing. Type it as a command: /triage {mention.instruction.command}")
        elif kind is InstructionKind.DECISION:
            self._say(event, DECIDE)
        elif card is not None:
            self._add_to(card, event, kind)
        elif event.thread_id is None:
            self._look_above(mention)
        else:
            self._look_at_thread(mention, event.thread_id)

    def _card_of(self, event: Event) -> ThreadState | None:
        """Return the open thread under whose card a mention was written."""
        may_hold_cards = event.is_direct or event.chat_id == self.service.settings.ops_channel
        if not may_hold_cards or event.thread_id is None:
            return None
        found = self.service.store.where("card_ts", event.thread_id)
        return next((one for one in found if one.is_open and one.card_channel == event.chat_id), None)

    def _is_under_way(self, event: Event, kind: InstructionKind) -> bool:
        """Whether it is a word in a thread that is being worked on: the orchestrator knows what that asks for."""
        state = self.service.store.get(thread_key(event))
        return kind in (InstructionKind.LOOK, InstructionKind.BARE) and state is not None and state.is_open

    def _is_ignored(self, user_id: str) -> bool:
        person = self.service.workspace.person(user_id)
        return is_stranger(person) and not self.service.settings.watcher.allow_external

    def _look_above(self, mention: MentionInstruction) -> None:
        """Have the message above a mention looked at, as if it had been written in its thread: a job of that thread."""
        event = mention.event
        above = self.service.workspace.thread_above(event.chat_id, event.message_id)
        if above is None:
            self._say(event, WHAT if mention.instruction.kind is InstructionKind.LOOK else HOW)
            return
        in_thread = event.model_copy(update={"thread_id": above})
        self.service.jobs.put(mention.model_copy(update={"event": in_thread}))

    def _look_at_thread(self, mention: MentionInstruction, thread_ts: str) -> None:
        """Have the thread's question worked on, in the name of who asked it, with what was said since as context."""
        event = mention.event
        said = self.service.workspace.thread(event.chat_id, thread_ts)
        asked = self._question_of(said, thread_ts, event)
        if asked is None:
            self._say(event, GONE)
        elif asked.sender_id == self.bot_user_id:
            self._say(event, OWN)
        elif not asked.text.strip() and not asked.images:
            self._say(event, WORDLESS)
        elif not asked.is_bot and self._is_ignored(asked.sender_id):
            self._say(event, GUESTS)
        else:
            self.orchestrator.take_question(mention.model_copy(update={"question": _event_of(asked, event)}))

    def _question_of(self, said: Sequence[ChatMessage], thread_ts: str, event: Event) -> ChatMessage | None:
        """Return what a thread is about: its root, or if that asks nothing the last question before the mention."""
        root = next((one for one in said if one.message_id == thread_ts), None)
        if root is None or asks_question(root.text, self.rules):
            return root
        before = [one for one in said if float(one.message_id) < float(event.message_id)]
        asked = [one for one in before if not one.is_bot and asks_question(one.text, self.rules)]
        return next((one for one in reversed(asked) if f"<@{self.bot_user_id}" not in one.text), root)

    def _add_to(self, card: ThreadState, event: Event, kind: InstructionKind) -> None:
        """Take a word under a card as context for its investigation, from an approver."""
        try:
            self.approvers.require(event.sender.id, event.team_id, NOT_YOURS)
            self.decisions.acknowledge(card.thread_id, by=event.sender.id)
            self._say(event, self._carried_out(card, event, kind))
        except InputError as refused:
            self._say(event, str(refused))

    def _carried_out(self, card: ThreadState, event: Event, kind: InstructionKind) -> str:
        by = event.sender.id
        click = DraftClick(thread_id=card.thread_id, version=card.draft_version, draft_hash=card.clicked_hash)
        if kind is not InstructionKind.QUESTION:
            return self.decisions.reinvestigate(click, by=by)
        words = _own_words(event.content, self.bot_user_id)
        if any((note.by, note.text) == (by, words) for note in card.human_context):
            return "Noted. The investigator will use it."  # the same job again, after a crash
        return self.decisions.add_context(click, words, by=by)

    def _say(self, event: Event, text: str) -> None:
        """Tell the one who wrote; a chat that does not take it has the log hear, and the job is done."""
        try:
            self.tell(event.chat_id, event.sender.id, text, event.thread_id)
        except ProviderError:
            log.warning("a mention could not be answered", extra={"action": "answer_failed"}, exc_info=True)


def _event_of(asked: ChatMessage, mention: Event) -> Event:
    """Return the message that a mention points to as the event it once was."""
    return mention.model_copy(
        update={
            "message_id": asked.message_id,
            "content": asked.text.encode("utf-8", "replace").decode(),
            "sender": mention.sender.model_copy(
                update={"id": asked.sender_id, "type": "bot" if asked.is_bot else "user"}
            ),
            "mentions": (),
            "images": asked.images,
            "client_msg_id": None,
        }
    )


def _own_words(text: str, bot_user_id: str) -> str:
    """Return what was said to the bot, without its name."""
    for token in (f"<@{bot_user_id}>", f"<@{bot_user_id}|triage>"):
        text = text.replace(token, " ")
    return " ".join(text.split()).lstrip(_STOPS).strip()
