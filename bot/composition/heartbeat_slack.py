"""Heartbeats, put together with their side of Slack: alerts, suggestions, proposals, commands about sessions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bot.composition.heartbeat_services import Heartbeats, tell_of_damage
from bot.composition.model_access import uses_models
from bot.composition.shared_services import SharedServices
from bot.heartbeat.alerts.finding_responses import FindingResponses
from bot.heartbeat.playbooks.proposal_matching import ProposalMatcher
from bot.heartbeat.playbooks.proposal_service import ProposalService, commands_not_allowed
from bot.heartbeat.playbooks.task_commands import TaskCommands
from bot.heartbeat.schedule.session_controls import SessionControls
from bot.heartbeat.sessions.session_inbox import Assigning
from bot.ports.collections import PROPOSALS, TASK_LISTS, Collection
from handlers.buttons.alert_buttons import AlertActions, AlertButtons
from handlers.buttons.proposal_buttons import ProposalButtons
from handlers.buttons.suggestion_buttons import SuggestionActions, SuggestionButtons
from handlers.buttons.tier_buttons import TierButtons
from handlers.cards.alert_cards import SlackAlerts
from handlers.cards.proposal_cards import ProposalCards
from handlers.cards.suggestion_cards import SuggestionCards
from handlers.commands.heartbeat_command import HeartbeatCommand
from handlers.commands.pollinate_command import PollinateCommand
from handlers.commands.tiers_command import TiersCommand, view_opener


@dataclass(frozen=True, kw_only=True, slots=True)
class HeartbeatSlack:
    """The part of the bot that looks after sessions."""

    alerts: AlertButtons
    suggestion_office: SuggestionActions
    suggestions: SuggestionButtons
    proposals: ProposalService
    proposal_buttons: ProposalButtons
    heartbeat: HeartbeatCommand
    tiers: TiersCommand
    tier_buttons: TierButtons
    pollinate: PollinateCommand


def alert_surface(on: SharedServices) -> SlackAlerts:
    """Return what shows alerts in Slack."""
    return SlackAlerts(
        on.slack.client,
        on.slack.poster,
        on.slack.publisher,
        members=on.desk.workspace.members,
        offers_fix=uses_models(on.settings, on.environment),
    )


def build_heartbeat_slack(on: SharedServices, beats: Heartbeats, surface: SlackAlerts) -> HeartbeatSlack:
    """Return what people see of heartbeats in Slack, and press and type there."""
    registry, owners = beats.sessions.registry, beats.sessions.owners
    office, proposals, tasks = _suggestion_office(on, beats), _proposals(on, beats), _tasks(on, beats)
    return HeartbeatSlack(
        alerts=_alert_buttons(on, beats, surface),
        suggestion_office=office,
        suggestions=SuggestionButtons(office, say=on.say()),
        proposals=proposals,
        proposal_buttons=ProposalButtons(proposals, registry, owners, on.approvers, say=on.say()),
        heartbeat=_heartbeat_command(on, beats),
        tiers=TiersCommand(
            sessions=registry,
            owners=owners,
            desk=tasks,
            approvers=on.approvers,
            open_view=view_opener(on.slack.posting),
        ),
        tier_buttons=TierButtons(registry, owners, tasks, on.approvers, say=on.say()),
        pollinate=PollinateCommand(office=office, pollination=beats.sharing.pollination),
    )


def _alert_buttons(on: SharedServices, beats: Heartbeats, surface: SlackAlerts) -> AlertButtons:
    desk = AlertActions(
        sessions=beats.sessions.registry,
        owners=beats.sessions.owners,
        findings=FindingResponses(beats.sessions.store, on.clock),
        show=surface.show,
        wake=beats.scheduler.wake,
        ask=on.ask(),
        zone_of=beats.sessions.zones.zone_name,
        clock=on.clock,
    )
    return AlertButtons(desk, on.approvers, say=on.say())


def _suggestion_office(on: SharedServices, beats: Heartbeats) -> SuggestionActions:
    return SuggestionActions(
        sessions=beats.sessions.registry,
        owners=beats.sessions.owners,
        store=beats.sharing.suggestions,
        desk=beats.sharing.decisions,
        cards=SuggestionCards(on.slack.publisher, beats.sharing.suggestions, ops_channel=on.ops_channel),
        approvers=on.approvers,
    )


def _proposals(on: SharedServices, beats: Heartbeats) -> ProposalService:
    proposing = ProposalMatcher(
        sessions=beats.sessions.registry,
        workspace=on.desk.workspace,
        clock=on.clock,
        allow_external=on.settings.watcher.allow_external,
        say=on.ops.say,
    )
    cards = ProposalCards(
        on.slack.publisher,
        on.slack.poster,
        ops_channel=on.ops_channel,
        bot_user_id=on.slack.me.user_id,
        not_allowed=partial(commands_not_allowed, beats.sessions.registry),
    )
    stored = Collection(on.storage.documents, PROPOSALS, on_damage=partial(tell_of_damage, on))
    return ProposalService(
        proposing,
        stored,
        cards,
        on.clock,
        require_private=on.desk.cards.guard.require,
        removals=beats.sessions.removals,
    )


def _heartbeat_command(on: SharedServices, beats: Heartbeats) -> HeartbeatCommand:
    return HeartbeatCommand(
        sessions=beats.sessions.registry,
        owners=beats.sessions.owners,
        store=beats.sessions.store,
        controls=SessionControls(
            beats.sessions.registry, beats.sessions.overrides, beats.scheduler.wake, beats.worker.cancel
        ),
        assigning=Assigning(beats.sessions.registry, beats.sharing.inbox, on.environment.secrets()),
        record=beats.sessions.log,
        zones=beats.sessions.zones,
        approvers=on.approvers,
        clock=on.clock,
    )


def _tasks(on: SharedServices, beats: Heartbeats) -> TaskCommands:
    listed = on.single(TASK_LISTS)
    of = beats.sessions
    return TaskCommands(of.registry, of.store, of.zones, on.clock, listed, of.removals)
