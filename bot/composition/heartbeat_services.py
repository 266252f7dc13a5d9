"""Who carries out heartbeats, put together from settings: the scheduler that starts them, the beats, who is told.

Offline the beats compare what commands print; with models a cheap one screens them and a capable one works them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from bot.adapters.notify import TelegramSurface, WebhookSurface
from bot.adapters.process.clocks import local_zone
from bot.agent.budget import Allowance
from bot.agent.model_run import RunLimits
from bot.agent.prompts import prompt
from bot.agent.specialist import Specialist
from bot.composition.model_access import ModelAccess, stall_limit_s
from bot.composition.shared_services import SharedServices
from bot.config.environment import Environment
from bot.domain.heartbeats.session_state import SessionOverride
from bot.domain.sharing.suggestions import Suggestion
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.alerts.page_reminders import Rings
from bot.heartbeat.playbooks.playbook_file import Removals
from bot.heartbeat.run.beat_record import BeatRecorder
from bot.heartbeat.run.beat_tools import BeatTools
from bot.heartbeat.run.beat_view import FullRun
from bot.heartbeat.run.beat_worker import BeatWorker
from bot.heartbeat.run.inputs import CommandPool, InputCollector
from bot.heartbeat.run.model_steps import LIMITS, BeatAnswer, ModelFullRun, PrescreenAnswer, PrescreenStep, parse_reply
from bot.heartbeat.run.offline_run import OfflineFullRun
from bot.heartbeat.run.pipeline import BeatPipeline
from bot.heartbeat.run.probes import Probes
from bot.heartbeat.schedule.admission import Admission
from bot.heartbeat.schedule.beat_log import BeatLog
from bot.heartbeat.schedule.scheduler import Scheduler
from bot.heartbeat.schedule.session_faults import MissedBeatAlerts, SessionFaults
from bot.heartbeat.sessions.owners import Owners, OwnerZones
from bot.heartbeat.sessions.session_inbox import SessionInbox, WakeBox
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.heartbeat.sharing.peer_sessions import PeerSessions
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_decisions import SharingTools, SuggestionDecisions
from bot.ports import Surface
from bot.ports.collections import HEARTBEATS, OVERRIDES, REMOVED_CHECKS, SUGGESTIONS, Collection
from bot.runtime.duties import SessionDuties

BEAT_LIMIT_S = 600.0
ANSWER_TOKENS = 8_000


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionServices:
    """The sessions, what is remembered of them, whose they are, and the log of their beats."""

    registry: SessionRegistry
    store: SessionMemory
    overrides: Collection[SessionOverride]
    owners: Owners
    zones: OwnerZones
    log: BeatLog
    removals: Removals


@dataclass(frozen=True, kw_only=True, slots=True)
class SharingServices:
    """What sessions have to do with each other: messages, and suggestions on their way."""

    inbox: SessionInbox
    suggestions: Collection[Suggestion]
    pollination: Pollination
    decisions: SuggestionDecisions
    peers: PeerSessions


@dataclass(frozen=True, kw_only=True, slots=True)
class Heartbeats:
    """What is ticked, what carries out the beats, and what these work with."""

    sessions: SessionServices
    sharing: SharingServices
    scheduler: Scheduler
    worker: BeatWorker
    commands: CommandPool
    rings: Rings
    faults: SessionFaults
    here: SessionDuties

    def learn_zones(self) -> None:
        """Ask the chat for the owners' time zones where it is time to."""
        self.sessions.zones.refresh(self.sessions.registry.all())


def build_heartbeats(on: SharedServices, models: ModelAccess | None, slack: Surface) -> Heartbeats:
    """Return the heartbeats; nothing runs until the scheduler is ticked. Offline `models` is None."""
    surfaces = {"slack": slack, **_other_surfaces(on.environment)}
    sessions = _build_sessions(on)
    registry, store = sessions.registry, sessions.store
    alerts = AlertRouter(surfaces, store, sessions.owners, sessions.zones, on.clock, say=on.ops.say)
    here = SessionDuties(on.leases, registry.all)
    scheduler = _build_scheduler(on, sessions, alerts, here)
    sharing = _build_sharing(on, sessions, scheduler)
    worker, commands = _build_worker(on, models, sessions, sharing, scheduler, alerts)
    faults = SessionFaults(registry, store, on.clock, alerts, surfaces=surfaces, runs_elsewhere=here.elsewhere)
    faults.log_tracked_playbooks()
    zone_of, workspace = sessions.zones.zone_name, on.desk.workspace
    return Heartbeats(
        sessions=sessions,
        sharing=sharing,
        scheduler=scheduler,
        worker=worker,
        commands=commands,
        rings=Rings(registry, store, alerts, workspace, on.clock, zone_of=zone_of, say=on.ops.say),
        faults=faults,
        here=here,
    )


def _build_sessions(on: SharedServices) -> SessionServices:
    on_damage = partial(tell_of_damage, on)
    overrides = Collection(on.storage.documents, OVERRIDES, on_damage=on_damage)
    return SessionServices(
        registry=SessionRegistry(on.settings.sessions, overrides),
        store=SessionMemory(on.storage, on_damage=on_damage),
        overrides=overrides,
        owners=Owners(on.desk.workspace, on.clock),
        zones=OwnerZones(on.desk.workspace, on.clock, local=local_zone(on.environment.variables)),
        log=BeatLog(on.storage.journal(HEARTBEATS)),
        removals=Removals(on.single(REMOVED_CHECKS)),
    )


def _build_scheduler(
    on: SharedServices, sessions: SessionServices, alerts: AlertRouter, here: SessionDuties
) -> Scheduler:
    store, zones = sessions.store, sessions.zones
    admission = Admission(
        store, zones, on.clock, route=alerts.route, halted=on.pausing.words, runs_elsewhere=here.elsewhere
    )
    silence = MissedBeatAlerts(store, zones, alerts)
    wakes = WakeBox(on.storage.documents, is_shared=on.storage.shared is not None)
    return Scheduler(sessions.registry, store, on.jobs, admission, silence, sessions.log, wakes, on.clock)


def _build_sharing(on: SharedServices, sessions: SessionServices, scheduler: Scheduler) -> SharingServices:
    registry, store = sessions.registry, sessions.store
    suggestions = Collection(on.storage.documents, SUGGESTIONS, on_damage=partial(tell_of_damage, on))
    inbox = SessionInbox(registry, store, scheduler.wake)
    secrets = on.environment.secrets()
    pollination = Pollination(registry, store, suggestions, inbox, clock=on.clock, known_secrets=secrets)
    return SharingServices(
        inbox=inbox,
        suggestions=suggestions,
        pollination=pollination,
        decisions=SuggestionDecisions(registry, suggestions, on.storage.decisions, on.clock),
        peers=PeerSessions(registry, store, suggestions, pollination, inbox),
    )


def _build_worker(
    on: SharedServices,
    models: ModelAccess | None,
    sessions: SessionServices,
    sharing: SharingServices,
    scheduler: Scheduler,
    alerts: AlertRouter,
) -> tuple[BeatWorker, CommandPool]:
    registry, store, secrets = sessions.registry, sessions.store, on.environment.secrets()
    probes = Probes(on.environment.variables, secrets=secrets)
    inputs = InputCollector(registry, store, probes, on.clock, sessions.removals, sharing.peers)
    commands = CommandPool(inputs.run_ahead, on.jobs.look_again)
    exchange = SharingTools(sharing.pollination, sharing.decisions).tools_for
    tools = BeatTools(probes, on.clock, exchange, known_secrets=secrets)
    prescreen, full = _build_models(on, models, tools)
    pipeline = BeatPipeline(inputs, commands, prescreen, full, alerts, store)
    recorder = BeatRecorder(on.storage.runs, store, sessions.log, secrets)
    return BeatWorker(registry, store, scheduler, pipeline, recorder, alerts, sharing.peers, on.clock), commands


def tell_of_damage(on: SharedServices, where: str) -> None:
    """Say in the ops channel that a file was set aside."""
    on.ops.say(f"{where} was set aside: what it held could not be read.")


def _other_surfaces(environment: Environment) -> dict[str, Surface]:
    """Return the ways to reach people besides Slack; Telegram needs a bot's token."""
    surfaces: dict[str, Surface] = {"webhook": WebhookSurface()}
    if environment.telegram_bot_token is not None:
        surfaces["telegram"] = TelegramSurface(environment.telegram_bot_token)
    return surfaces


def _build_models(
    on: SharedServices, models: ModelAccess | None, tools: BeatTools
) -> tuple[PrescreenStep | None, FullRun]:
    """Return who screens and who works the due tasks."""
    if models is None:
        return None, OfflineFullRun()
    return PrescreenStep(partial(_build_screen, models), tools.small), ModelFullRun(
        partial(_build_full_run, models, on), tools.all
    )


def _build_screen(models: ModelAccess, session: Session) -> Specialist:
    cheap, answer = session.beat.heartbeat_model, PrescreenAnswer
    found = models.specialist(cheap, prompt("prescreen"), answer, limits=LIMITS, allowance=_allowance(session))
    return replace(found, read=parse_reply)


def _build_full_run(models: ModelAccess, on: SharedServices, session: Session) -> Specialist:
    limits = RunLimits(
        total_s=BEAT_LIMIT_S, stall_s=stall_limit_s(on.settings, on.environment), max_tokens=ANSWER_TOKENS
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
