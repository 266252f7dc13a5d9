"""Builds what opens draft pull requests: the checks before a push, and what follows them on their code hosts."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from bot.agent.codebases import Codebase
from bot.casework.fixes.fix_opening import FixOpening
from bot.casework.fixes.fix_service import Fixes
from bot.casework.fixes.fix_updates import FixUpdates
from bot.casework.fixes.patch_check import PatchChecks, sweep
from bot.composition.code_hosts import hidden_from_checks
from bot.composition.process import Process
from bot.composition.team_core import TeamCore
from handlers.cards.ops_cards import SlackCardFiles

WORKSHOP: Final = "workshop"
"""The folder of the data directory where patches are checked; empty while none is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PatchWork:
    """What carries patches out and what follows them; `stop` ends a check that runs."""

    fixes: Fixes
    updates: FixUpdates
    stop: threading.Event


def build_patch_work(process: Process, core: TeamCore) -> PatchWork:
    """Return what works on one team's patches; of a codebase without access to its host they are given as files."""
    service, settings, environment = core.service, core.settings, core.environment
    stop, workshop, secrets = threading.Event(), environment.home / WORKSHOP, environment.secrets()
    sweep(workshop)

    def opening_of(codebase: Codebase) -> FixOpening | None:
        access, own = core.hosts.access(codebase), process.code.settings_of(codebase.id)
        if access is None or own is None:
            return None
        wanted = own.fixes.over(settings.fixes)
        hidden = hidden_from_checks(process.code, core.patched, environment.home)
        return FixOpening(
            core.fixes,
            PatchChecks(codebase.repo, wanted, workshop, hidden=hidden, stop=stop, secrets=secrets),
            access.client,
            access.remote,
            core.approvers,
            base=own.branch,
            link_to=core.code.link_to,
            secrets=secrets,
        )

    files = SlackCardFiles(process.slack.poster, service.cards.guard.require)
    updates = FixUpdates(service, core.fixes, files, core.patched, core.hosts.client, keep=settings.keep_runs_for)
    fixes = Fixes(service, core.fixes, core.patched, files, updates, opening_of)
    return PatchWork(fixes=fixes, updates=updates, stop=stop)
