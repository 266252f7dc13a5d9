"""`/triage pause | resume | open | investigate | approve-list`, and the reports `status` and `metrics`.

A command that changes something or shows a question needs an approver.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.views.answers import answer_blocks, message_blocks
from blocks.views.brief_view import brief_blocks
from blocks.views.help_view import unknown_verb
from bot.casework.approvers import Approvers
from bot.casework.pause import PauseSwitch, answer_pause, answer_resume
from bot.casework.posting.auto_replies import ArmingService
from bot.casework.reports.answers import approvers_answer, metrics_answer, open_answer, status_answer
from bot.casework.reports.autonomy_metrics import autonomy_answer
from bot.casework.reports.daily_brief import WINDOW, build_brief
from bot.casework.reports.metrics_report import MetricsReport
from bot.casework.reports.status_overview import overview
from bot.domain.answers import Answer
from bot.domain.questions.autonomy_record import AutonomyMode
from bot.errors import InputError
from bot.intake.classifier.own_words import is_only_emoji
from bot.ports import Clock, Store
from bot.ports.replicas import Replicas
from handlers.commands.dispatcher import Command, DeferredAnswer, TypedCommand, reject_extra_words
from handlers.ops_channel import Ask

MAX_QUESTION_CHARS: Final = 4_000
ONLY_APPROVERS: Final = "Only approvers may do that."
WHO_APPROVES: Final = "Who they are: /triage approve-list"

METRICS: Final = "metrics"
_DASHES: Final = "-–—"
"""Slack's editors make one long dash of two."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseworkCommands:
    """The commands of casework.

    `show_cards` brings every open card in line, `ask` asks in the ops channel, and `explain` tells what became of a
    message.
    """

    store: Store
    approvers: Approvers
    pausing: PauseSwitch
    show_cards: Callable[[], object]
    ask: Ask
    explain: Callable[[str], Answer]
    clock: Clock

    def table(self) -> dict[str, Command]:
        """Return each word with its function."""
        return {
            "open": self.open,
            "investigate": self.investigate,
            "why": self.why,
            "brief": self.brief,
            "pause": self.pause,
            "resume": self.resume,
            "approve-list": self.approve_list,
        }

    def open(self, typed: TypedCommand) -> list[Block]:
        """List the drafts that wait."""
        now = self.clock.now()
        return answer_blocks(open_answer(overview(self.store, now), now, may_see_drafts=self._may(typed)))

    def why(self, typed: TypedCommand) -> list[Block]:
        """Tell what became of a message, step by step; it shows a draft, so it is for approvers."""
        self._require(typed)
        if len(typed.line.words) < 2:
            raise InputError("Which message?", next_step="Type /triage why and its link: Copy link, in its menu.")
        return answer_blocks(self.explain(typed.line.words[1]))

    def brief(self, typed: TypedCommand) -> list[Block]:
        """Sum up the last 24 hours."""
        now = self.clock.now()
        return brief_blocks(build_brief(self.store, now - WINDOW, now), "Brief", may_see_drafts=self._may(typed))

    def pause(self, typed: TypedCommand) -> list[Block]:
        """Stop what costs money; running work finishes."""
        self._require(typed)
        answer = answer_pause(self.pausing, by=typed.user_id, name=typed.user_name)
        self.show_cards()
        return answer_blocks(answer)

    def resume(self, typed: TypedCommand) -> list[Block]:
        """Take up what waited."""
        self._require(typed)
        was_paused, answer = answer_resume(self.pausing, by=typed.user_id)
        if was_paused:
            self.show_cards()
        return answer_blocks(answer)

    def investigate(self, typed: TypedCommand) -> list[Block] | DeferredAnswer:
        """Ask in the ops channel, in the name of whoever typed."""
        self._require(typed)
        question = typed.line.words_after(1)
        if is_only_emoji(question) or not any(map(str.isalnum, question)):
            raise InputError(
                "What should be investigated?",
                next_step="Type /triage investigate How often do we retry a webhook?",
            )
        if len(question) > MAX_QUESTION_CHARS:
            raise InputError(
                f"The question has {len(question):,} characters; shorten it to {MAX_QUESTION_CHARS:,}, or "
                "write it in a channel and mention me there. Nothing was asked."
            )
        paused = self.pausing.words()
        waits = f" Triage is {paused}: its card waits until somebody types /triage resume" if paused else ""
        told = message_blocks(f"Asked in the ops channel; the card there will show the draft.{waits}")
        return DeferredAnswer(blocks=told, work=lambda: self.ask(question, typed.user_id))

    def approve_list(self, typed: TypedCommand) -> list[Block]:
        """Say who may approve."""
        return answer_blocks(approvers_answer(self.approvers.roll(), is_one=self._may(typed)))

    def _require(self, typed: TypedCommand) -> None:
        self.approvers.require(*typed.who, ONLY_APPROVERS, next_step=WHO_APPROVES)

    def _may(self, typed: TypedCommand) -> bool:
        return self.approvers.allow(*typed.who)


def metrics_command(measure: Callable[[], MetricsReport], arming: ArmingService, approvers: Approvers) -> Command:
    """Return the command; everybody sees figures, approvers the drafts they are about and the switch."""

    def metrics(typed: TypedCommand) -> list[Block]:
        verb = typed.line.word(1).lstrip(_DASHES)
        if not verb:
            return answer_blocks(metrics_answer(measure()))
        if verb == "autonomy":
            return answer_blocks(autonomy_answer(arming.case(), may_see_drafts=approvers.allow(*typed.who)))
        if verb not in ("arm", "disarm"):
            return unknown_verb(METRICS, verb)
        approvers.require(*typed.who, ONLY_APPROVERS, next_step=WHO_APPROVES)
        reject_extra_words(f"{METRICS} --{verb}", typed.line.words[2:])
        to = AutonomyMode.ON if verb == "arm" else AutonomyMode.SHADOW
        return message_blocks(arming.turn(to, by=typed.user_id))

    return metrics


def status_command(
    store: Store, approvers: Approvers, clock: Clock, codebases: Collection[str], replicas: Replicas | None = None
) -> Command:
    """Return the command; questions and machines are for approvers, of the codebases only `codebases` are named."""

    def status(typed: TypedCommand) -> list[Block]:
        now = clock.now()
        seen = overview(store, now, codebases, replicas=replicas)
        return answer_blocks(status_answer(seen, now, may_see_drafts=approvers.allow(*typed.who)))

    return status
