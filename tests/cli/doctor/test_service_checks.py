"""The checks about the database and its replicas: each fault in plain words, with what to do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.cli.doctor import service_checks
from bot.cli.doctor.command import CHECKS, render, run_checks
from bot.cli.doctor.context import DATABASE
from bot.config.environment import read_environment
from bot.ports.system import Replica
from tests.cli.doctor.test_command import patient
from tests.postgres import driver

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.postgres_leases import DatabaseReport

SECRET = "s3cret-pa55word"
WITHOUT_DRIVER = """
import sys
sys.modules["psycopg"] = None
from bot.__main__ import main
for verb in sys.argv[1:]:
    print(f"{verb}: {main([verb])}", file=sys.stderr)
"""


def a_replica(host: str, **changes: Any) -> Replica:
    facts: dict[str, Any] = {
        "host": host,
        "pid": 41,
        "version": "1.0.0",
        "role": "all",
        "runs_for": timedelta(hours=1),
        "silent_for": timedelta(seconds=2),
        "clock_ahead": timedelta(),
    }
    return Replica(**{**facts, **changes})


def a_report(*replicas: Replica, **changes: Any) -> DatabaseReport:
    driver()
    from bot.adapters.storage.postgres.postgres_leases import DatabaseReport

    facts: dict[str, Any] = {
        "server_version": "18.4",
        "missing": (),
        "connections": 12,
        "max_connections": 97,
        "clock_ahead": timedelta(),
        "replicas": replicas,
    }
    return DatabaseReport(**{**facts, **changes})


def test_a_database_at_work() -> None:
    """Its release and its connections are named; replicas that were killed are no fault."""
    assert service_checks.connections(a_report()).says == "PostgreSQL 18.4, 12 of 97 connections in use"
    found = service_checks.agreement(a_report(a_replica("a"), a_replica("b", silent_for=timedelta(hours=3))))
    assert found.ok
    assert found.says.startswith("1 alive; process 41 on b: triage 1.0.0, role all, started 1 h ago, no sign of life")


def test_connections_run_out() -> None:
    """Before the next replica cannot start."""
    found = service_checks.connections(a_report(connections=90))
    assert (found.ok, found.says) == (False, "90 of 97 connections in use")
    assert "max_connections" in found.fix


def test_clocks_are_apart() -> None:
    """Those that are furthest apart are named: of this machine, the database and replicas that live."""
    assert service_checks.agreement(a_report(clock_ahead=timedelta(seconds=1.9))).ok
    here = service_checks.agreement(a_report(clock_ahead=timedelta(seconds=-300)))
    assert here.says == "the clock of the database is 300 s ahead of that of this machine"
    one, other = a_replica("a", clock_ahead=timedelta(seconds=1.5)), a_replica("b", clock_ahead=timedelta(seconds=-1.5))
    both = service_checks.agreement(a_report(one, other))
    assert both.says == "the clock of process 41 on a is 3 s ahead of that of process 41 on b"
    assert "timedatectl" in both.fix
    assert service_checks.agreement(a_report(one, replace(other, silent_for=timedelta(hours=1)))).ok


def test_releases_differ() -> None:
    """Which runs where."""
    found = service_checks.agreement(a_report(a_replica("a"), a_replica("b", version="1.1.0")))
    assert not found.ok
    assert "triage 1.0.0 runs as process 41 on a; triage 1.1.0 runs as process 41 on b" in found.says


def test_without_a_database_nothing_is_wrong(tmp_path: Path) -> None:
    """State in files is the default."""
    found = run_checks(patient(tmp_path), {name: CHECKS[name] for name in (DATABASE, "replicas")}, limit_s=300)
    assert all(each.ok for each in found.values())


def test_a_database_that_does_not_answer_is_said_once(tmp_path: Path) -> None:
    """Without its password; what needs it is not checked."""
    driver()
    given = patient(tmp_path)
    url = {"TRIAGE_DATABASE_URL": f"postgresql://triage:{SECRET}@127.0.0.1:1/triage"}
    broken = replace(given, environment=read_environment({**given.environment.variables, **url}))
    said = render(run_checks(broken, {name: CHECKS[name] for name in (DATABASE, "replicas", "pause")}, limit_s=300))
    assert said.count("the database cannot be reached") == 1
    assert "not checked: the database cannot be used, see database:\n" in said
    assert SECRET not in said


def test_without_the_driver_one_sentence_says_what_to_type(tmp_path: Path) -> None:
    """At the start, in doctor and in every other command."""
    given = patient(tmp_path)
    environ = {
        **os.environ,
        **given.environment.variables,
        "TRIAGE_HOME": str(tmp_path),
        "TRIAGE_DATABASE_URL": f"postgresql://triage:{SECRET}@127.0.0.1:1/triage",
    }
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DRIVER, "doctor", "run", "status"],
        cwd=tmp_path,
        env={**environ, "PYTHONUNBUFFERED": "1"},
        text=True,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert SECRET not in done.stdout
    answers = re.findall(r"(.*?)^(doctor|run|status): (\d)\n", done.stdout, re.DOTALL | re.MULTILINE)
    assert [verb for _, verb, _ in answers] == ["doctor", "run", "status"]
    for said, verb, code in answers:
        assert "pip install 'triage-bot[postgres]'" in " ".join(said.split()), verb
        assert code != "0", verb
