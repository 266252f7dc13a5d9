"""Builds heartbeats: schedule, runs, alerts, and their cards, buttons and commands in Slack.

Offline the beats compare what commands print; with models a cheap one screens them and a capable one works them.

Builds what `heartbeat`, `tiers` and `pollinate` work on, for the bot and for a terminal that runs no beat.
"""

from __future__ import annotations

from collections.abc import Collection as Items
from functools import partial

from blocks import ids
from bot.adapters.notify import TelegramSurface, WebhookSurface
from bot.agent.model_run import RunLimits
from bot.agent.prompts import prompt
from bot.agent.specialist import Allowance, ModelAccess, Specialist
from bot.casework.approvers import Approvers
from bot.composition.investigators import stall_limit_s
from bot.composition.process import Process
from bot.composition.sessions import Sessions
from bot.composition.team_core import TeamCore
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import BeatReport
from bot.heartbeat.alert_routing import AlertRouter
from bot.heartbeat.pages import FindingResponses, PageThreads, Rings
from bot.heartbeat.run.beat_record import BeatRecorder, BeatView
from bot.heartbeat.run.beat_tools import BeatTools
from bot.heartbeat.run.beat_worker import BeatWorker
from bot.heartbeat.run.findings import report_by_code
from bot.heartbeat.run.inputs import InputCollector, PeerSessions
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
from bot.heartbeat.scheduler import Admission, Scheduler
from bot.heartbeat.session_controls import SessionFaults
from bot.heartbeat.session_registry import Owners, Session
from bot.ports import Surface
from bot.runtime.duties import SessionDuties
from handlers.answers import ephemeral
from handlers.buttons.alert_buttons import AlertActions, AlertButtons, SuggestionButtons
from handlers.buttons.decision_handler import say_beside
from handlers.cards.ops_cards import SlackAlerts, SuggestionCards
from handlers.commands.topics import SessionCommand

BEAT_LIMIT_S = 600.0
ANSWER_TOKENS = 8_000
WHAT_TO_FIND_OUT = "What is the cause, and what should be done?"


class Heartbeats:
    """What decides when beats run, what carries them out, and what people see, press and type of them in Slack.

    Built over the team's sessions; nothing runs before the first tick. Offline `models` is None.
    """

    def __init__(self, process: Process, core: TeamCore, models: ModelAccess | None) -> None:
        clock, secrets = process.clock, core.environment.secrets()
        owners = Owners(process.slack.workspace, clock, local=core.zone("local"))
        self.sessions = sessions = Sessions(
            core.storage, core.settings.sessions, owners, clock, on_damage=core.on_damage, known_secrets=secrets
        )
        registry, store, desk = sessions.registry, sessions.store, sessions.suggestions
        self.alerts = AlertRouter(_surfaces(process, core), store, clock, say=core.ops.say)
        self.here = SessionDuties(core.service.leases, registry.all)
        admission = Admission(
            owners, route=self.alerts.route, halted=core.pausing.words, runs_elsewhere=self.here.elsewhere
        )
        self.scheduler = Scheduler(registry, store, core.service.jobs, admission, sessions.log, sessions.wakes, clock)
        self.faults = SessionFaults(registry, store, clock, self.alerts, admission)
        peers, probes = PeerSessions(desk), Probes(core.environment.variables, secrets=secrets)
        tools = BeatTools(probes, peers.tools, known_secrets=secrets)
        self.worker = BeatWorker(
            registry,
            self.scheduler,
            InputCollector(store, probes, clock, sessions.removals, peers),
            _build_minds(core, models, tools, secrets),
            BeatRecorder(core.storage.runs, store, sessions.log, secrets),
            self.alerts,
            peers,
            clock,
        )
        self._face_people(process, core)

    def _face_people(self, process: Process, core: TeamCore) -> None:
        """Build rings, buttons and commands."""
        slack, sessions, registry, store = process.slack, self.sessions, self.sessions.registry, self.sessions.store
        owners, desk, ops_channel = sessions.owners, sessions.suggestions, core.settings.ops_channel
        responses = FindingResponses(store, self.alerts, process.clock)
        self.rings = Rings(registry, store, self.alerts, slack.workspace, process.clock, say=core.ops.say)
        self.threads = PageThreads(registry, store, owners, responses, allows=partial(_allows, core.approvers))
        say = say_beside(ephemeral(slack.client, slack.poster), ops_channel)
        actions = AlertActions(
            sessions=registry,
            owners=owners,
            findings=responses,
            wake=self.scheduler.wake,
            ask=partial(_ask_about, core),
        )
        self.alert_buttons = AlertButtons(actions, core.approvers, say=say)
        cards = SuggestionCards(slack.poster, desk.suggestions, ops_channel=ops_channel)
        self.suggestion_buttons = SuggestionButtons(desk, owners, cards, core.approvers, say=say)
        self.commands = {
            name: SessionCommand(answering, owners, core.approvers)
            for name, answering in sessions.answering(self.scheduler.wake, self.worker.cancel).items()
        }

    def learn_zones(self) -> None:
        """Ask the chat for the owners' time zones where it is time to."""
        self.sessions.owners.refresh(self.sessions.registry.all())


def _surfaces(process: Process, core: TeamCore) -> dict[str, Surface]:
    """Return the ways to reach people, by the names of the settings; Telegram needs a bot's token."""
    slack, telegram = process.slack, core.environment.telegram_bot_token
    alerts = SlackAlerts(slack.poster, members=slack.workspace.members)
    surfaces: dict[str, Surface] = {"slack": alerts, "webhook": WebhookSurface()}
    return surfaces if telegram is None else {**surfaces, "telegram": TelegramSurface(telegram)}


def _build_minds(core: TeamCore, models: ModelAccess | None, tools: BeatTools, secrets: Items[str]) -> Minds:
    """Return who screens and who works the due tasks."""
    if models is None:
        return Minds(report_by_code)

    def screen(view: BeatView) -> Screened:
        return prescreen(view, _build_screen(models, view.session), tools.small(view), secrets)

    def full(view: BeatView) -> BeatReport:
        return full_run(view, _build_full_run(models, core, view.session), tools.all(view), secrets)

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


def _build_full_run(models: ModelAccess, core: TeamCore, session: Session) -> Specialist:
    limits = RunLimits(
        total_s=BEAT_LIMIT_S, stall_s=stall_limit_s(core.settings, core.environment), max_tokens=ANSWER_TOKENS
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


def _allows(approvers: Approvers, user: str, team: str, owner: str) -> bool:
    """Whether somebody may decide about an alert; `owner` is their own id if they answer for its session, else ""."""
    return approvers.allow(user, team, owner=owner)


def _ask_about(core: TeamCore, session: Session, finding: OpenFinding, by: str) -> str:
    """Have a finding of a session looked into; return what becomes of it."""
    return core.ops_questions.ask(
        f"A heartbeat of {session.name} reports: {finding.text.strip()}\n\n{WHAT_TO_FIND_OUT}",
        by,
        mark=ids.asked_about_block_id(session.id, finding),
        codebases=core.code.about_session(session.id),
    )
