"""Where long runs happen and with what: tmux or plain processes, this Python, the variables they may see."""

from __future__ import annotations

import sys

from bot.adapters.tmux import choose_terminal
from bot.agent.spending import Spending
from bot.casework.escalation import LongRuns
from bot.casework.escalation_environment import run_environment
from bot.environment import Environment
from bot.models import thread_allowance, uses_models
from bot.settings import Settings


def long_runs(settings: Settings, environment: Environment, spending: Spending | None) -> LongRuns:
    """Return what long runs need; `spending` is the models' budget, None where none is used here."""
    return LongRuns(
        terminal=choose_terminal(environment.home),
        folder=environment.home / "escalations",
        argv=(
            sys.executable,
            "-P",
            "-m",
            "bot",
            "investigate",
            "--escalation",
        ),  # -P: the current folder names no module
        environment=run_environment(environment, settings),
        has_model=uses_models(settings, environment) or settings.escalation.command is not None,
        spending=spending,
        allowance=thread_allowance(settings),
    )
