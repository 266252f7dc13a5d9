"""Heartbeats, put together with their side of Slack: alerts, suggestions, proposals, commands about sessions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bot.adapters.storage.files.proposal_files import ProposalFiles
from bot.composition.heartbeat_services import Heartbeats, Surroundings, heartbeats, other_surfaces
from bot.composition.model_access import Models
from bot.composition.shared_services import Foundation
from bot.heartbeat.playbooks.proposal_matching import Proposing
from bot.heartbeat.playbooks.proposal_service import Proposals, commands_not_allowed
from bot.heartbeat.playbooks.task_commands import TaskDesk
from bot.heartbeat.schedule.session_controls import Controls
from handlers.buttons.alert_buttons import AlertButtons, AlertDesk
from handlers.buttons.proposal_buttons import ProposalButtons
from handlers.buttons.suggestion_buttons import SuggestionButtons, SuggestionOffice
from handlers.cards.alert_cards import SlackAlerts
from handlers.cards.proposal_cards import SlackProposals
from handlers.cards.suggestion_cards import SuggestionCards
from handlers.commands.heartbeat_command import HeartbeatCommand
from handlers.commands.pollinate_command import PollinateCommand
from handlers.commands.tiers_command import Tiers, view_opener, view_updater


@dataclass(frozen=True, kw_only=True, slots=True)
class Beats:
    """The part of the bot that looks after sessions."""

    heartbeats: Heartbeats
    alerts: AlertButtons
    suggestion_office: SuggestionOffice
    suggestions: SuggestionButtons
    proposals: Proposals
    proposal_buttons: ProposalButtons
    heartbeat: HeartbeatCommand
    tiers: Tiers
    pollinate: PollinateCommand


def wire_beats(on: Foundation, models: Models | None) -> Beats:
    """Return heartbeats over the foundation; nothing runs until the scheduler is ticked."""
    surface = SlackAlerts(on.client, on.poster, members=on.desk.workspace.members)
    beats = _heartbeats(on, models, surface)
    office, proposals = _suggestion_office(on, beats), _proposals(on, beats)
    return Beats(
        heartbeats=beats,
        alerts=_alert_buttons(on, beats, surface),
        suggestion_office=office,
        suggestions=SuggestionButtons(office, ops_channel=on.ops_channel, tell=on.tell()),
        proposals=proposals,
        proposal_buttons=ProposalButtons(
            proposals,
            beats.sessions,
            beats.owners,
            on.approvers,
            ops_channel=on.ops_channel,
            tell=on.tell(),
        ),
        heartbeat=_heartbeat_command(on, beats),
        tiers=_tiers(on, beats),
        pollinate=PollinateCommand(office=office, pollination=beats.pollination),
    )


def _heartbeats(on: Foundation, models: Models | None, surface: SlackAlerts) -> Heartbeats:
    return heartbeats(
        Surroundings(
            settings=on.settings,
            environment=on.environment,
            clock=on.clock,
            jobs=on.jobs,
            workspace=on.desk.workspace,
            surfaces={"slack": surface, **other_surfaces(on.environment)},
            models=models,
            secrets=on.environment.secrets(),
            on_damage=partial(_tell_of_damage, on),
            say=on.ops.say,
            halted=on.pausing.words,
        )
    )


def _tell_of_damage(on: Foundation, path: Path) -> None:
    on.ops.say(f"{path} was set aside: what it held could not be read.")


def _alert_buttons(on: Foundation, beats: Heartbeats, surface: SlackAlerts) -> AlertButtons:
    desk = AlertDesk(
        sessions=beats.sessions,
        owners=beats.owners,
        findings=beats.findings,
        show=surface.show,
        wake=beats.scheduler.wake,
        ask=on.ask(),
        zone_of=beats.zones.name,
        clock=on.clock,
    )
    return AlertButtons(desk, on.approvers, tell=on.tell())


def _suggestion_office(on: Foundation, beats: Heartbeats) -> SuggestionOffice:
    return SuggestionOffice(
        sessions=beats.sessions,
        owners=beats.owners,
        store=beats.suggestions,
        desk=beats.desk,
        cards=SuggestionCards(on.client, on.poster, beats.suggestions, ops_channel=on.ops_channel),
        approvers=on.approvers,
    )


def _proposals(on: Foundation, beats: Heartbeats) -> Proposals:
    proposing = Proposing(
        sessions=beats.sessions,
        workspace=on.desk.workspace,
        clock=on.clock,
        bot_user_id=on.me.user_id,
        allow_external=on.settings.watcher.allow_external,
        say=on.ops.say,
    )
    cards = SlackProposals(
        on.client,
        on.poster,
        ops_channel=on.ops_channel,
        bot_user_id=on.me.user_id,
        not_allowed=partial(commands_not_allowed, beats.sessions),
    )
    files = ProposalFiles(on.home, on_damage=partial(_tell_of_damage, on))
    return Proposals(
        proposing, files, cards, on.clock, require_private=on.desk.privacy.require, removals=beats.removals
    )


def _heartbeat_command(on: Foundation, beats: Heartbeats) -> HeartbeatCommand:
    return HeartbeatCommand(
        sessions=beats.sessions,
        owners=beats.owners,
        store=beats.store,
        controls=Controls(beats.sessions, beats.overrides, beats.scheduler.wake, beats.beats.cancel),
        assigning=beats.assigning,
        record=beats.log,
        zones=beats.zones,
        approvers=on.approvers,
        clock=on.clock,
    )


def _tiers(on: Foundation, beats: Heartbeats) -> Tiers:
    listed = on.slate("listed.json")
    return Tiers(
        sessions=beats.sessions,
        owners=beats.owners,
        desk=TaskDesk(beats.sessions, beats.store, beats.zones, on.clock, listed, beats.removals),
        approvers=on.approvers,
        open_view=view_opener(on.posting),
        update_view=view_updater(on.client),
        tell=on.tell(),
        ops_channel=on.ops_channel,
    )
