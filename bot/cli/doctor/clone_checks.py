"""The check of `triage doctor` about clones: whether each remote answers, and how old the clone is. Writes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from bot.adapters.git.clones import Clone, clone_path
from bot.adapters.git.network import GitNetwork
from bot.casework.reports.health_checks import HealthCheck, well, wrong
from bot.cli.doctor.context import PATIENCE_S, DoctorContext
from bot.config.environment import process_home
from bot.errors import ProviderError
from bot.ports.code import CloneStanding, read_clones

THREADS = 8


def clones(patient: DoctorContext) -> HealthCheck:
    """Whether every codebase with an address can be fetched by whoever runs this.

    Raises:
        ConfigError: git is not installed.
        StoreError: what is known of the clones cannot be read.
    """
    home, codebases = process_home(patient.home), patient.settings().all_codebases
    network = GitNetwork(stall_s=PATIENCE_S, limit_s=PATIENCE_S)
    asked = {
        codebase: Clone(clone_path(home / "codebases", codebase), one.url, one.branch, network)
        for codebase, one in codebases.items()
        if one.url is not None
    }
    if not asked:
        return well("none: every codebase is a path")
    with ThreadPoolExecutor(THREADS) as threads:
        problems = dict(zip(asked, threads.map(_problem, asked.values()), strict=True))
    standings = read_clones(patient.store().machine)
    says = "; ".join(_line(codebase, standings.get(codebase), problems[codebase], patient.now) for codebase in asked)
    failing = [asked[codebase] for codebase, problem in problems.items() if problem]
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
