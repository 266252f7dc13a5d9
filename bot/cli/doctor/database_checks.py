"""The checks of `triage doctor` about the database and the replicas that share it. They write nothing."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.casework.reports.health_checks import HealthCheck, well, wrong
from bot.cli.doctor.context import DoctorContext
from bot.ports.replicas import MAX_SKEW, Replica

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.postgres_replicas import DatabaseReport

MANY: Final = 0.8
"""Of the connections that the server takes."""


def database(patient: DoctorContext) -> HealthCheck:
    """Whether the database answers, has this release's tables, and takes more connections; raises NoDatabase."""
    report = patient.database()
    return (
        well("none: TRIAGE_DATABASE_URL is not set, and state is kept in files")
        if report is None
        else connections(report)
    )


def connections(report: DatabaseReport) -> HealthCheck:
    """Whether a server that answers has the tables and takes more connections."""
    used = f"{report.connections} of {report.max_connections} connections in use"
    if report.connections > MANY * report.max_connections:
        fix = "raise max_connections in postgresql.conf and restart PostgreSQL, or run fewer replicas"
        return wrong(used, fix)
    if report.missing:
        says = f"PostgreSQL {report.server_version} without this release's tables ({len(report.missing)} steps missing)"
        return wrong(says, "start `triage run` of this release: it makes them")
    return well(f"PostgreSQL {report.server_version}, {used}")


def replicas(patient: DoctorContext) -> HealthCheck:
    """Whether all that share the database are of one release and one time; raises NoDatabase."""
    report = patient.database()
    return well("none: without a database one process works alone") if report is None else agreement(report)


def agreement(report: DatabaseReport) -> HealthCheck:
    """Whether clocks and releases agree."""
    alive = [replica for replica in report.replicas if replica.is_alive]
    clocks = {"the database": timedelta(), "this machine": report.clock_ahead}
    clocks |= {replica.name: replica.clock_ahead for replica in alive}
    first, last = min(clocks, key=clocks.__getitem__), max(clocks, key=clocks.__getitem__)
    if (apart := clocks[last] - clocks[first]) > MAX_SKEW:
        says = f"the clock of {last} is {apart.total_seconds():.0f} s ahead of that of {first}"
        return wrong(says, "set the clock on each machine: timedatectl set-ntp true")
    releases = _by_release(alive)
    if len(releases) > 1:
        says = "; ".join(f"triage {version} runs as {', '.join(names)}" for version, names in releases.items())
        return wrong(
            f"replicas run different releases: {says}", "install one release everywhere, and restart the others"
        )
    silent = "; ".join(replica.line for replica in report.replicas if not replica.is_alive)
    return well("; ".join(filter(None, (f"{len(alive)} alive", silent))))


def _by_release(replicas: list[Replica]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for replica in replicas:
        found[replica.version].append(replica.name)
    return dict(sorted(found.items()))
