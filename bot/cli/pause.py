"""`triage pause` and `triage resume`, as `/triage pause` and `/triage resume`; a running bot follows within 5 s."""

from __future__ import annotations

import getpass

import click

from bot.adapters.process.clocks import SystemClock
from bot.casework.pause import PauseSwitch, answer_pause, answer_resume
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import store_at
from bot.cli.output import show


@click.command("pause", help="Pause all work that costs money, until somebody resumes.")
@scoped
def pause_command(scope: Scope) -> int:
    """Pause; raises StoreError where the data directory cannot be written."""
    name = getpass.getuser()
    print(show(answer_pause(_switch(scope), by=f"terminal:{name}", name=name)))
    return 0


@click.command("resume", help="Resume after a pause; waiting work starts, oldest first.")
@scoped
def resume_command(scope: Scope) -> int:
    """Resume; raises StoreError where the data directory cannot be written, and then all stays paused."""
    print(show(answer_resume(_switch(scope), by=f"terminal:{getpass.getuser()}")[1]))
    return 0


def _switch(scope: Scope) -> PauseSwitch:
    return PauseSwitch(store_at(scope.one_team(), is_reader=False).documents, SystemClock())
