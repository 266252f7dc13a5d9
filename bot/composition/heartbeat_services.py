"""Who carries out heartbeats, put together from settings: the scheduler that starts them, the beats, who is told.

Offline the beats compare what commands print; with models a cheap one screens them and a capable one works them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from bot.adapters.notify.telegram import TelegramSurface
from bot.adapters.notify.webhook import WebhookSurface
from bot.adapters.process.system_clock import local_zone
from bot.adapters.storage.files.decision_log import DecisionLogFile
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.session_files import SessionFiles
from bot.agent.budget import Allowance
from bot.agent.model_run import RunLimits
from bot.agent.prompts import prompt
from bot.agent.specialist import Specialist
from bot.composition.model_access import ModelAccess, stall_limit_s
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.domain.heartbeats.session_state import SessionOverride
from bot.domain.sharing.suggestions import Suggestion
from bot.heartbeat.alerts.alert_routing import AlertRouter, owner_or_ops
from bot.heartbeat.alerts.finding_responses import FindingResponses
from bot.heartbeat.alerts.page_reminders import Rings
from bot.heartbeat.playbooks.removed_checks import Removals
from bot.heartbeat.run.beat_record import BeatRecorder
from bot.heartbeat.run.beat_tools import BeatTools
from bot.heartbeat.run.beat_view import FullRun
from bot.heartbeat.run.beat_worker import BeatDependencies, BeatWorker
from bot.heartbeat.run.command_pool import CommandPool
from bot.heartbeat.run.full_run import BeatAnswer, ModelFullRun
from bot.heartbeat.run.inputs import InputCollector
from bot.heartbeat.run.offline_run import OfflineFullRun
from bot.heartbeat.run.pipeline import BeatPipeline
from bot.heartbeat.run.prescreen_step import LIMITS, PrescreenAnswer, PrescreenStep, parse_reply
from bot.heartbeat.run.probes import Probes
from bot.heartbeat.schedule.admission import Admission
from bot.heartbeat.schedule.beat_log import BeatLog
from bot.heartbeat.schedule.missed_beats import MissedBeatAlerts
from bot.heartbeat.schedule.scheduler import Scheduler
from bot.heartbeat.schedule.tracked_playbooks import TrackedPlaybooks
from bot.heartbeat.schedule.wake_box import WakeBox
from bot.heartbeat.sessions.assignments import Assigning
from bot.heartbeat.sessions.owner_zones import OwnerZones
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_faults import SessionFaults
from bot.heartbeat.sessions.session_inbox import SessionInbox
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from bot.heartbeat.sharing.peer_sessions import PeerSessions
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.sharing_tools import SharingTools
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions
from bot.ports import Clock, Documents, JobQueue, Surface, Workspace
from bot.ports.collections import OVERRIDES, REMOVED_CHECKS, SUGGESTIONS, Collection, SingleDocument

log = logging.getLogger(__name__)

BEAT_LIMIT_S = 600.0
ANSWER_TOKENS = 8_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What heartbeats share with the rest of the bot; `models` is None offline."""

    settings: Settings
    environment: Environment
    clock: Clock
    jobs: JobQueue
    workspace: Workspace
    surfaces: Mapping[str, Surface]
    models: ModelAccess | None
    secrets: frozenset[str]
    documents: Documents
    on_damage: Callable[[str], None]
    say: Callable[[str], None]
    """Says a line in the ops channel."""
    halted: Callable[[], str | None]
    """Says who has paused all of triage; None while nobody has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Heartbeats:
    """Everything heartbeats are made of, as the composition root and the handlers need it."""

    sessions: SessionRegistry
    owners: Owners
    store: SessionFiles
    overrides: Collection[SessionOverride]
    zones: OwnerZones
    scheduler: Scheduler
    beats: BeatWorker
    findings: FindingResponses
    rings: Rings
    log: BeatLog
    delivery: AlertRouter
    mail: SessionInbox
    assigning: Assigning
    suggestions: Collection[Suggestion]
    pollination: Pollination
    desk: SuggestionDecisions
    removals: Removals
    pool: CommandPool
    faults: SessionFaults
    tracked: TrackedPlaybooks

    def learn_zones(self) -> None:
        """Ask the chat for the owners' time zones where it is time to."""
        self.zones.refresh(self.sessions.all())


def build_heartbeats(around: Surroundings) -> Heartbeats:
    """Return the heartbeats of a data directory; nothing runs until the scheduler is ticked."""
    home, clock = around.environment.home, around.clock
    store = SessionFiles(home, on_damage=around.on_damage)
    overrides = Collection(around.documents, OVERRIDES, on_damage=around.on_damage)
    sessions = SessionRegistry(around.settings.sessions, overrides)
    zones = OwnerZones(around.workspace, clock, local=local_zone(around.environment.variables))
    log = BeatLog(NdjsonJournal(home / "heartbeats.ndjson"))
    owners = Owners(around.workspace, clock)
    delivery = AlertRouter(around.surfaces, store, on_duty=owners.on_duty, zone_of=zones.name)
    admission = Admission(store, zones, clock, route=delivery.route, halted=around.halted)
    alert_owner = owner_or_ops(delivery, clock, around.say)
    scheduler = Scheduler(
        sessions,
        store,
        around.jobs,
        admission,
        MissedBeatAlerts(store, zones, alert_owner),
        log,
        WakeBox(around.documents),
        clock,
    )
    suggestions = Collection(around.documents, SUGGESTIONS, on_damage=around.on_damage)
    mail = SessionInbox(sessions, store, scheduler.wake)
    pollination = Pollination(sessions, store, suggestions, mail, clock=clock, known_secrets=around.secrets)
    desk = SuggestionDecisions(sessions, suggestions, DecisionLogFile(home), clock)
    neighbours = PeerSessions(sessions, store, suggestions, pollination, mail)
    removals = Removals(SingleDocument(around.documents, REMOVED_CHECKS))
    probes = Probes(around.environment.variables, secrets=around.secrets)
    tracked = TrackedPlaybooks(sessions, store, clock, alert_owner)
    tracked.name()
    prescreen, full = _build_models(
        around, BeatTools(probes, around.clock, SharingTools(pollination, desk).tools_for, known_secrets=around.secrets)
    )
    look = InputCollector(probes, store, neighbours.collect, removals.of)
    pool = CommandPool(lambda name: look.ahead(sessions.get(name), clock.now()), around.jobs.look_again)
    room = BeatDependencies(
        sessions=sessions,
        store=store,
        admission=admission,
        retry=scheduler.retry,
        closing=scheduler.closing,
        look=look,
        course=BeatPipeline(prescreen, full, delivery, store),
        alert_owner=alert_owner,
        record=BeatRecorder(home / "runs", store, log, around.secrets),
        clock=clock,
        after=neighbours.report_to_master,
        ready=pool.take,
    )
    return Heartbeats(
        sessions=sessions,
        owners=owners,
        store=store,
        overrides=overrides,
        zones=zones,
        scheduler=scheduler,
        beats=BeatWorker(room),
        findings=FindingResponses(store, clock),
        rings=Rings(sessions, store, delivery, around.workspace, clock, zone_of=zones.name, say=around.say),
        log=log,
        delivery=delivery,
        mail=mail,
        assigning=Assigning(sessions, mail, around.secrets),
        suggestions=suggestions,
        pollination=pollination,
        desk=desk,
        removals=removals,
        pool=pool,
        faults=SessionFaults(sessions, store, clock, alert_owner, surfaces=around.surfaces),
        tracked=tracked,
    )


def other_surfaces(environment: Environment) -> dict[str, Surface]:
    """Return the ways to reach people besides Slack; Telegram needs a bot's token."""
    surfaces: dict[str, Surface] = {"webhook": WebhookSurface()}
    if environment.telegram_bot_token is not None:
        surfaces["telegram"] = TelegramSurface(environment.telegram_bot_token)
    return surfaces


def _build_models(around: Surroundings, tools: BeatTools) -> tuple[PrescreenStep | None, FullRun]:
    """Return who screens and who works the due tasks."""
    models = around.models
    if models is None:
        return None, OfflineFullRun()
    return PrescreenStep(_screener(models), tools.small), ModelFullRun(
        partial(_build_full_run, models, around), tools.all
    )


def _screener(models: ModelAccess) -> Callable[[Session], Specialist]:
    def of(session: Session) -> Specialist:
        answer = models.specialist(
            session.beat.heartbeat_model,
            prompt("prescreen"),
            PrescreenAnswer,
            limits=LIMITS,
            allowance=_allowance(session),
        )
        return replace(answer, read=parse_reply)

    return of


def _build_full_run(models: ModelAccess, around: Surroundings, session: Session) -> Specialist:
    limits = RunLimits(
        total_s=BEAT_LIMIT_S, stall_s=stall_limit_s(around.settings, around.environment), max_tokens=ANSWER_TOKENS
    )
    return models.specialist(
        session.beat.model, _allowed_tools(session), BeatAnswer, limits=limits, allowance=_allowance(session)
    )


def _allowed_tools(session: Session) -> str:
    """Return the job description; the master's begins with every session's words, so that they share the cache."""
    return "\n\n".join(map(prompt, ("heartbeat", "master") if session.is_master else ("heartbeat",)))


def _allowance(session: Session) -> Allowance | None:
    usd = session.beat.daily_budget_usd
    return None if usd is None else Allowance(usd=usd, whose=f"{session.name} today")
