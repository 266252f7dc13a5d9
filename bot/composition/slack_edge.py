"""The line to Slack, put together: what listens, over which connection, and what reads back what was missed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from slack_bolt import App
from slack_sdk import WebClient
from slack_sdk.models.blocks import Block

from blocks.cards.draft_card import card_blocks
from blocks.views.home_view import HomeData
from bot.casework.checks.evidence_reader import EvidenceReader
from bot.casework.orchestrator import Orchestrator
from bot.casework.reports.status_overview import count_today, overview
from bot.composition.casework_services import CaseworkServices
from bot.composition.heartbeat_services import Heartbeats, SessionServices
from bot.composition.heartbeat_slack import HeartbeatSlack
from bot.composition.shared_services import SharedServices
from bot.domain.threads import ThreadState, ThreadStatus
from bot.heartbeat.schedule.session_overview import rows
from bot.intake.backfill.chat_backfill import Backfill
from bot.intake.backfill.gaps import Gaps
from bot.intake.enqueue import MessageSorter
from bot.intake.watcher import Watcher
from bot.ports.collections import CLASSIFIED, EVENTS, GAPS, PRESENCE
from handlers.buttons.draft_buttons import ClickReplies, DraftButtons, EvidenceDialogue
from handlers.commands.dispatcher import CommandDispatcher
from handlers.commands.report_commands import metrics_command, status_command
from handlers.home import HomeTab
from handlers.routes import Listeners, bolt_app
from handlers.shortcuts import Shortcuts
from handlers.transport.http_app import Signatures
from handlers.transport.http_connection import HttpConnection
from handlers.transport.slack_clients import date_of, patient_client, translate_slack_errors
from handlers.transport.socket_connection import SlackConnection, others_line
from handlers.transport.workspace import SlackHistory


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackEdge:
    """Where Slack is heard."""

    sorter: MessageSorter
    watcher: Watcher
    connection: SlackConnection | HttpConnection
    backfill: Backfill
    home: HomeTab


def build_slack_edge(
    on: SharedServices,
    casework: CaseworkServices,
    heartbeats: Heartbeats,
    beats: HeartbeatSlack,
    executor: Executor,
    *,
    bot_token: str,
    ear_secret: str,
) -> SlackEdge:
    """Return the line to Slack, opened by its connection; `ear_secret` is the app token, or the signing secret."""
    home = _home(on, heartbeats.sessions, beats)
    sorter = MessageSorter(
        rules=on.rules(),
        bot_user_id=on.slack.me.user_id,
        ops_channel=on.ops_channel,
        session_names=heartbeats.sessions.registry.names,
    )
    watcher = _watcher(on, sorter, casework.questions.orchestrator)
    listeners = Listeners(
        watcher=watcher,
        approvals=_approvals(on, casework, home),
        alerts=beats.alerts,
        suggestions=beats.suggestions,
        commands=_commands(on, casework, beats),
        tiers=beats.tier_buttons,
        proposals=beats.proposal_buttons,
        shortcuts=Shortcuts(
            watcher,
            on.desk.workspace,
            team_id=on.slack.me.team_id,
            allow_external=on.settings.watcher.allow_external,
        ),
        home=home,
        lessons=casework.lesson_buttons,
    )
    bolt = bolt_app(bot_token, on.environment.slack_api_url, on.slack.me, listeners, executor)
    backfill = _backfill(on, watcher, bot_token)
    connect = _over_http if on.settings.slack.mode == "http" else _over_socket
    connection = connect(on, bolt, ear_secret, backfill)
    return SlackEdge(sorter=sorter, watcher=watcher, connection=connection, backfill=backfill, home=home)


def _watcher(on: SharedServices, sorter: MessageSorter, orchestrator: Orchestrator) -> Watcher:
    return Watcher(
        on.settings,
        on.slack.me,
        sorter=sorter,
        events=on.storage.journal(EVENTS),
        classified=on.storage.journal(CLASSIFIED),
        store=on.store,
        jobs=on.jobs,
        clock=on.clock,
        on_trouble=on.ops.say,
        on_follow_up=orchestrator.note_follow_up,
    )


def _commands(on: SharedServices, casework: CaseworkServices, beats: HeartbeatSlack) -> CommandDispatcher:
    return CommandDispatcher(
        {
            "status": status_command(on.storage, on.approvers, on.clock),
            "metrics": metrics_command(on.metrics),
            **casework.commands.table(),
            "heartbeat": beats.heartbeat,
            "tiers": beats.tiers,
            "pollinate": beats.pollinate,
        },
        team_id=on.slack.me.team_id,
        knows=on.approvers.knows,
    )


def _approvals(on: SharedServices, casework: CaseworkServices, home: HomeTab) -> DraftButtons:
    reader = EvidenceReader(repo=on.code.repo, known_secrets=on.environment.secrets())
    return DraftButtons(
        casework.questions.decisions,
        on.approvers,
        on.store,
        evidence=EvidenceDialogue(on.store, reader, on.code.link_to),
        answers=ClickReplies(on.tell(), home, on.store, on.approvers, ops_channel=on.ops_channel),
    )


def _home(on: SharedServices, of: SessionServices, beats: HeartbeatSlack) -> HomeTab:
    card = partial(
        card_blocks,
        link_to=on.code.link_to,
        team_language=on.settings.team_language,
        offers_notes=on.settings.save_notes == "ask",
    )

    def look() -> HomeData:
        now = on.clock.now()
        waiting = {state.thread_id: state for state in on.store.threads() if state.status is ThreadStatus.PENDING_USER}
        return HomeData(
            overview=overview(on.storage, now),
            today=count_today(on.storage, now),
            sessions=rows(of.registry, of.store, of.zones, of.log, now),
            now=now,
            drafts=waiting,
            card=_once(card),
        )

    return HomeTab(
        on.slack.client, look, on.approvers, on.clock, team_id=on.slack.me.team_id, run_session=beats.alerts.run_session
    )


def _once(card: Callable[[ThreadState], list[Block]]) -> Callable[[ThreadState], list[Block]]:
    """Return a function that makes each thread's card once, for all who look at the page."""
    made: dict[str, list[Block]] = {}

    def make(state: ThreadState) -> list[Block]:
        if state.thread_id not in made:
            made[state.thread_id] = card(state)
        return made[state.thread_id]

    return make


def _backfill(on: SharedServices, watcher: Watcher, bot_token: str) -> Backfill:
    client = patient_client(bot_token, on.environment.slack_api_url)

    def set_clock() -> None:
        with translate_slack_errors("tell its time"):
            on.slack.clock.note(date_of(client.auth_test().headers))

    return Backfill(
        on.settings,
        watcher,
        SlackHistory(client),
        team_id=on.slack.me.team_id,
        store=on.store,
        gaps=Gaps(on.single(GAPS)),
        clock=on.slack.clock,
        say=on.ops.say,
        set_clock=set_clock,
    )


def _over_socket(on: SharedServices, bolt: App, app_token: str, backfill: Backfill) -> SlackConnection:
    return SlackConnection(
        bolt,
        app_token,
        WebClient(token=app_token, base_url=on.environment.slack_api_url),
        stored=on.single(PRESENCE),
        clock=on.clock,
        on_session=backfill.open,
        on_others=lambda count: on.ops.note(others_line(count)),
        connections=on.settings.slack.connections,
    )


def _over_http(on: SharedServices, bolt: App, signing_secret: str, backfill: Backfill) -> HttpConnection:
    return HttpConnection(
        bolt,
        Signatures(signing_secret, on.clock),
        host=on.settings.slack.http.host,
        port=on.settings.slack.http.port,
        stored=on.single(PRESENCE),
        clock=on.clock,
        on_session=backfill.open,
    )
