"""Builds heartbeats: schedule, runs, alerts, and their cards, buttons and commands in Slack.

Offline the beats compare what commands print; with models a cheap one screens them and a capable one works them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from blocks import ids
from bot.adapters.notify import TelegramSurface, WebhookSurface
from bot.agent.budget import Allowance
from bot.agent.model_run import RunLimits
from bot.agent.prompts import prompt
from bot.agent.specialist import ModelAccess, Specialist
from bot.composition.model_access import stall_limit_s
from bot.composition.shared_services import SharedServices
from bot.config.environment import Environment
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import Wake
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.alerts.finding_responses import FindingResponses, PageThreads
from bot.heartbeat.alerts.notifications import question_about
from bot.heartbeat.alerts.page_reminders import Rings
from bot.heartbeat.playbooks.playbook_file import Removals
from bot.heartbeat.playbooks.task_answers import TaskAnswers
from bot.heartbeat.playbooks.task_commands import TaskCommands
from bot.heartbeat.run.beat_record import BeatRecorder
from bot.heartbeat.run.beat_tools import BeatTools
from bot.heartbeat.run.beat_view import FullRun
from bot.heartbeat.run.beat_worker import BeatWorker
from bot.heartbeat.run.findings import report_by_code
from bot.heartbeat.run.inputs import CommandPool, InputCollector
from bot.heartbeat.run.model_steps import (
    FINISH_BEAT,
    LIMITS,
    FinishBeat,
    LastWords,
    ModelFullRun,
    Prescreen,
    PrescreenAnswer,
    PrescreenStep,
)
from bot.heartbeat.run.probes import Probes
from bot.heartbeat.schedule.admission import Admission
from bot.heartbeat.schedule.scheduler import Scheduler
from bot.heartbeat.schedule.session_controls import SessionControls
from bot.heartbeat.schedule.session_faults import SessionFaults
from bot.heartbeat.sessions.owners import Owners, OwnerZones
from bot.heartbeat.sessions.session_inbox import SessionInbox, WakeBox
from bot.heartbeat.sessions.session_registry import BeatLog, Session, SessionMemory, SessionRegistry
from bot.heartbeat.sharing.peer_sessions import PeerSessions
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_decisions import SharingStores, SuggestionDecisions, sharing_tools
from bot.ports import Surface
from bot.ports.collections import HEARTBEATS, OVERRIDES, REMOVED_CHECKS, SUGGESTIONS, TASK_LISTS
from bot.runtime.duties import SessionDuties
from handlers.buttons.alert_buttons import AlertActions, AlertButtons
from handlers.buttons.playbook_buttons import SuggestionActions, SuggestionButtons
from handlers.cards.alert_cards import SlackAlerts
from handlers.cards.ops_cards import SuggestionCards
from handlers.commands.heartbeat_command import HeartbeatCommand
from handlers.commands.pollinate_command import PollinateCommand
from handlers.commands.tiers_command import TiersCommand

BEAT_LIMIT_S = 600.0
ANSWER_TOKENS = 8_000
Wakes = Callable[[str, Wake], str]


class SessionServices:
    """The sessions, what is remembered of them, whose they are, and the log of their beats."""

    def __init__(self, on: SharedServices) -> None:
        workspace = on.service.workspace
        self.overrides = on.collection(OVERRIDES)
        self.registry = SessionRegistry(on.settings.sessions, self.overrides)
        self.store = SessionMemory(on.storage, on_damage=on.note_damage)
        self.owners = Owners(workspace)
        self.zones = OwnerZones(workspace, on.clock, local=on.zone("local"))
        self.log = BeatLog(on.storage.journal(HEARTBEATS))
        self.removals = Removals(on.single(REMOVED_CHECKS))


class SharingServices:
    """What sessions have to do with each other: messages, and suggestions on their way."""

    def __init__(self, on: SharedServices, sessions: SessionServices, wake: Wakes) -> None:
        registry, store, secrets = sessions.registry, sessions.store, on.environment.secrets()
        self.suggestions = on.collection(SUGGESTIONS)
        self.inbox = SessionInbox(registry, store, wake, secrets)
        stores = SharingStores(
            sessions=registry,
            states=store,
            suggestions=self.suggestions,
            decisions=on.storage.decisions,
            clock=on.clock,
        )
        self.decisions = SuggestionDecisions(stores)
        self.pollination = Pollination(self.decisions, known_secrets=secrets)
        self.peers = PeerSessions(stores, self.pollination)


class Heartbeats:
    """The scheduler of the beats, what carries them out, and what these work with; nothing runs before the first tick.

    Offline `models` is None.
    """

    def __init__(self, on: SharedServices, models: ModelAccess | None, slack: Surface) -> None:
        self.sessions = sessions = SessionServices(on)
        registry, store, zones, clock = sessions.registry, sessions.store, sessions.zones, on.clock
        surfaces = {"slack": slack, **_other_surfaces(on.environment)}
        alerts = AlertRouter(surfaces, store, clock, say=on.ops.say)
        self.here = SessionDuties(on.leases, registry.all)
        elsewhere = self.here.elsewhere
        admission = Admission(zones, route=alerts.route, halted=on.pausing.words, runs_elsewhere=elsewhere)
        wakes = WakeBox(on.storage.documents, is_shared=on.storage.shared is not None)
        self.scheduler = Scheduler(registry, store, on.jobs, admission, sessions.log, wakes, clock)
        self.sharing = SharingServices(on, sessions, self.scheduler.wake)
        self._build_worker(on, models, alerts)
        self.faults = SessionFaults(
            registry,
            store,
            clock,
            alerts,
            admission,
            has_model=models is not None,
        )
        self.rings = Rings(registry, store, alerts, on.service.workspace, clock, say=on.ops.say)

    def learn_zones(self) -> None:
        """Ask the chat for the owners' time zones where it is time to."""
        self.sessions.zones.refresh(self.sessions.registry.all())

    def _build_worker(self, on: SharedServices, models: ModelAccess | None, alerts: AlertRouter) -> None:
        sessions, sharing, secrets = self.sessions, self.sharing, on.environment.secrets()
        registry, store, peers = sessions.registry, sessions.store, sharing.peers
        probes = Probes(on.environment.variables, secrets=secrets)
        inputs = InputCollector(registry, store, probes, on.clock, sessions.removals, peers)
        self.commands = CommandPool(inputs.run_ahead, on.jobs.look_again)
        exchange = partial(sharing_tools, sharing.pollination.send, sharing.decisions)
        tools = BeatTools(probes, on.clock, exchange, known_secrets=secrets)
        prescreen, full = _build_models(on, models, tools)
        recorder = BeatRecorder(on.storage.runs, store, sessions.log, secrets)
        self.worker = BeatWorker(
            registry,
            store,
            self.scheduler,
            inputs,
            self.commands,
            prescreen,
            full,
            recorder,
            alerts,
            peers,
            on.clock,
        )


def _other_surfaces(environment: Environment) -> dict[str, Surface]:
    """Return the ways to reach people besides Slack; Telegram needs a bot's token."""
    surfaces: dict[str, Surface] = {"webhook": WebhookSurface()}
    if environment.telegram_bot_token is not None:
        surfaces["telegram"] = TelegramSurface(environment.telegram_bot_token)
    return surfaces


def _build_models(on: SharedServices, models: ModelAccess | None, tools: BeatTools) -> tuple[Prescreen | None, FullRun]:
    """Return who screens and who works the due tasks."""
    if models is None:
        return None, report_by_code
    screen = PrescreenStep(partial(_build_screen, models), tools.small)
    return screen.decide, ModelFullRun(partial(_build_full_run, models, on), tools.all).run


def _build_screen(models: ModelAccess, session: Session) -> Specialist:
    return Specialist(
        access=models,
        model=session.beat.heartbeat_model,
        system=prompt("prescreen"),
        answer=PrescreenAnswer,
        limits=LIMITS,
        allowance=_allowance(session),
        read=LastWords,
        effort="low",
        thinks=False,  # it would leave no room for the answer in so few tokens
    )


def _build_full_run(models: ModelAccess, on: SharedServices, session: Session) -> Specialist:
    limits = RunLimits(
        total_s=BEAT_LIMIT_S, stall_s=stall_limit_s(on.settings, on.environment), max_tokens=ANSWER_TOKENS
    )
    return Specialist(
        access=models,
        model=session.beat.model,
        system=_allowed_tools(session),
        answer=FinishBeat,
        final=FINISH_BEAT,
        read=LastWords,
        limits=limits,
        allowance=_allowance(session),
    )


def _allowed_tools(session: Session) -> str:
    """Return the job description; the master's begins with every session's words, so that they share the cache."""
    return "\n\n".join(map(prompt, ("heartbeat", "master") if session.is_master else ("heartbeat",)))


def _allowance(session: Session) -> Allowance | None:
    usd = session.beat.daily_budget_usd
    return None if usd is None else Allowance(usd=usd, whose=f"{session.name} today")


def alert_surface(on: SharedServices) -> SlackAlerts:
    """Return what shows alerts in Slack."""
    return SlackAlerts(
        on.slack.client,
        on.slack.poster,
        on.slack.publisher,
        members=on.service.workspace.members,
    )


class HeartbeatSlack:
    """What people see of heartbeats in Slack, and press and type there."""

    def __init__(self, on: SharedServices, beats: Heartbeats, surface: SlackAlerts) -> None:
        of, sharing, say = beats.sessions, beats.sharing, on.say()
        registry, owners, store = of.registry, of.owners, of.store
        responses = FindingResponses(store, surface, on.clock)
        self.threads = PageThreads(registry, store, owners, responses, allows=partial(_allows, on))
        self.alerts = _alert_buttons(on, beats, responses)
        self.suggestion_actions = SuggestionActions(
            sessions=registry,
            owners=owners,
            store=sharing.suggestions,
            decisions=sharing.decisions,
            cards=SuggestionCards(on.slack.publisher, sharing.suggestions, ops_channel=on.ops_channel),
            approvers=on.approvers,
        )
        self.suggestions = SuggestionButtons(self.suggestion_actions, say=say)
        self.pollinate = PollinateCommand(actions=self.suggestion_actions, pollination=sharing.pollination)
        self.heartbeat = HeartbeatCommand(
            controls=SessionControls(
                sessions=registry,
                store=store,
                zones=of.zones,
                record=of.log,
                overrides=of.overrides,
                inbox=sharing.inbox,
                wake=beats.scheduler.wake,
                cancel=beats.worker.cancel,
            ),
            owners=owners,
            approvers=on.approvers,
            clock=on.clock,
        )
        tasks = TaskCommands(registry, store, of.zones, on.clock, on.single(TASK_LISTS), of.removals)
        self.tiers = TiersCommand(sessions=registry, owners=owners, answers=TaskAnswers(tasks), approvers=on.approvers)


def _allows(on: SharedServices, user: str, team: str, owner: str) -> bool:
    """Whether somebody may decide about an alert; `owner` is their own id if they answer for its session, else ""."""
    return on.approvers.allow(user, team, owner=owner)


def _alert_buttons(on: SharedServices, beats: Heartbeats, responses: FindingResponses) -> AlertButtons:
    def ask(session: Session, finding: OpenFinding, by: str) -> str:
        return on.questions.ask(
            question_about(session.name, finding.text),
            by,
            mark=ids.asked_about_block_id(session.id, finding),
            codebases=on.code.about_session(session.id),
        )

    of = beats.sessions
    actions = AlertActions(
        sessions=of.registry, owners=of.owners, findings=responses, wake=beats.scheduler.wake, ask=ask
    )
    return AlertButtons(actions, on.approvers, say=on.say())
