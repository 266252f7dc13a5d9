"""Builds where one team is heard in Slack: intake, buttons, commands, its part of App Home, and what it missed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.cards.draft_card import card_blocks
from blocks.views.home_view import HomeData
from bot.casework.checks.shown_evidence import EvidenceReader
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
from bot.composition.sessions import Sessions
from bot.composition.team_core import TeamCore
from bot.domain.jobs import FollowUpArrived, MentionInstruction
from bot.domain.threads import ThreadStatus
from bot.errors import InputError
from bot.heartbeat.schedule.session_rows import rows
from bot.intake.chat_backfill import Backfill, ChatToReadBack
from bot.intake.enqueue import MessageSorter
from bot.intake.gaps import Gaps
from bot.intake.watcher import Watcher
from bot.ports import Clock
from bot.ports.collections import AUTO_REPLIES, CLASSIFIED, EVENTS, GAPS, Collection, CollectionSpec
from bot.ports.feature_collections import SUGGESTIONS
from bot.runtime.duties import Duty
from handlers.answers import ephemeral, ephemeral_reply
from handlers.buttons.decision_handler import say_beside
from handlers.buttons.draft_buttons import ClickReplies, DraftButtons, draft_evidence
from handlers.buttons.fix_buttons import FixButtons
from handlers.buttons.hand_over_buttons import HandOverButtons
from handlers.buttons.note_buttons import NoteButtons
from handlers.buttons.removed_buttons import RemovedButtons
from handlers.buttons.reply_buttons import AuditButtons, FeedbackButtons, ProofButton, TrustButtons
from handlers.commands.casework_commands import CaseworkCommands, metrics_command, notes_command, status_command
from handlers.commands.dispatcher import CommandDispatcher
from handlers.direct_messages import SessionQuestions
from handlers.home import HomeTab, HomeTeam
from handlers.names import NameBook
from handlers.shortcuts import Shortcuts
from handlers.team_router import TeamListeners, TeamRouter
from handlers.transport.workspace import SlackHistory


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamEdge:
    """Where one team is heard in Slack, and what it has on App Home; nothing reaches it before the router has it."""

    watcher: Watcher
    backfilling: Duty
    backfill: Backfill
    listeners: TeamListeners
    follow_mention: Callable[[MentionInstruction], None]
    home: HomeTeam


def build_team_edge(
    process: Process, core: TeamCore, questions: Questions, heartbeats: Heartbeats, home: HomeTab, router: TeamRouter
) -> TeamEdge:
    """Build it; what `router` brings back of missed messages goes to the team whose they are."""
    sessions = heartbeats.sessions
    watcher = _watcher(process, core, questions, heartbeats)
    backfilling = Duty("backfill", core.service.leases)
    commands = _commands(process, core, questions, heartbeats)
    return TeamEdge(
        watcher=watcher,
        backfilling=backfilling,
        backfill=_backfill(process, core, watcher, router, backfilling, heartbeats),
        listeners=_listeners(process, core, questions, heartbeats, home, watcher, commands, router),
        follow_mention=SessionQuestions(commands, process.slack.poster, questions.mentions).follow_instruction,
        home=HomeTeam(
            name=core.name,
            look=partial(_look, core, questions, sessions, process.clock),
            approvers=core.approvers,
            run_session=heartbeats.alert_buttons.run_session,
            has_session=lambda session_id: session_id in sessions.registry.names(),
            owned=partial(_owned, sessions),
        ),
    )


def _commands(process: Process, core: TeamCore, questions: Questions, heartbeats: Heartbeats) -> CommandDispatcher:
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
            "metrics": metrics_command(measure, questions.arming, approvers),
            "notes": notes_command(storage.notes, approvers),
            **casework.table(),
            **heartbeats.commands,
        },
        approvers,
    )


def _listeners(
    process: Process,
    core: TeamCore,
    questions: Questions,
    heartbeats: Heartbeats,
    home: HomeTab,
    watcher: Watcher,
    commands: CommandDispatcher,
    router: TeamRouter,
) -> TeamListeners:
    slack, service, approvers, ops_channel = process.slack, core.service, core.approvers, core.settings.ops_channel
    tell, code, secrets = ephemeral(slack.client, slack.poster), core.code, service.known_secrets
    say = say_beside(tell, ops_channel)
    answers = ClickReplies(tell, home, service.store, approvers, ops_channel=ops_channel)
    saving = Notes(service, address_prover(code.codebases, secrets))
    handing = HandOverButtons(questions.hand_overs, approvers, say=answers.say)
    notes = NoteButtons(saving, approvers, say=answers.say, team=core.name)
    runs, kept = questions.models.runs, core.storage.notes
    reader = EvidenceReader(repo=code.codebases, known_secrets=secrets, runs=runs, notes=kept)
    proofs = ProofReader(store=service.store, evidence=reader, workspace=slack.workspace, approvers=approvers)
    whisper = ephemeral_reply(slack.client)
    evidence = partial(draft_evidence, service.store, reader, code.link_to)
    buttons = (
        DraftButtons(
            questions.decisions,
            approvers,
            service.store,
            evidence=evidence,
            answers=answers,
            more={**notes.menu, **handing.menu},
        ),
        FixButtons(questions.patches.fixes, approvers, say=answers.say, known_secrets=secrets),
        notes,
        handing,
        AuditButtons(questions.auto_replies, approvers, say=say),
        TrustButtons(questions.arming, approvers, say=answers.say),
        FeedbackButtons(questions.feedback, whisper),
        ProofButton(proofs, code.link_to, whisper),
        heartbeats.alert_buttons,
        RemovedButtons(say),
        heartbeats.suggestion_buttons,
    )
    shortcut = Shortcuts(
        watcher,
        slack.workspace,
        team_id=slack.me.team_id,
        allow_external=core.settings.watcher.allow_external,
        whose=lambda: f"Team {core.name}: " if len(router.all()) > 1 else "",
    )
    return TeamListeners(
        team=core.name,
        ops_channel=ops_channel,
        watcher=watcher,
        approvers=approvers,
        commands=commands,
        shortcuts={ids.TRIAGE_THIS: shortcut.triage_this, ids.REMEMBER_THIS: notes.remember_this},
        actions=dict(chain.from_iterable(kind.actions.items() for kind in buttons)),
        views=dict(chain.from_iterable(kind.views.items() for kind in buttons)),
        owns=partial(_owns, core, heartbeats.sessions),
        has_card=lambda ts: any(one.card_ts == ts for one in service.store.open_threads()),
        owned=partial(_owned, heartbeats.sessions),
        say=say,
    )


def _owned(sessions: Sessions, user: str) -> frozenset[str]:
    """Return the sessions that belong to a user."""
    return frozenset(one.id for one in sessions.registry.all() if sessions.owners.claim(one, user))


def _owns(core: TeamCore, sessions: Sessions, name: str) -> bool:
    """Whether a thread, session or suggestion of this id, or this name, is the team's; the id is hostile until then."""
    store = core.service.store
    if name == ids.team_value(core.name) or name in sessions.registry.names() or store.get(name) is not None:
        return True
    kinds: tuple[CollectionSpec[Any], ...] = (SUGGESTIONS, AUTO_REPLIES)
    for kind in kinds:
        with suppress(InputError):
            if Collection(core.storage.documents, kind).find(name) is not None:
                return True
    with suppress(InputError):
        return store.last_closed(name) is not None
    return False


def _watcher(process: Process, core: TeamCore, questions: Questions, heartbeats: Heartbeats) -> Watcher:
    def hear(message: FollowUpArrived) -> None:
        """Take notice at once: the worker's places may be full, and a page rings meanwhile."""
        questions.orchestrator.note_follow_up(message)
        heartbeats.threads.hear(message.event)

    return Watcher(
        core.settings,
        process.slack.me,
        sorter=MessageSorter(
            rules=core.rules,
            bot_user_id=process.slack.me.user_id,
            ops_channel=core.settings.ops_channel,
            session_names=heartbeats.sessions.registry.names,
            is_under_alert=heartbeats.threads.holds,
        ),
        events=core.storage.journal(EVENTS),
        classified=core.storage.journal(CLASSIFIED),
        threads=core.service.store,
        jobs=core.service.jobs,
        shared=core.storage.shared,
        clock=process.clock,
        on_follow_up=hear,
    )


def _look(core: TeamCore, questions: Questions, sessions: Sessions, clock: Clock) -> HomeData:
    """Return what the team shows on App Home."""
    now = clock.now()
    facts = replace(core.card_facts, paused=lambda: None, pages=tuple)  # the page says it once, and notifies nobody
    threads = core.service.store.threads()
    cards: dict[str, list[Block]] = {}  # each is made once, for all who look at the page
    return HomeData(
        overview=overview(core.storage, now, core.code.ids),
        today=count_today(core.storage, now),
        sessions=rows(sessions.registry, sessions.store, sessions.owners, sessions.log, now),
        now=now,
        drafts={state.thread_id: state for state in threads if state.status is ThreadStatus.PENDING_USER},
        trust=questions.arming.case(),
        team=core.name,
        card=lambda state: cards.get(state.thread_id) or cards.setdefault(state.thread_id, card_blocks(state, facts)),
    )


def _backfill(
    process: Process, core: TeamCore, watcher: Watcher, router: TeamRouter, duty: Duty, heartbeats: Heartbeats
) -> Backfill:
    slack = process.slack
    return Backfill(
        core.settings,
        watcher,
        ChatToReadBack(
            history=SlackHistory(slack.history_client),
            team_id=slack.me.team_id,
            clock=slack.clock,
            set_clock=slack.check_clock,
        ),
        store=core.service.store,
        gaps=Gaps(core.single(GAPS)),
        say=core.ops.say,
        hear=lambda body: router.of_message(body).watcher.receive(body),
        also=heartbeats.threads.chats,
        may_read=duty.take,
    )
