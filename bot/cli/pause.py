"""`triage pause` and `triage resume`, as `/triage pause` and `/triage resume`; a running bot follows within 5 s."""

from __future__ import annotations

import getpass

import click

from bot.adapters.process.clocks import SystemClock
from bot.casework.pause import PauseSwitch
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import store_at
from bot.cli.output import wrapped


@click.command("pause", help="Pause all work that costs money, until somebody resumes.")
@scoped
def pause_command(scope: Scope) -> int:
    """Pause; raises StoreError where the data directory cannot be written."""
    switch, name = _switch(scope), getpass.getuser()
    is_new = switch.pause(by=f"terminal:{name}", name=name)
    print(wrapped(f"Triage is {'' if is_new else 'already '}{switch.words()}."))
    print(wrapped("New messages still get cards. New investigations and heartbeats wait; running ones finish."))
    print("To resume: triage resume")
    return 0


@click.command("resume", help="Resume after a pause; waiting work starts, oldest first.")
@scoped
def resume_command(scope: Scope) -> int:
    """Resume; raises StoreError where the data directory cannot be written, and then all stays paused."""
    switch = _switch(scope)
    words = switch.words()
    if switch.resume(by=f"terminal:{getpass.getuser()}"):
        print(wrapped(f"Triage is not paused any more; it had been {words}."))
        print("Next: triage status")
    else:
        print("Nothing is paused. Next: triage status")
    return 0


def _switch(scope: Scope) -> PauseSwitch:
    return PauseSwitch(store_at(scope.one_team(), is_reader=False).documents, SystemClock())
