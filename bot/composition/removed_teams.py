"""Ends what teams left open that were taken out of triage.yml while the bot did not run."""

from __future__ import annotations

from bot.adapters.process.terminals import choose_terminal
from bot.casework.team_ending import TeamEnd, drop_jobs, end_team, opening
from bot.composition.process import Process
from bot.composition.team_core import TeamCore
from bot.composition.team_homes import teams_left
from bot.domain.events import is_direct
from bot.errors import ConfigError, ProviderError, StoreError
from bot.ports.collections import Collection
from bot.ports.feature_collections import FIXES
from bot.ports.threads import Threads


def end_removed(process: Process) -> list[str]:
    """Close the open threads of teams that are not in triage.yml any more; return what is said of it."""
    said = []
    for team in teams_left(process.engine.teams(), process.environment.home, process.settings.by_team()):
        if _is_elsewhere(process, team):  # a replica with another triage.yml works for it
            continue
        try:
            said += [line] if (line := _end(process, team)) else []
        except (ConfigError, ProviderError, StoreError) as error:
            said.append(f"The open threads of the removed team {team} could not be closed: {error}")
    return said


def _is_elsewhere(process: Process, team: str) -> bool:
    leases = process.engine.leases(process.environment.of_team(team).home)
    return process.engine.is_shared and leases.holder("duty.questions") is not None


def _end(process: Process, team: str) -> str | None:
    """Close what a team left open; its cards are changed where they stand."""
    home = process.environment.of_team(team).home
    documents = process.engine.store(home).documents
    known = Threads(documents)
    threads = known.open_threads()
    ended = (known.last_closed(fix.thread_id) for fix in opening(Collection(documents, FIXES)))
    left = [*threads, *(state for state in ended if state is not None)]
    terminal = choose_terminal(home)
    for session in terminal.sessions():
        terminal.end(session)  # nobody waits for it any more
    if not left:
        return _drop_queue(process, team)
    places = (state.card_channel for state in left if state.card_channel and not is_direct(state.card_channel))
    place = next(places, process.settings.ops_channel)
    settings = process.settings.model_copy(
        update={"teams": {}, "sessions": {}, "watched_chats": (), "approvers": (), "ops_channel": place}
    )
    core = TeamCore(process, team, settings)
    try:
        return end_team(core.service, core.fixes, team).words()
    finally:
        core.service.jobs.close()


def _drop_queue(process: Process, team: str) -> str | None:
    """Drop what waits for a team without an open thread: nobody knows its ops channel, and no other may see more."""
    jobs = process.engine.jobs(process.environment.of_team(team).home, process.clock, changed=process.jobs_changed)
    try:
        dropped = drop_jobs(jobs)
    finally:
        jobs.close()
    return TeamEnd(team=team, dropped=dropped).words() if dropped else None
