"""`/triage` by topic: questions (`pause | resume | open | investigate | approve-list`), reports, notes and sessions.

A command that changes something or shows a question needs an approver; of notes others hear how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from bot.casework.approvers import Approvers
from bot.casework.pause import PauseSwitch, answer_pause, answer_resume
from bot.casework.posting.auto_replies import ArmingService
from bot.casework.reports.answers import approvers_answer, metrics_answer, open_answer, status_answer
from bot.casework.reports.answers_autonomy import autonomy_answer
from bot.casework.reports.answers_brief import brief_answer
from bot.casework.reports.answers_notes import answer_notes
from bot.casework.reports.daily_brief import WINDOW, build_brief
from bot.casework.reports.metrics_report import MetricsReport
from bot.casework.reports.status_overview import overview
from bot.domain.answers import Answer, sentence
from bot.domain.command_specs import CommandLine, typed_verb
from bot.domain.questions.autonomy_record import AutonomyMode
from bot.domain.text.humanize import counted
from bot.errors import InputError
from bot.heartbeat.session_registry import Asker, Owners, Session
from bot.intake.classifier.scorer import is_only_emoji
from bot.ports import Clock, NoteStore, Store
from bot.ports.system import Replicas
from handlers.answers import Ask
from handlers.commands.dispatcher import WHO_APPROVES, Command, DeferredAnswer, TypedCommand

MAX_QUESTION_CHARS: Final = 4_000


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

    def open(self, typed: TypedCommand) -> Answer:
        """List the drafts that wait."""
        now = self.clock.now()
        return open_answer(overview(self.store, now), now, may_see_drafts=self._may(typed))

    def why(self, typed: TypedCommand) -> Answer:
        """Tell what became of a message, step by step."""
        if len(typed.line.words) < 2:
            raise InputError("Which message?", next_step="Type /triage why and its link: Copy link, in its menu.")
        return self.explain(typed.line.words[1])

    def brief(self, typed: TypedCommand) -> Answer:
        """Sum up the last 24 hours."""
        now = self.clock.now()
        return brief_answer(build_brief(self.store, now - WINDOW, now), "Brief", may_see_drafts=self._may(typed))

    def pause(self, typed: TypedCommand) -> Answer:
        """Stop what costs money; running work finishes."""
        answer = answer_pause(self.pausing, by=typed.user_id, name=typed.user_name)
        self.show_cards()
        return answer

    def resume(self, typed: TypedCommand) -> Answer:
        """Take up what waited."""
        was_paused, answer = answer_resume(self.pausing, by=typed.user_id)
        if was_paused:
            self.show_cards()
        return answer

    def investigate(self, typed: TypedCommand) -> DeferredAnswer:
        """Ask in the ops channel, in the name of whoever typed."""
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
        told = sentence(f"Asked in the ops channel; the card there will show the draft.{waits}")
        return DeferredAnswer(answer=told, work=lambda: self.ask(question, typed.user_id))

    def approve_list(self, typed: TypedCommand) -> Answer:
        """Say who may approve."""
        return approvers_answer(self.approvers.roll(), is_one=self._may(typed))

    def _may(self, typed: TypedCommand) -> bool:
        return self.approvers.allow(*typed.who)


def metrics_command(measure: Callable[[], MetricsReport], arming: ArmingService, approvers: Approvers) -> Command:
    """Return the command; everybody sees figures, approvers the drafts they are about."""

    def metrics(typed: TypedCommand) -> Answer:
        match typed_verb(typed.line)[0].path:
            case "metrics --autonomy":
                return autonomy_answer(arming.case(), may_see_drafts=approvers.allow(*typed.who))
            case "metrics --arm":
                return sentence(arming.turn(AutonomyMode.ON, by=typed.user_id))
            case "metrics --disarm":
                return sentence(arming.turn(AutonomyMode.SHADOW, by=typed.user_id))
            case _:
                return metrics_answer(measure())

    return metrics


def notes_command(notes: NoteStore, approvers: Approvers) -> Command:
    """Return the command; a note may hold what was said where few can read."""

    def command(typed: TypedCommand) -> Answer:
        verb = typed.line.word(1) or "list"
        if verb == "list" and not approvers.allow(*typed.who):
            return sentence(f"{counted(len(notes.all()), 'note')}, for approvers to read. {WHO_APPROVES}")
        return answer_notes(notes, verb, " ".join(typed.line.words[2:3]))

    return command


def status_command(
    store: Store, approvers: Approvers, clock: Clock, codebases: Collection[str], replicas: Replicas | None = None
) -> Command:
    """Return the command; questions and machines are for approvers, of the codebases only `codebases` are named."""

    def status(typed: TypedCommand) -> Answer:
        now = clock.now()
        seen = overview(store, now, codebases, replicas=replicas)
        return status_answer(seen, now, may_see_drafts=approvers.allow(*typed.who))

    return status


class SlackAsker(Asker):
    """A user of Slack; the chat is asked now whether they may."""

    def __init__(self, typed: TypedCommand, owners: Owners, approvers: Approvers) -> None:
        super().__init__(typed.user_id, typed.user_name)
        self._team, self._owners, self._approvers = typed.team_id, owners, approvers

    def require(self, refusal: str, session: Session | None = None, *, next_step: str = "") -> None:
        """Return if they are an approver or own the session; raises InputError."""
        owner = self._owners.claim(session, self.id) if session else ""
        self._approvers.require(self.id, self._team, refusal, owner=owner, next_step=next_step)


@dataclass(frozen=True, slots=True)
class SessionCommand:
    """One of the three commands; a Command of handlers/commands."""

    answers: Callable[[CommandLine, Asker], Answer]
    owners: Owners
    approvers: Approvers

    def __call__(self, typed: TypedCommand) -> Answer:
        """Return the answer; raises TriageError for what cannot be done."""
        return self.answers(typed.line, SlackAsker(typed, self.owners, self.approvers))
