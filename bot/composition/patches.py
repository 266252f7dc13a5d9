"""Builds what opens draft pull requests: the checks before a push, and what follows them on their code hosts."""

from __future__ import annotations

import threading
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


class PatchWork:
    """What carries one team's patches out and what follows them; `stop` ends a check that runs.

    Of a codebase without access to its host patches are given as files.
    """

    def __init__(self, process: Process, core: TeamCore) -> None:
        service, settings, home, secrets = (
            core.service,
            core.settings,
            core.environment.home,
            core.environment.secrets(),
        )
        self.stop = stop = threading.Event()
        workshop = home / WORKSHOP
        sweep(workshop)

        def opening_of(codebase: Codebase) -> FixOpening | None:
            access, own = core.hosts.access(codebase), process.code.settings_of(codebase.id)
            if access is None or own is None:
                return None
            wanted, hidden = own.fixes.over(settings.fixes), hidden_from_checks(process.code, core.patched, home)
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
        self.updates = FixUpdates(
            service, core.fixes, files, core.patched, core.hosts.client, keep=settings.keep_runs_for
        )
        self.fixes = Fixes(service, core.fixes, core.patched, files, self.updates, opening_of)
