"""`triage doctor`: is everything as it must be; one line a check, and for what is wrong one line on what to do.

A later check is one function and one line in `CHECKS`, the last thing in this file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.casework.checkup import Finding, connection_check, journal_check, process_check
from bot.environment import Environment, read_environment, require_signing_secret, require_tokens
from bot.errors import ConfigError, TriageError
from bot.settings import Settings, find_config, load_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Patient:
    """What the checks look at; settings are read by those that need them, so that the others work without."""

    home: Path
    config: Path | None
    environment: Environment
    now: datetime

    def settings(self) -> Settings:
        """Return the settings; raises ConfigError listing what is wrong with them."""
        return load_settings(find_config(self.config, self.home))


Check = Callable[[Patient], Finding]


def main(argv: list[str]) -> int:
    """Print what the checks find; exit code 0 if all is well, else 1.

    Raises:
        ConfigError: the environment itself cannot be used.
    """
    parser = argparse.ArgumentParser(prog="triage doctor", description="Is everything as it must be?")
    parser.add_argument("--config", type=Path, help="default: ./triage.yml, then triage.yml in TRIAGE_HOME")
    parser.add_argument("--home", type=Path, help="data directory (default: TRIAGE_HOME, then ~/.triage)")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    args = parser.parse_args(argv)
    environment = read_environment(dotenv=Path(".env"))
    home = args.home or environment.home
    patient = Patient(home=home, config=args.config, environment=environment, now=datetime.now(UTC))
    findings = examine(patient)
    print(_as_json(findings) if args.json else render(findings))
    return 0 if all(finding.ok for finding in findings.values()) else 1


def examine(patient: Patient, checks: Mapping[str, Check] | None = None) -> dict[str, Finding]:
    """Return what every check found; one that fails has found that, and stops no other."""
    return {name: _try(check, patient) for name, check in (CHECKS if checks is None else checks).items()}


def render(findings: Mapping[str, Finding]) -> str:
    """Return a line for each finding, what to do below it, and the sum."""
    lines = []
    for name, found in findings.items():
        lines.append(f"  {'✓' if found.ok else '✗'} {name:<12} {found.says}")
        lines += [f"    {'':<12} → {found.fix}"] if found.fix else []
    wrong = sum(not found.ok for found in findings.values())
    lines.append(f"{wrong} of {len(findings)} checks found something wrong" if wrong else "all is well")
    return "\n".join(lines)


def _try(check: Check, patient: Patient) -> Finding:
    try:
        return check(patient)
    except ConfigError as error:
        return Finding(ok=False, says="; ".join(error.problems), fix="put that right, then run `triage doctor` again")
    except TriageError as error:
        return Finding(ok=False, says=str(error), fix="see the reason given; if Slack is down, try again later")


def _as_json(findings: Mapping[str, Finding]) -> str:
    checks = [{"name": name, **asdict(found)} for name, found in findings.items()]
    return json.dumps({"ok": all(found.ok for found in findings.values()), "checks": checks}, ensure_ascii=False)


def _ops_channel(patient: Patient) -> Finding:
    """Whether the ops channel is there and private; asks Slack."""
    from handlers.transport import repeatable_client
    from handlers.workspace import SlackWorkspace

    settings = patient.settings()
    channel, over_http = settings.ops_channel, settings.slack.mode == "http"
    token, _ = (require_signing_secret if over_http else require_tokens)(patient.environment)
    workspace = SlackWorkspace(repeatable_client(token, patient.environment.slack_api_url), team_id="")
    if workspace.is_private(channel):
        return Finding(ok=True, says=f"{channel} is private")
    fix = "make it private, or name a private one as `ops_channel` in triage.yml"
    return Finding(ok=False, says=f"{channel} is not private: drafts would be read by everybody", fix=fix)


CHECKS: Mapping[str, Check] = {
    "bot": lambda patient: process_check(patient.home, patient.now),
    "connection": lambda patient: connection_check(patient.home, patient.now),
    "journals": lambda patient: journal_check(patient.home, patient.now),
    "ops channel": _ops_channel,
}
