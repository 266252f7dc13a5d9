"""Builds heartbeats: schedule, runs, alerts, and their cards, buttons and commands in Slack.

Offline the beats compare what commands print; with models a cheap one screens them and a capable one works them.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from blocks import ids
from bot.adapters.notify import TelegramSurface, WebhookSurface
from bot.agent.budget import Allowance
from bot.agent.model_run import RunLimits
from bot.agent.prompts import prompt
from bot.agent.specialist import ModelAccess, Specialist
from bot.composition.model_access import stall_limit_s
from bot.composition.session_services import SessionServices
from bot.composition.shared_services import SharedServices
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import BeatReport
from bot.heartbeat.alerts.alert_routing import AlertRouter
from bot.heartbeat.alerts.finding_responses import FindingResponses
from bot.heartbeat.alerts.pages import PageThreads, Rings
from bot.heartbeat.run.beat_record import BeatRecorder, BeatView
from bot.heartbeat.run.beat_tools import BeatTools
from bot.heartbeat.run.beat_worker import BeatWorker
from bot.heartbeat.run.findings import report_by_code
from bot.heartbeat.run.inputs import InputCollector
from bot.heartbeat.run.model_steps import (
    FINISH_BEAT,
    LIMITS,
    FinishBeat,
    LastWords,
    Minds,
    PrescreenAnswer,
    Screened,
    full_run,
    prescreen,
)
from bot.heartbeat.run.probes import Probes
from bot.heartbeat.schedule.scheduler import Admission, Scheduler
from bot.heartbeat.schedule.session_faults import SessionFaults
from bot.heartbeat.sessions.session_registry import Owners, Session
from bot.heartbeat.sharing.peer_sessions import PeerSessions
from bot.ports import Surface
from bot.runtime.duties import SessionDuties
from handlers.buttons.alert_buttons import AlertActions, AlertButtons
from handlers.buttons.playbook_buttons import SuggestionButtons
from handlers.cards.alert_cards import SlackAlerts
from handlers.cards.ops_cards import SuggestionCards
from handlers.commands.session_command import SessionCommand

BEAT_LIMIT_S = 600.0
ANSWER_TOKENS = 8_000
WHAT_TO_FIND_OUT = "What is the cause, and what should be done?"


class Heartbeats:
    """The scheduler of the beats, what carries them out, and what these work with; nothing runs before the first tick.

    Offline `models` is None.
    """

    def __init__(self, on: SharedServices, models: ModelAccess | None) -> None:
        self.sessions = sessions = SessionServices(
            on.storage,
            on.settings.sessions,
            Owners(on.service.workspace, on.clock, local=on.zone("local")),
            on.clock,
            on_damage=on.note_damage,
            known_secrets=on.environment.secrets(),
        )
        registry, store, zones, clock = sessions.registry, sessions.store, sessions.owners, on.clock
        self.alerts = alerts = AlertRouter(_surfaces(on), store, clock, say=on.ops.say)
        self.here = SessionDuties(on.leases, registry.all)
        elsewhere = self.here.elsewhere
        admission = Admission(zones, route=alerts.route, halted=on.pausing.words, runs_elsewhere=elsewhere)
        self.scheduler = Scheduler(registry, store, on.jobs, admission, sessions.log, sessions.wakes, clock)
        self.suggestions = sessions.suggestions
        self._build_worker(on, models, alerts)
        self.faults = SessionFaults(registry, store, clock, alerts, admission)
        self.rings = Rings(registry, store, alerts, on.service.workspace, clock, say=on.ops.say)

    def learn_zones(self) -> None:
        """Ask the chat for the owners' time zones where it is time to."""
        self.sessions.owners.refresh(self.sessions.registry.all())

    def _build_worker(self, on: SharedServices, models: ModelAccess | None, alerts: AlertRouter) -> None:
        sessions, secrets = self.sessions, on.environment.secrets()
        registry, store, peers = sessions.registry, sessions.store, PeerSessions(self.suggestions)
        probes = Probes(on.environment.variables, secrets=secrets)
        inputs = InputCollector(store, probes, on.clock, sessions.removals, peers)
        tools = BeatTools(probes, peers.tools, known_secrets=secrets)
        minds = _build_minds(on, models, tools, secrets)
        recorder = BeatRecorder(on.storage.runs, store, sessions.log, secrets)
        self.worker = BeatWorker(
            registry,
            store,
            self.scheduler,
            inputs,
            minds,
            recorder,
            alerts,
            peers,
            on.clock,
        )


def _surfaces(on: SharedServices) -> dict[str, Surface]:
    """Return the ways to reach people, by the names of the settings; Telegram needs a bot's token."""
    slack = SlackAlerts(on.slack.poster, members=on.service.workspace.members)
    surfaces: dict[str, Surface] = {"slack": slack, "webhook": WebhookSurface()}
    if on.environment.telegram_bot_token is not None:
        surfaces["telegram"] = TelegramSurface(on.environment.telegram_bot_token)
    return surfaces


def _build_minds(on: SharedServices, models: ModelAccess | None, tools: BeatTools, secrets: Collection[str]) -> Minds:
    """Return who screens and who works the due tasks."""
    if models is None:
        return Minds(report_by_code)

    def screen(view: BeatView) -> Screened:
        return prescreen(view, _build_screen(models, view.session), tools.small(view), secrets)

    def full(view: BeatView) -> BeatReport:
        return full_run(view, _build_full_run(models, on, view.session), tools.all(view), secrets)

    return Minds(full, screen)


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


class HeartbeatSlack:
    """What people see of heartbeats in Slack, and press and type there."""

    def __init__(self, on: SharedServices, beats: Heartbeats) -> None:
        of, say = beats.sessions, on.say()
        registry, owners, store = of.registry, of.owners, of.store
        responses = FindingResponses(store, beats.alerts, on.clock)
        self.threads = PageThreads(registry, store, owners, responses, allows=partial(_allows, on))
        self.alerts = _alert_buttons(on, beats, responses)
        cards = SuggestionCards(on.slack.poster, of.suggestions.suggestions, ops_channel=on.ops_channel)
        self.suggestions = SuggestionButtons(of.suggestions, owners, cards, on.approvers, say=say)
        self.commands = {
            name: SessionCommand(name, answering, owners, on.approvers)
            for name, answering in of.answering(beats.scheduler.wake, beats.worker.cancel).items()
        }


def _allows(on: SharedServices, user: str, team: str, owner: str) -> bool:
    """Whether somebody may decide about an alert; `owner` is their own id if they answer for its session, else ""."""
    return on.approvers.allow(user, team, owner=owner)


def _alert_buttons(on: SharedServices, beats: Heartbeats, responses: FindingResponses) -> AlertButtons:
    def ask(session: Session, finding: OpenFinding, by: str) -> str:
        return on.questions.ask(
            f"A heartbeat of {session.name} reports: {finding.text.strip()}\n\n{WHAT_TO_FIND_OUT}",
            by,
            mark=ids.asked_about_block_id(session.id, finding),
            codebases=on.code.about_session(session.id),
        )

    of = beats.sessions
    actions = AlertActions(
        sessions=of.registry, owners=of.owners, findings=responses, wake=beats.scheduler.wake, ask=ask
    )
    return AlertButtons(actions, on.approvers, say=on.say())
