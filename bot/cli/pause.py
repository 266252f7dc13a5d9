"""`triage pause` and `triage resume`, as `/triage pause` and `/triage resume`; a running bot follows within 5 s."""

from __future__ import annotations

import getpass
from pathlib import Path

import click

from bot.adapters.process.clocks import SystemClock
from bot.casework.pause import PauseSwitch
from bot.cli.arguments import home_option, team_option
from bot.cli.data_directory import one_team_at
from bot.cli.output import wrapped
from bot.cli.records import store_at


@click.command("pause", help="Pause all work that costs money, until somebody resumes.")
@home_option
@team_option
def pause_command(home: Path | None, team: str | None) -> int:
    """Pause; raises StoreError where the data directory cannot be written."""
    switch, name = _switch(home, team), getpass.getuser()
    is_new = switch.pause(by=f"terminal:{name}", name=name)
    print(f"Triage is {'' if is_new else 'already '}{switch.words()}.")
    print(wrapped("New messages still get cards. New investigations and heartbeats wait; running ones finish."))
    print("To resume: triage resume")
    return 0


@click.command("resume", help="Resume after a pause; waiting work starts, oldest first.")
@home_option
@team_option
def resume_command(home: Path | None, team: str | None) -> int:
    """Resume; raises StoreError where the data directory cannot be written, and then all stays paused."""
    switch = _switch(home, team)
    words = switch.words()
    if switch.resume(by=f"terminal:{getpass.getuser()}"):
        print(f"Triage is not paused any more; it was {words}. Next: triage status")
    else:
        print("Nothing is paused. Next: triage status")
    return 0


def _switch(home: Path | None, team: str | None) -> PauseSwitch:
    return PauseSwitch(store_at(one_team_at(home, None, team), is_reader=False).documents, SystemClock())
