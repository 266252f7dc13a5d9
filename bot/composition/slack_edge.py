"""Builds the connection to Slack: the listeners, Socket Mode or HTTP, and the backfill of missed messages."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.cards.draft_card import card_blocks
from blocks.views.home_view import HomeData
from bot.agent.run_records import RunRecorder
from bot.casework.checks.shown_evidence import EvidenceReader
from bot.casework.orchestrator import Orchestrator
from bot.casework.reports.status_overview import count_today, overview
from bot.composition.casework_services import CaseworkServices
from bot.composition.heartbeat_services import Heartbeats, HeartbeatSlack
from bot.composition.process_services import ProcessServices
from bot.composition.session_services import SessionServices
from bot.composition.shared_services import SharedServices
from bot.domain.jobs import FollowUpArrived
from bot.domain.threads import ThreadState, ThreadStatus
from bot.errors import InputError
from bot.heartbeat.alerts.pages import PageThreads
from bot.heartbeat.schedule.session_rows import rows
from bot.intake.backfill.chat_backfill import Backfill, ChatToReadBack
from bot.intake.backfill.gaps import Gaps
from bot.intake.enqueue import MessageSorter
from bot.intake.watcher import IntakeStores, Watcher
from bot.ports.collections import (
    AUTO_REPLIES,
    CLASSIFIED,
    EVENTS,
    GAPS,
    PRESENCE,
    SUGGESTIONS,
    Collection,
    CollectionSpec,
)
from bot.runtime.duties import Duty
from handlers.answers import ephemeral_reply
from handlers.buttons.decision_handler import Listener
from handlers.buttons.draft_buttons import ClickReplies, DraftButtons, draft_evidence
from handlers.buttons.fix_buttons import FixButtons
from handlers.buttons.note_buttons import NoteButtons
from handlers.buttons.removed_buttons import RemovedButtons
from handlers.buttons.reply_buttons import FeedbackButtons
from handlers.commands.casework_commands import metrics_command, status_command
from handlers.commands.dispatcher import CommandDispatcher
from handlers.commands.notes_command import notes_command
from handlers.home import HomeTab, HomeTeam
from handlers.routes import bolt_app
from handlers.shortcuts import Shortcuts
from handlers.team_router import TeamListeners, TeamRouter
from handlers.transport.connection import Connection
from handlers.transport.slack_clients import brief_client
from handlers.transport.socket_connection import CONNECT_TIMEOUT_S, SocketConnection, socket_client
from handlers.transport.workspace import SlackHistory


class TeamEdge:
    """Where one team is heard in Slack, and what it has on App Home; nothing reaches it before the router has it."""

    def __init__(
        self,
        on: SharedServices,
        casework: CaseworkServices,
        heartbeats: Heartbeats,
        beats: HeartbeatSlack,
        home: HomeTab,
        router: TeamRouter,
    ) -> None:
        sessions = heartbeats.sessions
        names, owned = sessions.registry.names, partial(_owned, sessions)
        self.sorter = MessageSorter(
            rules=on.rules(),
            bot_user_id=on.slack.me.user_id,
            ops_channel=on.ops_channel,
            session_names=names,
            is_under_alert=beats.threads.holds,
        )
        self.watcher = _watcher(on, self.sorter, casework.questions.orchestrator, beats.threads)
        self.backfilling = Duty("backfill", on.leases)
        self.backfill = _backfill(on, self.watcher, router, self.backfilling, beats.threads)
        answers = ClickReplies(on.tell(), home, on.store, on.approvers, ops_channel=on.ops_channel)
        notes = NoteButtons(casework.notes, on.approvers, say=answers.say, team=on.team)
        shortcut = Shortcuts(
            self.watcher,
            on.service.workspace,
            team_id=on.slack.me.team_id,
            allow_external=on.settings.watcher.allow_external,
            whose=lambda: f"Team {on.team}: " if len(router.all()) > 1 else "",
        )
        self.listeners = TeamListeners(
            team=on.team,
            ops_channel=on.ops_channel,
            watcher=self.watcher,
            approvers=on.approvers,
            commands=_commands(on, casework, beats),
            shortcuts={ids.TRIAGE_THIS: shortcut.triage_this, ids.REMEMBER_THIS: notes.remember_this},
            **_buttons(on, casework, beats, answers, notes),
            owns=partial(_owns, on, sessions),
            has_card=lambda ts: any(one.card_ts == ts for one in on.store.open_threads()),
            say=on.say(),
            owned=owned,
        )
        self.home = HomeTeam(
            name=on.team,
            look=_look(on, sessions),
            approvers=on.approvers,
            run_session=beats.alerts.run_session,
            has_session=lambda session_id: session_id in names(),
            owned=owned,
        )


def connect_to_slack(
    process: ProcessServices,
    router: TeamRouter,
    home: HomeTab,
    executor: Executor,
    *,
    ear_secret: str | None,
    on_gap: Callable[[datetime], None],
) -> Connection:
    """Return the process's one line to Slack, for all teams; `ear_secret` is the app token, or the signing secret.

    None: this process has no line.
    """
    clock, slack = process.clock, process.settings.slack
    of_machine = process.single(PRESENCE, of_machine=True)
    if ear_secret is None:
        return Connection([of_machine], clock, on_gap, hears=False)
    places = [process.single(PRESENCE), *([of_machine] if process.engine.is_shared else [])]
    bolt = bolt_app(process.slack.client, process.slack.me, router, home, executor)
    if slack.mode == "socket":
        web_client = brief_client(ear_secret, process.environment.slack_api_url, timeout_s=CONNECT_TIMEOUT_S)
        return SocketConnection(bolt, socket_client(bolt, web_client), places, clock, on_gap)
    from handlers.transport.http_app import Signatures
    from handlers.transport.http_connection import HttpConnection
    from handlers.transport.http_server import HttpServer  # takes 50 ms and 3 MB to import

    server = HttpServer(host=slack.http.host, port=slack.http.port)
    return HttpConnection(bolt, Signatures(ear_secret, clock), server, places, clock, on_gap)


def _buttons(
    on: SharedServices, casework: CaseworkServices, beats: HeartbeatSlack, answers: ClickReplies, notes: NoteButtons
) -> dict[str, dict[str, Listener]]:
    """Return the listeners of the team's buttons, `actions`, and of its dialogues, `views`, by their ids."""
    secrets = on.environment.secrets()
    runs = RunRecorder(on.storage.runs, on.clock, secrets)
    reader = EvidenceReader(repo=on.code.codebases, known_secrets=secrets, runs=runs, notes=on.storage.notes)
    evidence = partial(draft_evidence, on.store, reader, on.code.link_to)
    kinds = (
        DraftButtons(
            casework.questions.decisions,
            on.approvers,
            on.store,
            evidence=evidence,
            answers=answers,
            more=notes.menu,
        ),
        FixButtons(casework.fixes.fixes, on.approvers, say=answers.say, known_secrets=on.environment.secrets()),
        notes,
        casework.questions.autonomy.buttons,
        FeedbackButtons(casework.upkeep.feedback, ephemeral_reply(on.slack.client)),
        beats.alerts,
        RemovedButtons(on.say()),
        beats.suggestions,
    )
    return {
        "actions": {name: listener for kind in kinds for name, listener in kind.actions.items()},
        "views": {name: listener for kind in kinds for name, listener in kind.views.items()},
    }


def _owned(sessions: SessionServices, user: str) -> frozenset[str]:
    """Return the sessions that belong to a user."""
    return frozenset(one.id for one in sessions.registry.all() if sessions.owners.claim(one, user))


def _owns(on: SharedServices, sessions: SessionServices, name: str) -> bool:
    """Whether a thread, session or suggestion of this id, or this name, is the team's; the id is hostile until then."""
    if name == ids.team_value(on.team) or name in sessions.registry.names() or on.store.get(name) is not None:
        return True
    kinds: tuple[CollectionSpec[Any], ...] = (SUGGESTIONS, AUTO_REPLIES)
    for kind in kinds:
        with suppress(InputError):
            if Collection(on.storage.documents, kind).find(name) is not None:
                return True
    with suppress(InputError):
        return on.store.last_closed(name) is not None
    return False


def _watcher(on: SharedServices, sorter: MessageSorter, orchestrator: Orchestrator, alerts: PageThreads) -> Watcher:
    def hear(message: FollowUpArrived) -> None:
        """Take notice at once: the worker's places may be full, and a page rings meanwhile."""
        orchestrator.note_follow_up(message)
        alerts.hear(message.event)

    return Watcher(
        on.settings,
        on.slack.me,
        sorter=sorter,
        stores=IntakeStores(
            events=on.storage.journal(EVENTS),
            classified=on.storage.journal(CLASSIFIED),
            threads=on.store,
            jobs=on.jobs,
            shared=on.storage.shared,
        ),
        clock=on.clock,
        on_follow_up=hear,
    )


def _commands(on: SharedServices, casework: CaseworkServices, beats: HeartbeatSlack) -> CommandDispatcher:
    return CommandDispatcher(
        {
            "status": status_command(on.storage, on.approvers, on.clock, on.code.ids, on.replicas),
            "metrics": metrics_command(on.metrics),
            "autonomy": casework.questions.autonomy.command,
            "notes": notes_command(on.storage.notes, on.approvers),
            **casework.commands.table(),
            **beats.commands,
        },
        team_id=on.slack.me.team_id,
        knows=on.approvers.knows,
    )


def _look(on: SharedServices, of: SessionServices) -> Callable[[], HomeData]:
    facts = replace(on.card_facts, paused=lambda: None, pages=tuple)  # the page says it once, and notifies nobody

    def look() -> HomeData:
        now = on.clock.now()
        waiting = {state.thread_id: state for state in on.store.threads() if state.status is ThreadStatus.PENDING_USER}
        return HomeData(
            overview=overview(on.storage, now, on.code.ids),
            today=count_today(on.storage, now),
            sessions=rows(of.registry, of.store, of.owners, of.log, now),
            now=now,
            drafts=waiting,
            card=_once(lambda state: card_blocks(state, facts)),
        )

    return look


def _once(card: Callable[[ThreadState], list[Block]]) -> Callable[[ThreadState], list[Block]]:
    """Return a function that makes each thread's card once, for all who look at the page."""
    made: dict[str, list[Block]] = {}

    def make(state: ThreadState) -> list[Block]:
        if state.thread_id not in made:
            made[state.thread_id] = card(state)
        return made[state.thread_id]

    return make


def _backfill(on: SharedServices, watcher: Watcher, router: TeamRouter, duty: Duty, alerts: PageThreads) -> Backfill:
    return Backfill(
        on.settings,
        watcher,
        ChatToReadBack(
            history=SlackHistory(on.slack.history_client),
            team_id=on.slack.me.team_id,
            clock=on.slack.clock,
            set_clock=on.slack.check_clock,
        ),
        store=on.store,
        gaps=Gaps(on.single(GAPS)),
        say=on.ops.say,
        hear=lambda body: router.of_message(body).watcher.receive(body),
        also=alerts.chats,
        may_read=duty.take,
    )
