"""Builds where one team is heard in Slack: intake, buttons, commands, its part of App Home, and what it missed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.cards.draft_card import card_blocks
from blocks.views.home_view import HomeData
from bot.casework.checks.addresses import EvidenceReader
from bot.casework.notes import Notes, address_prover
from bot.casework.posting.reply_proof import ProofReader
from bot.casework.reports.journal_history import PastThreads
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import DAYS, MetricsReport, read_metrics
from bot.casework.reports.past_thread import why_answer
from bot.casework.reports.status_overview import count_today, overview
from bot.composition.heartbeats import Heartbeats
from bot.composition.process import Process
from bot.composition.questions import Questions
from bot.composition.team_core import TeamCore
from bot.domain.jobs import FollowUpArrived
from bot.domain.threads import ThreadStatus
from bot.errors import InputError
from bot.heartbeat.session_rows import rows
from bot.intake.chat_backfill import Backfill, ChatToReadBack
from bot.intake.enqueue import MessageSorter
from bot.intake.gaps import Gaps
from bot.intake.watcher import MessageLog, Watcher
from bot.ports.collections import AUTO_REPLIES, CLASSIFIED, EVENTS, GAPS, Collection, CollectionSpec
from bot.ports.feature_collections import SUGGESTIONS
from bot.runtime.duties import Duty
from handlers.answers import ephemeral, ephemeral_reply
from handlers.buttons.decision_handler import Listener, say_beside
from handlers.buttons.draft_buttons import (
    ClickReplies,
    DraftButtons,
    FixButtons,
    HandOverButtons,
    NoteButtons,
    draft_evidence,
)
from handlers.buttons.removed_buttons import RemovedButtons
from handlers.buttons.reply_buttons import AuditButtons, FeedbackButtons, ProofButton, TrustButtons
from handlers.commands.dispatcher import CommandDispatcher
from handlers.commands.topics import CaseworkCommands, metrics_command, notes_command, status_command
from handlers.direct_messages import SessionQuestions, Shortcuts
from handlers.home import HomeTab, HomeTeam
from handlers.team_router import TeamListeners, TeamRouter
from handlers.transport.name_book import NameBook
from handlers.transport.workspace import SlackHistory


class TeamEdge:
    """Where one team is heard in Slack, and what it has on App Home; nothing reaches it before the router has it.

    What `router` brings back of missed messages goes to the team whose they are.
    """

    def __init__(
        self,
        process: Process,
        core: TeamCore,
        questions: Questions,
        heartbeats: Heartbeats,
        home: HomeTab,
        router: TeamRouter,
    ) -> None:
        self._process, self._core, self._questions, self._heartbeats = process, core, questions, heartbeats
        self._sessions, self._home, self._router = heartbeats.sessions, home, router
        self.watcher = self._watcher()
        self.backfilling = Duty("backfill", core.service.leases)
        self.backfill = self._backfill()
        commands = self._commands()
        self.listeners = self._listeners(commands)
        answering = SessionQuestions(commands, process.slack.poster, questions.mentions)
        self.follow_mention = answering.follow_instruction
        self.home = HomeTeam(
            name=core.name,
            look=self._look,
            approvers=core.approvers,
            run_session=heartbeats.alert_buttons.run_session,
            has_session=lambda session_id: session_id in self._sessions.registry.names(),
            owned=self._owned,
        )

    def _commands(self) -> CommandDispatcher:
        core, process = self._core, self._process
        storage, approvers, clock = core.storage, core.approvers, process.clock
        past, baseline_reply_s = PastThreads(storage), core.settings.baseline_reply_s

        def measure() -> MetricsReport:
            return read_metrics(storage, past, Window.last(DAYS, clock.now()), baseline_reply_s=baseline_reply_s)

        casework = CaseworkCommands(
            store=storage,
            approvers=approvers,
            pausing=core.pausing,
            show_cards=core.service.cards.show_all_again,
            ask=core.ops_questions.ask,
            explain=lambda asked: why_answer(
                storage, asked, core.rules, core.code.link_to, NameBook(process.storage.documents).names()
            ),
            clock=clock,
        )
        return CommandDispatcher(
            {
                "status": status_command(storage, approvers, clock, core.code.ids, process.engine.replicas),
                "metrics": metrics_command(measure, self._questions.arming, approvers),
                "notes": notes_command(storage.notes, approvers),
                **casework.table(),
                **self._heartbeats.commands,
            },
            approvers,
        )

    def _listeners(self, commands: CommandDispatcher) -> TeamListeners:
        core, store = self._core, self._core.service.store
        notes, actions, views = self._buttons()
        shortcut = Shortcuts(
            self.watcher,
            self._process.slack.workspace,
            team_id=self._process.slack.me.team_id,
            allow_external=core.settings.watcher.allow_external,
            whose=lambda: f"Team {core.name}: " if len(self._router.all()) > 1 else "",
        )
        return TeamListeners(
            team=core.name,
            ops_channel=core.settings.ops_channel,
            watcher=self.watcher,
            approvers=core.approvers,
            commands=commands,
            shortcuts={ids.TRIAGE_THIS: shortcut.triage_this, ids.REMEMBER_THIS: notes.remember_this},
            actions=actions,
            views=views,
            owns=self._owns,
            has_card=lambda ts: any(one.card_ts == ts for one in store.open_threads()),
            owned=self._owned,
        )

    def _buttons(self) -> tuple[NoteButtons, dict[str, Listener], dict[str, Listener]]:
        """Return the listeners of every kind of card: those of notes, all buttons, all dialogues."""
        core, questions, slack, approvers = self._core, self._questions, self._process.slack, self._core.approvers
        store, link_to, secrets = core.service.store, core.code.link_to, core.service.known_secrets
        tell, whisper = ephemeral(slack.client, slack.poster), ephemeral_reply(slack.client)
        say = say_beside(tell, core.settings.ops_channel)
        answers = ClickReplies(tell, self._home, store, approvers, ops_channel=core.settings.ops_channel)
        reader = EvidenceReader(
            repo=core.code.codebases, known_secrets=secrets, runs=questions.models.runs, notes=core.storage.notes
        )
        proofs = ProofReader(store=store, evidence=reader, workspace=slack.workspace, approvers=approvers)
        handing = HandOverButtons(questions.hand_overs, approvers, say=answers.say)
        saving = Notes(core.service, address_prover(core.code.codebases, secrets))
        notes = NoteButtons(saving, approvers, say=answers.say, team=core.name)
        drafts = DraftButtons(
            questions.decisions,
            approvers,
            store,
            evidence=partial(draft_evidence, store, reader, link_to),
            answers=answers,
            more=notes.menu,
        )
        kinds = (
            drafts,
            FixButtons(questions.patches.fixes, approvers, say=answers.say, known_secrets=secrets),
            notes,
            handing,
            AuditButtons(questions.auto_replies, approvers, say=say),
            TrustButtons(questions.arming, approvers, say=answers.say),
            FeedbackButtons(questions.feedback, whisper),
            ProofButton(proofs, link_to, whisper),
            self._heartbeats.alert_buttons,
            RemovedButtons(say),
            self._heartbeats.suggestion_buttons,
        )
        return (
            notes,
            dict(chain.from_iterable(kind.actions.items() for kind in kinds)),
            dict(chain.from_iterable(kind.views.items() for kind in kinds)),
        )

    def _owned(self, user: str) -> frozenset[str]:
        """Return the sessions that belong to a user."""
        sessions = self._sessions
        return frozenset(one.id for one in sessions.registry.all() if sessions.owners.claim(one, user))

    def _owns(self, name: str) -> bool:
        """Whether a thread, session or suggestion of this id, or this name, is the team's; the id is hostile."""
        core, store = self._core, self._core.service.store
        is_named = name == ids.team_value(core.name) or name in self._sessions.registry.names()
        if is_named or store.get(name) is not None:
            return True
        kinds: tuple[CollectionSpec[Any], ...] = (SUGGESTIONS, AUTO_REPLIES)
        for kind in kinds:
            with suppress(InputError):
                if Collection(core.storage.documents, kind).find(name) is not None:
                    return True
        with suppress(InputError):
            return store.last_closed(name) is not None
        return False

    def _watcher(self) -> Watcher:
        core, me, heartbeats = self._core, self._process.slack.me, self._heartbeats

        def hear(message: FollowUpArrived) -> None:
            """Take notice at once: the worker's places may be full, and a page rings meanwhile."""
            self._questions.orchestrator.note_follow_up(message)
            heartbeats.threads.hear(message.event)

        return Watcher(
            core.settings,
            me,
            sorter=MessageSorter(
                rules=core.rules,
                bot_user_id=me.user_id,
                ops_channel=core.settings.ops_channel,
                session_names=self._sessions.registry.names,
                is_under_alert=heartbeats.threads.holds,
            ),
            journals=MessageLog(core.storage.journal(EVENTS), core.storage.journal(CLASSIFIED), core.storage.shared),
            threads=core.service.store,
            jobs=core.service.jobs,
            clock=self._process.clock,
            on_follow_up=hear,
        )

    def _look(self) -> HomeData:
        """Return what the team shows on App Home."""
        core, sessions, now = self._core, self._sessions, self._process.clock.now()
        facts = replace(core.card_facts, paused=lambda: None, pages=tuple)  # the page says it once, and notifies nobody
        threads = core.service.store.threads()
        cards: dict[str, list[Block]] = {}  # each is made once, for all who look at the page
        return HomeData(
            overview=overview(core.storage, now, core.code.ids),
            today=count_today(core.storage, now),
            sessions=rows(sessions.registry, sessions.store, sessions.owners, sessions.log, now),
            now=now,
            drafts={state.thread_id: state for state in threads if state.status is ThreadStatus.PENDING_USER},
            trust=self._questions.arming.case(),
            team=core.name,
            card=lambda state: (
                cards.get(state.thread_id) or cards.setdefault(state.thread_id, card_blocks(state, facts))
            ),
        )

    def _backfill(self) -> Backfill:
        core, slack = self._core, self._process.slack
        return Backfill(
            core.settings,
            self.watcher,
            ChatToReadBack(
                history=SlackHistory(slack.history_client),
                team_id=slack.me.team_id,
                clock=slack.clock,
                set_clock=slack.check_clock,
                hear=lambda body: self._router.of_message(body).watcher.receive(body),
                also=self._heartbeats.threads.chats,
            ),
            store=core.service.store,
            gaps=Gaps(core.single(GAPS)),
            say=core.ops.say,
            may_read=self.backfilling.take,
        )
