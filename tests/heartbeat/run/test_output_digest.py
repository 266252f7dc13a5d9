"""What makes an output another one: news does, and what differs from run to run anyway does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from bot.heartbeat.run.probes import ProbeResult
from tests.heartbeat.builders import AT
from tests.tables import each_row


@each_row(
    "before, after",
    [
        ("2026-11-24 01:02:03,117 ERROR timeout after 5003 ms", "2026-11-24 01:32:04,220 ERROR timeout after 5.1 s"),
        ("3 failed, 812 passed in 0.31s (1m3s)", "3 failed, 812 passed in 12.80s (2m)"),
        ("503 from shop, request 8f14e45fceea167a", "503 from shop, request 9c8a1b2c3d4e5f60"),
        ("req_01HXYZ8J3K4M5N6P7Q: refused", "req_01HZZZ8J3K4M5N6P70: refused"),
        ("id=123e4567-e89b-12d3-a456-426614174000 failed", "id=99ee4567-e89b-12d3-a456-426614174abc failed"),
        ("disk at 97.4 % of /data, 99% of /log", "disk at 98.1 % of /data, 100% of /log"),
        ("worker[4312] pid 881 died at 1763940000", "worker[977] pid 17 died at 1763943600"),
        ("cluster eu\n3 pods not ready, 14 restarts", "cluster eu\n4 pods not ready, 15 restarts"),
        ("12 failed, 340 passed; errors: 17, retries=3", "9 failed, 343 passed; errors: 9, retries=12"),
        ("queue depth 1043 > 1000 (5 of 7 workers)", "queue depth 998 > 1000 (6 of 7 workers)"),
        ("api 2/7 ready", "api 3/7 ready"),
        (
            "E1124 03:17:32.564623   12535 memcache.go:265] refused",
            "E1125 03:47:36.534512  913134 memcache.go:265] refused",
        ),
        ("timed out after 10001 milliseconds with 0 bytes", "timed out after 9998 milliseconds with 17 bytes"),
        ("=== 3 failed, 12 passed in 4.32s ===", "=== 2 failed, 13 passed in 61.00s ==="),
        ("Tests:       1 failed, 5 total", "Tests:       2 failed, 6 total"),
        ("Tests run: 12, Failures: 3, Skipped: 1", "Tests run: 14, Failures: 1, Skipped: 0"),
        ("Plan: 3 to add, 1 to change", "Plan: 4 to add, 2 to change"),
        ("1.2GiB free, 512 MB used, up 3 days", "0.9GiB free, 700 MB used, up 4 days"),
        ("goroutine 17 [running]", "goroutine 23 [running]"),
    ],
)
def test_a_failure_that_differs_in_times_ids_and_measures_is_the_same(before: str, after: str) -> None:
    """An answer that differs so is another one: what it measures may be what is watched."""
    assert failed(before).digest == failed(after).digest
    assert answered(before).digest != answered(after).digest


@each_row(
    "before, after",
    [
        ("node 3 is down", "node 5 is down"),
        ("node-3a is down", "node-5a is down"),
        ("cannot connect to db:5432", "cannot connect to db:6379"),
        ("FAILED test_orders_1", "FAILED test_orders_2"),
        ("503 from shop", "401 from shop"),
        ("PR 1204 has conflicts", "PR 1205 has conflicts"),
        ("needs version 1.2.3", "needs version 1.2.4"),
        ("timeout after 5 s", "refused after 5 s"),
        ("nodes 3 and 5 are down", "nodes 3 and 7 are down"),
        ("shard 3 refuses writes", "shard 5 refuses writes"),
        ("status: 503", "status: 401"),
        ("postgres 5432 refused", "postgres 6379 refused"),
        ("3 pods not ready", "3 nodes not ready"),
        ("api 2/7 ready", "api 0/7 ready"),
        ("queue depth 1043 (5 of 7 workers)", "queue depth 998 (0 of 7 workers)"),
    ],
)
def test_a_failure_of_another_kind_is_another(before: str, after: str) -> None:
    """So is one that ends with another exit code."""
    assert failed(before).digest != failed(after).digest
    assert failed(before).digest != failed(before, exit_code=2).digest


@each_row(
    "form", ["%Y-%m-%d %H:%M:%S,117 UTC", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.5+00:00", "%a %b %e %H:%M:%S UTC %Y"]
)
def test_the_time_of_a_run_makes_no_other_answer(form: str) -> None:
    """A time that lags behind is news, and so is one that stands still or lies far from its run."""

    def printed(shown: datetime, at: datetime) -> str:
        return replace(answered(f"newest order {shown:{form}}, all good"), at=at).digest

    later, lag = AT + timedelta(minutes=30), timedelta(minutes=20)
    assert printed(AT, AT) == printed(later - timedelta(seconds=9), later)
    assert printed(AT, AT) != printed(AT, later)
    assert printed(AT, AT) != printed(later - lag, later)
    assert printed(AT - lag, AT) != printed(later - lag, later)


def listed(restarts: str, age: str, *, name: str = "api-7d9f", ready: str = "1/1", status: str = "Running") -> str:
    """Return the digest of the tables of a cluster's pods, and of its nodes, whose age stands in the middle."""
    pods = f"NAME       READY  STATUS     RESTARTS       AGE\n{name:10} {ready}    {status:10} {restarts:14} {age}\n"
    nodes = f"NAME  STATUS  AGE{' ' * len(age)}VERSION\nn1    Ready   {age}   v1.31\n"
    return replace(answered(f"{pods}\n{nodes}"), argv=("kubectl", "get", "all")).digest


def test_the_age_of_what_is_well_in_a_cluster_makes_no_other_answer() -> None:
    """How often it was restarted does, and what it is called."""
    known = listed("3 (5m ago)", "3d1h")
    assert listed("3 (35m ago)", "10d") == known
    assert known not in {listed("4 (5m ago)", "3d1h"), listed("3 (5m ago)", "9s", name="api-99aa")}
    assert listed("0", "3d", ready="0/1", status="Completed") == listed("0", "4d", ready="0/1", status="Completed")


@each_row("ready, status", [("0/1", "Running"), ("0/1", "Pending"), ("2/3", "Error")])
def test_the_age_of_what_is_not_well_is_looked_at(ready: str, status: str) -> None:
    """What was only starting at the last beat may hang at this one."""
    assert listed("0", "9s", ready=ready, status=status) != listed("0", "30m", ready=ready, status=status)


def failed(output: str, exit_code: int = 1) -> ProbeResult:
    problem = f"`./check all` failed: {output}"
    return replace(answered(output), exit_code=exit_code, problem=problem)


def answered(output: str) -> ProbeResult:
    return ProbeResult(argv=("./check", "all"), output=f"{output}\n", exit_code=0, seconds=0.1)
