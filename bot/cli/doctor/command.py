"""`triage doctor`: is everything as it must be; one line a check, and for what is wrong one line on what to do.

The checks run side by side and each has seconds, so that a monitor that asks every minute gets an answer. A later check
is one function and one line in `CHECKS`, the last thing in this file.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import click

from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import environment_at
from bot.cli.doctor import code_checks, departures, machine_checks, service_checks
from bot.cli.doctor.context import (
    CONFIG,
    DATABASE,
    TOKENS,
    Check,
    DoctorContext,
    HealthCheck,
    NotReady,
    SkippedCheck,
    wrong,
)
from bot.cli.doctor.machine_checks import (
    classifier_check,
    connection_check,
    journal_check,
    pause_check,
    process_check,
    records_check,
)
from bot.cli.options import json_option
from bot.cli.output import MARKS, wrapped
from bot.errors import ConfigError, StoreError, TriageError

LIMIT_S: Final = 9.0
_NAME_CHARS: Final = 12
_THEN_AGAIN: Final = "fix that, then run `triage doctor` again"
BOT: Final = "bot"
CONNECTION: Final = "connection"


@click.command("doctor", help="Check the installation; each problem comes with its fix.")
@json_option
@scoped
def command(scope: Scope, as_json: bool) -> int:
    """Print what the checks find; exit code 0 if all is well, else 1.

    Raises:
        ConfigError: the environment itself cannot be used.
    """
    environment = environment_at(scope.home)
    context = DoctorContext(home=environment.home, config=scope.config, environment=environment, now=datetime.now(UTC))
    teams = scope.teams()
    if len(teams) == 1:
        findings = run_checks(replace(context, home=next(iter(teams.values()))))
    else:
        findings = run_checks(context, checks_of(teams))
    print(_findings_json(findings) if as_json else render(findings))
    return 0 if all(finding.ok for finding in findings.values()) else 1


def checks_of(teams: Mapping[str, Path]) -> dict[str, Check]:
    """Return the checks of the process, made once, and those of each team, under its name."""
    once = {name: check for name, check in CHECKS.items() if name not in OF_TEAM}
    each = {
        f"{team}: {name}": partial(_with_home, CHECKS[name], home) for team, home in teams.items() for name in OF_TEAM
    }
    return {**once, **each}


def _with_home(check: Check, home: Path, context: DoctorContext) -> HealthCheck:
    return check(replace(context, home=home))


def run_checks(
    context: DoctorContext, checks: Mapping[str, Check] | None = None, *, limit_s: float = LIMIT_S
) -> dict[str, HealthCheck]:
    """Return what every check found, in their order; one that fails or is slow has found that, and stops no other."""
    found: dict[str, HealthCheck] = {}
    looking = {
        name: threading.Thread(target=_look, args=(found, name, check, context), name=name, daemon=True)
        for name, check in (CHECKS if checks is None else checks).items()
    }
    until = time.monotonic() + limit_s
    for thread in looking.values():
        thread.start()
    for thread in looking.values():
        thread.join(max(0.0, until - time.monotonic()))
    slow = wrong(f"no answer within {limit_s:g} s", "check the network, then try again")
    return {name: found.get(name, slow) for name in looking}


def render(findings: Mapping[str, HealthCheck]) -> str:
    """Return a line for each finding, what to do below it, those that were not made together, and the sum."""
    lines: list[str] = []
    unmade: dict[str, list[str]] = {}
    width = max([_NAME_CHARS, *(len(name) for name in findings)])
    indent = " " * (width + 5)
    for name, found in findings.items():
        if isinstance(found, SkippedCheck):
            unmade.setdefault(f"{found.says}, {found.fix}", []).append(name)
            continue
        lines.append(wrapped(found.says, lead=f"  {MARKS[found.ok]} {name:<{width}} "))
        lines += [wrapped(found.fix, lead=f"{indent}→ ", indent=indent)] if found.fix else []
    for why, names in unmade.items():
        lines += [f"  – {why}:", wrapped(", ".join(names), lead=indent)]
    return "\n".join([*lines, _sum(findings, sum(map(len, unmade.values())))])


def _sum(findings: Mapping[str, HealthCheck], unmade: int) -> str:
    wrong = {name for name, found in findings.items() if not found.ok}
    if not wrong:
        return "all checks passed"
    if BOT in wrong and wrong <= {BOT, CONNECTION}:
        return "all other checks passed, but the bot is not running: see above"
    skipped = f", {unmade} were not run" if unmade else ""
    return f"{len(wrong) - unmade} of {len(findings)} checks found something wrong{skipped}"


def _look(found: dict[str, HealthCheck], name: str, check: Check, context: DoctorContext) -> None:
    found[name] = _try(name, check, context)


def _try(name: str, check: Check, context: DoctorContext) -> HealthCheck:
    try:
        return check(context)
    except NotReady as error:
        if name != error.check:
            return SkippedCheck(ok=False, says=f"not checked: {error.lacking}", fix=f"see {error.check}")
        return wrong("; ".join(error.problems), _THEN_AGAIN)
    except (ConfigError, StoreError) as error:
        return wrong("; ".join(str(error).splitlines()), _THEN_AGAIN)
    except TriageError as error:
        return wrong(str(error), "see the reason given; if Slack is down, try again later")


def _findings_json(findings: Mapping[str, HealthCheck]) -> str:
    checks = [{"name": name, **asdict(found)} for name, found in findings.items()]
    return json.dumps({"ok": all(found.ok for found in findings.values()), "checks": checks}, ensure_ascii=False)


CHECKS: Mapping[str, Check] = {
    "release": machine_checks.release,
    CONFIG: machine_checks.config,
    "modes": machine_checks.modes,
    "lock": machine_checks.lock,
    TOKENS: service_checks.check_tokens,
    "scopes": service_checks.scopes,
    "clock": service_checks.clock,
    "ops channel": service_checks.ops_channel,
    "chats": service_checks.watched_chats,
    DATABASE: service_checks.database,
    "replicas": service_checks.replicas,
    BOT: lambda context: process_check(context.store(), context.now),
    CONNECTION: lambda context: connection_check(context.store(), context.now),
    "records": lambda context: records_check(context.store()),
    "journals": lambda context: journal_check(context.store(), context.now),
    "classifier": lambda context: classifier_check(context.store(), context.now),
    "pause": lambda context: pause_check(context.store()),
    "model": service_checks.model,
    "prices": service_checks.prices,
    "leaves": departures.leaves,
    "git": code_checks.git,
    "clones": code_checks.clones,
    "tmux": machine_checks.tmux,
    "disk": machine_checks.disk,
    "sessions": machine_checks.sessions,
}
OF_TEAM: Final = ("ops channel", "chats", "records", "journals", "classifier", "pause", "disk", "sessions")
"""What is checked for each of several teams."""
