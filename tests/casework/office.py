"""A whole casework office over fakes: hand it events and clicks, crash it, start it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from blocks.cards.draft_actions import click_of
from bot.adapters.storage.files.file_engine import FileRunFolders, FileStore, NoteFiles
from bot.agent.model_run import OnProgress
from bot.agent.run_records import RunRecorder
from bot.casework.acknowledgements import Acknowledgements
from bot.casework.alerts import AlertThreads, HandOvers
from bot.casework.approvers import Approvers
from bot.casework.checks.validation import Validation
from bot.casework.clicks import DraftClick
from bot.casework.decisions import Decisions
from bot.casework.escalations import Escalations, LongRuns
from bot.casework.notes import Notes, Proved
from bot.casework.ops_channel import DirectMessages
from bot.casework.orchestrator import Orchestrator
from bot.casework.pause import PauseSwitch
from bot.casework.posting.auto_replies import ArmingService, AutoReplies
from bot.casework.posting.replies import SLOW_IN_FLIGHT, Replies
from bot.casework.recovery import CrashRecovery, ThreadRebuild
from bot.casework.rounds import Rounds
from bot.casework.thread_service import ChannelCodebases, ThreadService
from bot.casework.twins import Twins
from bot.casework.waiting_drafts import QuestionPages
from bot.config.settings import Settings
from bot.domain.events import Event, thread_key
from bot.domain.jobs import (
    AlertArrived,
    AskInOps,
    ContinueThread,
    FollowUpArrived,
    MentionInstruction,
    MessageDeleted,
    MessageEdited,
    QuestionAsked,
    RebuildThread,
    RunBeat,
    Work,
)
from bot.domain.questions.autonomy_record import AutoReply
from bot.domain.returns import Check, EvidenceRef, InvestigatorReturn, Verdict
from bot.domain.threads import REPLY_MARK, ThreadState, reply_mark
from bot.intake.classifier.classification import classify
from bot.ports import ChatMessage
from bot.ports.collections import (
    AUTO_REPLIES,
    AUTONOMY,
    CARDS_SHOWN,
    Collection,
    SingleDocument,
)
from bot.ports.feature_collections import ACKNOWLEDGEMENTS
from bot.ports.system import Replicas
from bot.runtime.worker_pool import Handlers, complete
from tests.builders import QUESTION_TS, THREAD_ID, a_return, a_sorter, a_verdict, an_event
from tests.fakes import (
    Crash,
    FakeAttachments,
    FakeClock,
    FakeWorkspace,
    Faults,
    FixedMemoryIndex,
    MemoryDocuments,
    MemoryJobQueue,
    MemoryJournal,
    MemoryTerminal,
    MemoryThreads,
    RecordingAskerChat,
    RecordingAudits,
    RecordingDirectChat,
    RecordingMessenger,
    RecordingPages,
    ScriptedInvestigator,
    in_memory,
)

ANN, BEN = "U1", "U2"
"""Who asks, and who approves."""

SORTER = a_sorter()
RULES = SORTER.rules


class ScriptedValidator:
    """Validator that hands back a script, its last line again and again; errors in it are raised.

    A verdict stands for one with scripted reasons; a Validation is handed back as it is.
    """

    def __init__(self, *script: Verdict | Validation | BaseException) -> None:
        self.script = list(script) or [Verdict.PASS]
        self.seen: list[ThreadState] = []
        self.summaries: list[Sequence[str]] = []

    def validate(
        self,
        state: ThreadState,
        *,
        run_id: str,
        summaries: Sequence[str] = (),
        on_progress: OnProgress | None = None,
    ) -> Validation:
        self.seen.append(state)
        self.summaries.append(summaries)
        step = self.script[min(len(self.seen), len(self.script)) - 1]
        if isinstance(step, BaseException):
            raise step
        if isinstance(step, Validation):
            return step
        passed = step is Verdict.PASS
        feedback = None if passed else "- line 10 says 3, not 5"
        ret = a_verdict(step, reasons=("line 10 says 3, not 5",) * (not passed), bounce_feedback=feedback)
        names = ("ref[0].quote", "claim[0]")
        return Validation(ret=ret, checks=tuple(Check(name=name, ok=passed, reason="as scripted") for name in names))


class Office:
    """Everything casework needs, with fakes outside and the real thing inside."""

    def __init__(
        self,
        folder: Path,
        *script: InvestigatorReturn | BaseException,
        verdicts: Sequence[Verdict | Validation | BaseException] = (),
        faults: Faults | None = None,
        has_model: bool = False,
        **settings: Any,
    ) -> None:
        self.settings = Settings.model_validate({"codebase": str(folder), "ops_channel": "C0OPS", **settings})
        self.folder, self.faults = folder, faults or Faults()
        self.clock = FakeClock()
        self.store = MemoryThreads(faults=self.faults)
        self.jobs = MemoryJobQueue(self.clock, faults=self.faults)
        self.workspace, self.attachments = FakeWorkspace(), FakeAttachments()
        self.messenger = RecordingMessenger(faults=self.faults, workspace=self.workspace)
        self.memory = FixedMemoryIndex()
        self.shelf, self.proved = NoteFiles(folder / "memory"), Proved()
        self.log = MemoryJournal(faults=self.faults, name="replies")
        self.investigator = ScriptedInvestigator(*(script or (a_return(),)), faults=self.faults)
        self.validator = ScriptedValidator(*verdicts)
        self.events = MemoryJournal()
        self.lost: set[str] = set()
        self.pausing = PauseSwitch(MemoryDocuments(), self.clock)
        self.changed_refs: set[str] = set()
        self.terminal = MemoryTerminal(faults=self.faults)
        self.long_runs = LongRuns(
            terminal=self.terminal,
            folder=folder / "escalations",
            transcripts=self.settings.escalation.transcript_dir,
            argv=("triage", "investigate", "--escalation"),
            environment={"PATH": "/bin"},
            has_model=has_model,
        )
        self.page_chat = RecordingPages(faults=self.faults)
        self.asker_chat, self.acknowledged = RecordingAskerChat(self.faults), MemoryDocuments(faults=self.faults)
        self.cards_shown, self.direct_chat = MemoryDocuments(), RecordingDirectChat(self.faults)
        self.approvers: set[str] = {BEN}
        self.replicas: Replicas | None = None
        self.past, self.audits, self.starts = FileStore(folder / "home"), RecordingAudits(self.faults), 0
        hours = self.settings.working_hours
        self.hours = hours and hours.in_zone("UTC")
        self._furnish()

    def _furnish(self) -> None:
        self.service = ThreadService(
            settings=self.settings,
            store=self.store,
            jobs=self.jobs,
            messenger=self.messenger,
            workspace=self.workspace,
            attachments=self.attachments,
            memory=self.memory,
            replies=self.log,
            codebases=ChannelCodebases(self.settings.watched_chats),
            clock=self.clock,
            asker=Acknowledgements(
                self.store,
                in_memory(ACKNOWLEDGEMENTS, self.acknowledged),
                self.asker_chat,
                self.clock,
                mode=self.settings.acknowledge,
                say=self.messenger.tell_ops,
            ),
            direct=DirectMessages(
                approvers=Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=self.workspace),
                chat=self.direct_chat,
            ),
            shown=in_memory(CARDS_SHOWN, self.cards_shown),
        )
        self.rehire()

    def rehire(self) -> None:
        """Put the same people to work at the desk as it is now."""
        runs = RunRecorder(FileRunFolders(self.folder), self.clock)
        self.escalations = self.watch = Escalations(self.service, self.long_runs, runs)
        self.replies = Replies(self.service, self._still_stands)
        self.pages = QuestionPages(
            self.service,
            self.page_chat,
            is_approver=lambda user, team: team == "T1" and user in self.approvers,
            say=self.messenger.tell_ops,
        )
        self.hand_overs = HandOvers(self.service, self.page_chat)
        self.twins = Twins(self.service, self._still_stands)
        self.arming = ArmingService(
            self.service,
            self.past,
            SingleDocument(self.past.documents, AUTONOMY),
            hours=self.hours,
            say=self.messenger.tell_ops,
            replicas=self.replicas,
        )
        sent = Collection(self.past.documents, AUTO_REPLIES)
        self.auto = AutoReplies(self.service, self.replies, self._still_stands, self.arming, sent, self.audits)
        self.rounds = Rounds(
            self.service, self.investigator, self.validator, runs, self.escalations, self.replies, self.auto
        )
        self.orchestrator = Orchestrator(
            self.service,
            self.rounds,
            bot_user_id="U0BOT",
            lost=self.lost,
            rules=RULES,
            pausing=self.pausing,
            pages=self.pages,
            twins=self.twins,
        )
        self.alerts = AlertThreads(self.service, self.orchestrator, self.events)
        self.rebuilding = ThreadRebuild(self.service, self.orchestrator, self.alerts, self.events, RULES)
        self.notes = Notes(self.service, lambda _: self.proved)
        self.decisions = Decisions(
            self.service, self.replies, self._still_stands, self.escalations, self.twins, self.validator
        )
        self.table: Handlers = complete(
            {
                QuestionAsked: self.orchestrator.take_question,
                FollowUpArrived: self.orchestrator.take_follow_up,
                MessageEdited: self.orchestrator.note_edit,
                MessageDeleted: self.orchestrator.note_deletion,
                AlertArrived: self.alerts.take_alert,
                AskInOps: lambda _: None,
                ContinueThread: self.orchestrator.continue_thread,
                RebuildThread: self.rebuilding.rebuild_thread,
                MentionInstruction: self.orchestrator.take_question,
                RunBeat: _none,
            }
        )

    def _still_stands(self, ref: EvidenceRef) -> bool:
        return ref.ref not in self.changed_refs

    def arrive(self, event: Event) -> None:
        """Let a message stand in its thread, in the journal and in the queue."""
        self.events.append(event.model_dump(mode="json"))
        self.workspace.say(
            event.chat_id,
            event.thread_id or event.message_id,
            ChatMessage(message_id=event.message_id, sender_id=event.sender.id, text=event.content),
        )
        self.queue(event)

    def queue(self, event: Event) -> None:
        """Put an event into the queue, as the watcher does."""
        state = self.store.get(thread_key(event))
        is_in_flight = (state is not None and state.is_open) or self.jobs.holds(thread_key(event))
        work = SORTER.sort(event, classify(event, RULES, inflight=is_in_flight))
        if work is not None:
            self.jobs.put(work)
        if isinstance(work, FollowUpArrived):
            self.orchestrator.note_follow_up(work)

    def work(self) -> None:
        """Work the queue off."""
        while (job := self.jobs.claim(self.pausing.allows)) is not None:
            self.do_work(job.work)
            self.jobs.done(job)
            self.service.asker.tick()

    def do_work(self, work: Work) -> None:
        """Call the handler of some work, as the worker does."""
        self.table[type(work)](work)

    def restart(self) -> list[str]:
        """Start again after a crash: what is in memory is gone, what is stored is settled; returns the problems."""
        self.jobs = self.jobs.reopened()
        self.starts += 1
        self._furnish()
        recovery = CrashRecovery(self.service, self.replies)
        problems = recovery.recover()
        self.service.cards.catch_up()
        self.service.asker.recall()
        self.clock.advance(SLOW_IN_FLIGHT.total_seconds())
        problems += recovery.settle_late()
        self.watch.poll()
        self.work()
        self.service.asker.tick()
        return problems

    def asked(self, text: str = "How often do we retry?", *, mention: bool = False) -> Office:
        """Let Ann ask, and the draft be made."""
        self.arrive(an_event(text, mentions=("U0BOT",) if mention else ()))
        self.clock.advance(60)
        self.work()
        return self

    def says(self, text: str, *, seconds: float = 1, sender: str = ANN, mention: bool = False) -> Event:
        """Let somebody write in the thread after some time, and the bot hear of it."""
        self.clock.advance(seconds)
        event = an_event(
            text,
            f"{self.clock.now().timestamp():.6f}",
            thread_id=QUESTION_TS,
            msg_type="thread_reply",
            sender={"id": sender},
            mentions=("U0BOT",) if mention else (),
        )
        self.arrive(event)
        self.work()
        return event

    def record_sent(self, state: ThreadState, **changes: Any) -> AutoReply:
        """Put the record of a reply on file that was sent automatically."""
        known: dict[str, Any] = {
            "id": reply_mark(state).removeprefix(REPLY_MARK),
            "thread_id": state.thread_id,
            "chat_id": state.chat_id,
            "message_id": state.original_message_id,
            "question": state.question,
            "reply": state.draft_pending,
            "at": state.closed_at,
            "posted_message_id": "1.0",
        }
        reply = AutoReply(**{**known, **changes})
        Collection(self.past.documents, AUTO_REPLIES).add(reply.id, reply)
        return reply

    @property
    def state(self) -> ThreadState:
        """The open thread."""
        state = self.store.get(THREAD_ID)
        assert state is not None
        return state

    @property
    def ended(self) -> ThreadState:
        """How the thread last ended; it is in the archive and no longer in the store."""
        assert self.store.get(THREAD_ID) is None
        state = self.store.last_closed(THREAD_ID)
        assert state is not None
        return state

    @property
    def shown(self) -> ThreadState:
        """The state that the newest card shows."""
        return self.messenger.cards[-1].shown[-1]

    def click(self) -> DraftClick:
        """Return what a click on the card, as it stands in the ops channel, carries."""
        return click_of(self.shown)


def _none(work: Work) -> None:
    raise AssertionError(f"casework has no such job: {work}")


def crash_everywhere(
    build: Callable[[Faults], Office], story: Callable[[Office], None], *, every: int = 1
) -> list[tuple[str, Office]]:
    """Play a story once for each point at which the process can die, start again each time, and return the ends.

    Of a long story `every` third or so is enough for a run that has little time.
    """
    ends = []
    for crash_at in range(1, 500, every):
        faults = Faults(crash_at)
        office = build(faults)
        try:
            story(office)
        except Crash as crash:
            ends.append((str(crash), office))
        else:
            return ends
    raise AssertionError("the story never ends")
