"""The check of `triage doctor` about clones: whether each remote answers, and how old the clone is. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

from bot.adapters.git.clones import Clone, clone_path
from bot.adapters.git.network import GitNetwork
from bot.casework.reports.health_checks import HealthCheck, well, wrong
from bot.cli.doctor.context import PATIENCE_S
from bot.config.codebase_settings import CodebaseSettings
from bot.errors import ProviderError
from bot.ports import Documents
from bot.ports.clones import CloneStanding, read_clones

THREADS = 8


def check_clones(
    codebases: Mapping[str, CodebaseSettings], folder: Path, documents: Documents, now: datetime
) -> HealthCheck:
    """Whether every codebase with an address can be fetched by whoever runs this.

    Raises:
        ConfigError: git is not installed.
        StoreError: what is known of the clones cannot be read.
    """
    network = GitNetwork(stall_s=PATIENCE_S, limit_s=PATIENCE_S)
    clones = {
        codebase: Clone(clone_path(folder, codebase), one.url, one.branch, network)
        for codebase, one in codebases.items()
        if one.url is not None
    }
    if not clones:
        return well("none: every codebase is a path")
    with ThreadPoolExecutor(THREADS) as threads:
        problems = dict(zip(clones, threads.map(_problem, clones.values()), strict=True))
    standings = read_clones(documents)
    says = "; ".join(_line(codebase, standings.get(codebase), problems[codebase], now) for codebase in clones)
    failing = [clones[codebase] for codebase, problem in problems.items() if problem]
    if not failing:
        return well(says)
    return wrong(says, f"as the user who runs triage, try `{failing[0].command_to_try}`")


def _problem(clone: Clone) -> str | None:
    try:
        clone.ask_remote()
    except ProviderError as error:
        return str(error)
    return None


def _line(codebase: str, standing: CloneStanding | None, problem: str | None, now: datetime) -> str:
    known = standing.words(now) if standing is not None else "not cloned yet"
    return f"{codebase} does not answer ({problem}), {known}" if problem else f"{codebase} answers, {known}"
