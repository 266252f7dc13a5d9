"""Requests and their checks are judged by fields; what a title says is shown and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from bot.domain.heartbeats.allowed_commands import DEFAULT_COMMANDS, FLAGS_COMMAND, commands_in, is_allowed
from bot.domain.playbook import parse
from bot.domain.tiers import Tier
from bot.heartbeat.run.forge_checks import items_in
from bot.heartbeat.run.offline_run import OfflineFullRun
from bot.heartbeat.run.probes import Probes
from tests.heartbeat.builders import a_view
from tests.heartbeat.garden import BASICS
from tests.tables import each_row

GH = "gh pr list --json number,title,url,headRefName,statusCheckRollup --limit 200"
GLAB = "`glab mr list --output json --per-page 100` and `glab ci list --output json --per-page 100`"


def check(name: str, conclusion: str, **more: str) -> dict[str, str]:
    return {"__typename": "CheckRun", "name": name, "status": "COMPLETED", "conclusion": conclusion, **more}


def pull(number: int, title: str, *rollup: dict[str, str]) -> dict[str, Any]:
    url = f"https://github.com/acme/shop/pull/{number}"
    return {
        "number": number,
        "title": title,
        "url": url,
        "headRefName": f"b{number}",
        "statusCheckRollup": list(rollup),
    }


def beat(folder: Path, task: str, **answers: object) -> Any:
    """Return the receipt of a task whose programs print these answers, each a list in JSON or text."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, answer in answers.items():
        text = answer if isinstance(answer, str) else json.dumps(answer)
        (folder / name).write_text(text)
    for program in ("gh", "glab"):
        path = programs / program
        path.write_text(f'#!/bin/sh\ncat "{folder}/{program}_$1"\n')
        path.chmod(0o755)
    view = a_view(folder, text=f"## Quick\n- [ ] Open: {task}\n")
    probes = Probes({"PATH": f"{programs}:{os.environ['PATH']}"})
    ran = probes.run(folder, view.tasks, DEFAULT_COMMANDS, at=view.started_at)
    assert not ran.refused
    seen = a_view(folder, text=f"## Quick\n- [ ] Open: {task}\n", probes=ran, changed=ran.results)
    return OfflineFullRun().run(seen).receipts[0]


def test_titles_and_names_are_not_judged_and_conclusions_are(tmp_path: Path) -> None:
    """A title with fail in it is no failing check; a failing check is, whatever the title."""
    well = pull(12, "Fix failing login test", check("fail-fast", "SUCCESS"), {"context": "ci/x", "state": "SUCCESS"})
    assert beat(tmp_path, f"`{GH}`", gh_pr=[well]).result == "ok"
    red = pull(13, "All good", check("build", "FAILURE"), {"context": "ci/deploy", "state": "ERROR"})
    receipt = beat(tmp_path, f"`{GH}`", gh_pr=[well, red])
    assert (receipt.result, receipt.key) == ("finding", "failing")
    assert "#13 All good (b13) https://github.com/acme/shop/pull/13: build, ci/deploy" in receipt.evidence
    assert "#12" not in receipt.evidence


def test_a_check_that_was_run_again_counts_as_it_ended_last() -> None:
    """And one that runs is neither."""
    first, again = (
        check("build", end, startedAt=at)
        for end, at in (("FAILURE", "2026-11-21T09:00:00Z"), ("SUCCESS", "2026-11-21T10:00:00Z"))
    )
    running = {"__typename": "CheckRun", "name": "e2e", "status": "IN_PROGRESS", "conclusion": ""}
    [item] = items_in(json.dumps([pull(1, "x", again, first, running)])) or ()
    assert (item.failing, item.is_running) == ((), True)


def test_when_a_run_ended_is_no_change(tmp_path: Path) -> None:
    """Times and ids of runs stay out of what is compared."""
    outputs = set()
    for minute in ("01", "02"):
        run = check("build", "SUCCESS", completedAt=f"2026-11-21T09:{minute}:00Z", detailsUrl=f"https://ci/{minute}")
        [item] = items_in(json.dumps([pull(1, "x", run)])) or ()
        outputs.add(item.line)
    assert len(outputs) == 1


def test_all_open_requests_are_read_however_long_their_list(tmp_path: Path) -> None:
    """Two hundred with thirty checks each are more than the limit of other commands."""
    many = [pull(n, f"Change {n}", *(check(f"job {m} {'x' * 60}", "SUCCESS") for m in range(30))) for n in range(199)]
    receipt = beat(tmp_path, f"`{GH}`", gh_pr=[*many, pull(500, "Last", check("build", "TIMED_OUT"))])
    assert "#500 Last" in receipt.evidence


def test_on_gitlab_the_newest_pipeline_of_each_open_request_counts(tmp_path: Path) -> None:
    """Not those of branches nobody asks to merge, nor one that was run again."""
    requests = [
        {
            "iid": 7,
            "title": "Fix failure",
            "source_branch": "fix",
            "web_url": "https://gitlab.com/a/b/-/merge_requests/7",
        }
    ]

    def run(ref: str, status: str) -> dict[str, Any]:
        return {"id": 1, "status": status, "ref": ref, "web_url": "https://gitlab.com/a/b/-/pipelines/1"}

    well = [run("fix", "success"), run("fix", "failed"), run("old", "failed")]
    assert beat(tmp_path, GLAB, glab_mr=requests, glab_ci=well).result == "ok"
    for ref in ("fix", "refs/merge-requests/7/head"):
        receipt = beat(tmp_path, GLAB, glab_mr=requests, glab_ci=[run(ref, "failed"), run("old", "failed")])
        assert receipt.key == "failing"
        assert "old" not in receipt.evidence


@each_row("printed", ["To get started, run gh auth login", "[1, 2]", '{"a": ', "null", "[" * 100_000])
def test_what_is_no_list_is_a_command_that_does_not_work(tmp_path: Path, printed: str) -> None:
    """Said as such, and never taken for good."""
    receipt = beat(tmp_path, f"`{GH}`", gh_pr=printed)
    assert (receipt.result, receipt.key) == ("finding", "commands")
    assert "printed no list in JSON" in receipt.evidence


def test_every_command_of_the_template_may_run(tmp_path: Path) -> None:
    """By the built-in list, for whichever host."""
    tasks = [task for tier in Tier for task in parse(BASICS).tasks(tier)]
    named = [argv for task in tasks for argv in commands_in([task.text]) if argv != FLAGS_COMMAND]
    assert [argv for argv in named if not is_allowed(argv, DEFAULT_COMMANDS, tmp_path)] == []
    assert any(argv[:3] == ("gh", "pr", "list") and "--json" in argv for argv in named)
