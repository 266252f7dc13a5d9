"""What makes an output another one: news does, and what differs from run to run anyway does not."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.heartbeat.run.probes import ProbeResult, forge_rows
from tests.heartbeat.builders import AT
from tests.tables import each_row


@each_row(
    "before, after",
    [
        ("12 passed in 3.21s", "12 passed in 2.98s"),
        ("=== 12 passed, 3 skipped in 61.00s (0:01:01) ===", "=== 12 passed, 3 skipped in 4.10s (0:01:01) ==="),
        ("ok  shop/cart\t0.123s", "ok  shop/cart\t11.4s"),
        ("real\t0m3.210s", "real\t1m2.004s"),
        ("build\tpass\t4m12s", "build\tpass\t1h3m"),
        ("Total time:  3.214 s", "Total time: 12.9 s"),
        ("answered after 5003 ms, up 4 days, 2 hours", "answered after 117ms, up 12 days"),
        ("db  Up 3 hours  5432/tcp", "db  Up 25 minutes  5432/tcp"),
        ("#12 open about 2 hours ago", "#12 open about 3 days ago"),
        ("run 123e4567-e89b-12d3-a456-426614174000 ok", "run 99ee4567-e89b-12d3-a456-426614174abc ok"),
        ("run_id=8f14e45f, all well", "run_id=77aa001b, all well"),
        ("https://github.com/a/b/actions/runs/77/job/78", "https://github.com/a/b/actions/runs/80/job/99"),
    ],
)
def test_an_answer_that_differs_in_durations_and_ids_of_runs_is_the_same(before: str, after: str) -> None:
    """However wide a column is because of them."""
    assert answered(before).digest == answered(after).digest


@each_row(
    "before, after",
    [
        ("12 passed in 3.21s", "11 passed in 3.21s"),
        ("abc1234 Fix the cart", "abc1235 Fix the cart"),
        ("123456d", "123457d"),
        ("12d345d", "13d345d"),
        ("v1.2.3", "v1.2.4"),
        ("listening on 5432", "listening on 6379"),
        ("disk 97 % of 20 GB", "disk 98 % of 20 GB"),
        ("queue 104 MB", "queue 998 MB"),
        ("lag 5m3", "lag 9m3"),
        ("10.0.0.1:8080", "10.0.0.1:8081"),
        ("api 2/7 ready", "api 0/7 ready"),
        (" M cart.py", "M  cart.py"),
    ],
)
def test_any_other_number_may_be_what_is_watched(before: str, after: str) -> None:
    """Counts, versions, commits, ports, measures."""
    assert answered(before).digest != answered(after).digest


@given(commit=st.text("0123456789abcdef", min_size=7, max_size=64))
def test_no_commit_is_left_out(commit: str) -> None:
    """Even one that reads like days."""
    assert answered(f"HEAD is {commit}").digest != answered("HEAD is ").digest


@each_row(
    "form",
    [
        "%Y-%m-%d %H:%M:%S,117 UTC",
        "%Y-%m-%dT%H:%M:%SZ",
        "%Y-%m-%dT%H:%M:%S.5+00:00",
        "%a %b %e %H:%M:%S UTC %Y",
        "%H:%M:%S",
        "%s",
    ],
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


def test_a_time_of_day_is_near_its_run_over_midnight() -> None:
    """It has no date of its own."""
    midnight = AT.replace(hour=0, minute=0, second=5)
    outputs = {replace(answered(f"{time} up"), at=midnight).digest for time in ("23:59:58", "00:00:05")}
    assert len(outputs) == 1


def test_of_a_failure_only_its_kind_counts() -> None:
    """The exit code where there is one, else why there is no answer."""
    first, other = failed("node 3 is down"), failed("503 from shop")
    assert first.digest == other.digest
    assert first.digest not in {failed("node 3 is down", exit_code=2).digest, answered("node 3 is down").digest}
    late, large = (
        replace(answered(""), exit_code=-9, problem=why) for why in ("took over 30 s", "used more than 9 MiB")
    )
    assert late.digest != large.digest


@each_row("piece", ["1m", "1h ", "2024-01-01 ", "1d, ", "run_id ", "9", "abcdef12-", "/runs/1", "3 days "])
def test_long_lines_are_hashed_in_linear_time(piece: str) -> None:
    """Ten times the text takes about ten times as long; a pattern that goes back takes a hundred."""

    def cost(chars: int) -> float:
        started = time.process_time()
        _ = replace(answered(piece * (chars // len(piece))), at=AT).digest
        return time.process_time() - started

    assert min(cost(200_000) for _ in range(3)) < 40 * max(min(cost(20_000) for _ in range(3)), 0.005)


def pull(title: str, *checks: dict[str, str]) -> dict[str, Any]:
    return {"number": 12, "title": title, "headRefName": "b12", "updatedAt": "x", "statusCheckRollup": [*checks]}


def check(end: str, name: str = "build", **more: str) -> dict[str, str]:
    return {"name": name, "status": "COMPLETED", "conclusion": end, **more}


def test_of_the_checks_of_a_request_those_that_are_not_well_are_kept() -> None:
    """Titles with "fail" in them are titles; one that was run again counts as it ended last."""
    again = [check("SUCCESS", startedAt="2026-11-21T10"), check("FAILURE", startedAt="2026-11-21T09")]
    running = {"context": "e2e", "state": "PENDING"}
    [row] = rows(pull("Fix failing login", *again, check("FAILURE", "lint"), running))
    assert row == {
        "number": 12,
        "title": "Fix failing login",
        "headRefName": "b12",
        "statusCheckRollup": [check("FAILURE", "lint"), running],
    }


def test_when_and_where_a_check_ran_makes_no_other_line() -> None:
    """Nor do the ids of pipelines; addresses of requests are kept."""
    runs = [check("FAILURE", completedAt=f"2026-11-21T09:0{n}", detailsUrl=f"https://ci/{n}") for n in (1, 2)]
    assert rows(pull("x", runs[0])) == rows(pull("x", runs[1]))
    merge = {"iid": 7, "id": 99, "web_url": "https://gitlab.com/a/b/-/merge_requests/7", "author": {"avatar_url": "x"}}
    assert rows(merge) == [{"iid": 7, "web_url": "https://gitlab.com/a/b/-/merge_requests/7", "author": {}}]


@each_row("printed", ["To get started, run gh auth login", "[1, 2]", '{"a": ', "null", "[" * 100_000, ""])
def test_what_is_no_list_of_objects_is_left_as_it_is(printed: str) -> None:
    """Plain text of gh, most often."""
    assert forge_rows(printed) is None


def rows(*given: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (forge_rows(json.dumps(given)) or "").splitlines()]


def failed(output: str, exit_code: int = 1) -> ProbeResult:
    return replace(answered(output), exit_code=exit_code, problem=f"`./check all` failed: {output}")


def answered(output: str) -> ProbeResult:
    return ProbeResult(argv=("./check", "all"), output=f"{output}\n", exit_code=0)
