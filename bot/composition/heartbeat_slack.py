"""Heartbeats, put together with their side of Slack: alerts, suggestions, proposals, commands about sessions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bot.composition.heartbeat_services import Heartbeats, Surroundings, build_heartbeats, other_surfaces
from bot.composition.model_access import ModelAccess
from bot.composition.shared_services import SharedServices
from bot.heartbeat.playbooks.proposal_matching import ProposalMatcher
from bot.heartbeat.playbooks.proposal_service import ProposalService, commands_not_allowed
from bot.heartbeat.playbooks.task_commands import TaskCommands
from bot.heartbeat.schedule.session_controls import SessionControls
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

    heartbeats: Heartbeats
    alerts: AlertButtons
    suggestion_office: SuggestionActions
    suggestions: SuggestionButtons
    proposals: ProposalService
    proposal_buttons: ProposalButtons
    heartbeat: HeartbeatCommand
    tiers: TiersCommand
    tier_buttons: TierButtons
    pollinate: PollinateCommand


def build_heartbeat_slack(on: SharedServices, models: ModelAccess | None) -> HeartbeatSlack:
    """Return heartbeats over the foundation; nothing runs until the scheduler is ticked."""
    surface = SlackAlerts(on.client, on.poster, on.publisher, members=on.desk.workspace.members)
    beats = _heartbeats(on, models, surface)
    office, proposals, tasks = _suggestion_office(on, beats), _proposals(on, beats), _tasks(on, beats)
    return HeartbeatSlack(
        heartbeats=beats,
        alerts=_alert_buttons(on, beats, surface),
        suggestion_office=office,
        suggestions=SuggestionButtons(office, say=on.say()),
        proposals=proposals,
        proposal_buttons=ProposalButtons(proposals, beats.sessions, beats.owners, on.approvers, say=on.say()),
        heartbeat=_heartbeat_command(on, beats),
        tiers=TiersCommand(
            sessions=beats.sessions,
            owners=beats.owners,
            desk=tasks,
            approvers=on.approvers,
            open_view=view_opener(on.posting),
        ),
        tier_buttons=TierButtons(beats.sessions, beats.owners, tasks, on.approvers, say=on.say()),
        pollinate=PollinateCommand(office=office, pollination=beats.pollination),
    )


def _heartbeats(on: SharedServices, models: ModelAccess | None, surface: SlackAlerts) -> Heartbeats:
    return build_heartbeats(
        Surroundings(
            settings=on.settings,
            environment=on.environment,
            clock=on.clock,
            jobs=on.jobs,
            workspace=on.desk.workspace,
            surfaces={"slack": surface, **other_surfaces(on.environment)},
            models=models,
            secrets=on.environment.secrets(),
            documents=on.documents,
            on_damage=partial(_tell_of_damage, on),
            say=on.ops.say,
            halted=on.pausing.words,
        )
    )


def _tell_of_damage(on: SharedServices, where: str) -> None:
    on.ops.say(f"{where} was set aside: what it held could not be read.")


def _alert_buttons(on: SharedServices, beats: Heartbeats, surface: SlackAlerts) -> AlertButtons:
    desk = AlertActions(
        sessions=beats.sessions,
        owners=beats.owners,
        findings=beats.findings,
        show=surface.show,
        wake=beats.scheduler.wake,
        ask=on.ask(),
        zone_of=beats.zones.name,
        clock=on.clock,
    )
    return AlertButtons(desk, on.approvers, say=on.say())


def _suggestion_office(on: SharedServices, beats: Heartbeats) -> SuggestionActions:
    return SuggestionActions(
        sessions=beats.sessions,
        owners=beats.owners,
        store=beats.suggestions,
        desk=beats.desk,
        cards=SuggestionCards(on.publisher, beats.suggestions, ops_channel=on.ops_channel),
        approvers=on.approvers,
    )


def _proposals(on: SharedServices, beats: Heartbeats) -> ProposalService:
    proposing = ProposalMatcher(
        sessions=beats.sessions,
        workspace=on.desk.workspace,
        clock=on.clock,
        allow_external=on.settings.watcher.allow_external,
        say=on.ops.say,
    )
    cards = ProposalCards(
        on.publisher,
        on.poster,
        ops_channel=on.ops_channel,
        bot_user_id=on.me.user_id,
        not_allowed=partial(commands_not_allowed, beats.sessions),
    )
    stored = Collection(on.documents, PROPOSALS, on_damage=partial(_tell_of_damage, on))
    return ProposalService(
        proposing, stored, cards, on.clock, require_private=on.desk.privacy.require, removals=beats.removals
    )


def _heartbeat_command(on: SharedServices, beats: Heartbeats) -> HeartbeatCommand:
    return HeartbeatCommand(
        sessions=beats.sessions,
        owners=beats.owners,
        store=beats.store,
        controls=SessionControls(beats.sessions, beats.overrides, beats.scheduler.wake, beats.beats.cancel),
        assigning=beats.assigning,
        record=beats.log,
        zones=beats.zones,
        approvers=on.approvers,
        clock=on.clock,
    )


def _tasks(on: SharedServices, beats: Heartbeats) -> TaskCommands:
    listed = on.single(TASK_LISTS)
    return TaskCommands(beats.sessions, beats.store, beats.zones, on.clock, listed, beats.removals)
