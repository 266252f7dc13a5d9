"""Without a model code tells what changed, and says that nobody else looked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import Receipt
from bot.domain.heartbeats.checks import identity_of
from bot.domain.playbooks.playbook_entries import task_id
from bot.heartbeat.run.offline_run import NO_MODEL, OfflineFullRun
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from bot.heartbeat.run.receipts import judge_report
from tests.heartbeat.builders import AT, a_view
from tests.tables import each_row


def beat(
    cwd: Path,
    command: str,
    output: str,
    *,
    exit_code: int | None = 0,
    problem: str | None = None,
    earlier: dict[str, str] | None = None,
) -> Receipt:
    """Return the receipt of one task whose command printed this."""
    argv = tuple(command.split())
    result = ProbeResult(argv=argv, output=output, exit_code=exit_code, seconds=0.1, problem=problem)
    view = a_view(cwd, text=f"## Quick\n- [ ] Look: `{command}`\n")
    task = view.tasks[0]
    probes = ProbeReport(results=(result,), wanted=((task.id, argv),))
    known = a_view(
        cwd, text=f"## Quick\n- [ ] Look: `{command}`\n", probes=probes, changed=(result,), earlier=earlier or {}
    )
    report = OfflineFullRun().run(known)
    assert report.notes == (NO_MODEL,)
    assert report.usage is None
    return report.receipts[0]


def test_a_dirty_tree_is_a_finding_whose_id_stays(tmp_path: Path) -> None:
    """However many files it is about."""
    one = beat(tmp_path, "git status --porcelain", " M a.py\n")
    two = beat(tmp_path, "git status --porcelain", " M a.py\n?? b.py\n")
    assert (one.result, one.key) == ("finding", "dirty")
    assert two.key == "dirty"
    assert "2 uncommitted changes" in two.evidence


def test_a_clean_tree_is_well(tmp_path: Path) -> None:
    """The branch line is no change."""
    assert beat(tmp_path, "git status --porcelain=v1 --branch", "## main...origin/main\n").result == "ok"


def test_new_commits_are_told_once_there_is_a_before(tmp_path: Path) -> None:
    """The first beat knows no new ones."""
    log = "bbb2222 Fix\naaa1111 Start\n"
    command = "git log --oneline -n 20"
    assert beat(tmp_path, command, log).result == "ok"
    receipt = beat(tmp_path, command, log, earlier={command: "aaa1111 Start\n"})
    assert (receipt.result, receipt.key) == ("finding", "event-commits-bbb2222")
    assert "1 new commit" in receipt.evidence
    assert "aaa1111" not in receipt.evidence


def test_a_stale_branch_is_found_and_main_never_is(tmp_path: Path) -> None:
    """Seven days, by the date git prints."""
    command = "git for-each-ref refs/heads"
    receipt = beat(tmp_path, command, "2026-11-01 feature-x\n2026-11-20 fresh\n2026-01-01 main\n")
    assert receipt.key == "stale"
    assert "feature-x" in receipt.evidence
    assert "fresh" not in receipt.evidence
    assert "main" not in receipt.evidence


def test_a_failing_check_of_a_pull_request_is_found_by_its_column(tmp_path: Path) -> None:
    """A name that says fail is none; checks that still run are no command that does not work."""
    command, rows = "gh pr checks 7", "lint\tpass\t1m\thttps://x\nfail fast\tpass\t1m\thttps://x\n"
    failed = beat(tmp_path, command, f"{rows}build\tfail\t1m\thttps://x\n", exit_code=1, problem="x failed")
    assert failed.key == "failing"
    assert "build" in failed.evidence
    assert "lint" not in failed.evidence
    assert beat(tmp_path, command, rows).result == "ok"
    assert beat(tmp_path, command, f"{rows}e2e\tpending\t0\thttps://x\n", exit_code=8, problem="x").result == "ok"
    assert beat(tmp_path, command, "no checks reported\n", exit_code=1, problem="x failed").key == "commands"


def test_merge_conflicts_are_found_by_how_git_exits(tmp_path: Path) -> None:
    """A file named fail.txt that merges well is no conflict."""
    command, names = (
        "git merge-tree --write-tree --name-only HEAD origin/HEAD",
        "abc\nfail.txt\n\nAuto-merging fail.txt\n",
    )
    said = beat(tmp_path, command, f"{names}CONFLICT (content): a.py\n", exit_code=1, problem="failed")
    assert (said.key, "1 merge conflict" in said.evidence) == ("failing", True)
    assert beat(tmp_path, command, names).result == "ok"
    assert beat(tmp_path, command, "fatal: no\n", exit_code=128, problem="failed").key == "commands"


@each_row("command", ["gh pr list", "gh pr status"])
def test_a_title_that_speaks_of_failing_is_no_failing_check(tmp_path: Path, command: str) -> None:
    """Text of gh is titles; what is judged are the fields of its JSON."""
    titles = "12\tFix failing login test\tfix/failing\tOPEN\n"
    assert beat(tmp_path, command, titles, earlier={command: "11\tOther\tx\tOPEN\n"}).result == "ok"


def test_gh_that_is_missing_is_one_plain_finding(tmp_path: Path) -> None:
    """However many tasks need it."""
    receipt = beat(tmp_path, "gh pr list", "", exit_code=None, problem="gh is not installed")
    assert receipt.key == "commands"
    assert receipt.evidence == "1 command of HEARTBEAT.md does not work here\n- gh is not installed"


def test_what_only_a_model_could_tell_is_skipped_and_says_so(tmp_path: Path) -> None:
    """A receipt there is all the same."""
    view = a_view(tmp_path, text="## Quick\n- [ ] Do the dashboards look healthy?\n")
    receipts = OfflineFullRun().run(view).receipts
    assert [receipt.result for receipt in receipts] == ["skipped"]
    assert "needs a model" in receipts[0].evidence


def test_commands_that_do_not_work_make_one_finding_together(tmp_path: Path) -> None:
    """And their tasks are skipped, not well."""
    view = a_view(
        tmp_path, text="## Quick\n- [ ] A: `gh pr list`\n- [ ] B: `gh issue list`\n- [ ] C: `git status -s`\n"
    )
    argvs = [("gh", "pr", "list"), ("gh", "issue", "list"), ("git", "status", "-s")]
    results = tuple(
        ProbeResult(
            argv=argv, output="", exit_code=None if n < 2 else 0, seconds=0.1, problem=f"no {n}" if n < 2 else None
        )
        for n, argv in enumerate(argvs)
    )
    wanted = tuple((task.id, argv) for task, argv in zip(view.tasks, argvs, strict=True))
    receipts = OfflineFullRun().run(replace(view, probes=ProbeReport(results=results, wanted=wanted))).receipts
    assert [receipt.result for receipt in receipts] == ["finding", "skipped", "ok"]
    assert "no 0" in receipts[0].evidence
    assert "no 1" in receipts[0].evidence


def test_a_check_of_the_teams_own_that_says_no_is_a_finding(tmp_path: Path) -> None:
    """With its last output; the id stays, whatever it prints."""
    said = beat(tmp_path, "make lint", "a.py:1 bad\n", exit_code=2, problem="`make lint` failed: a.py:1 bad")
    assert (said.result, said.key) == ("finding", f"failing-{task_id('make lint')}")
    assert "fails (exit code 2)" in said.evidence
    assert "a.py:1 bad" in said.evidence


def test_a_check_that_was_cut_off_has_said_nothing(tmp_path: Path) -> None:
    """That is another alert than that it fails."""
    said = beat(tmp_path, "make lint", "", exit_code=-9, problem="`make lint` took over 30 s")
    assert (said.result, said.key) == ("finding", f"no-answer-{task_id('make lint')}")
    assert said.evidence.endswith("no answer: `make lint` took over 30 s")


def test_what_may_not_be_run_and_what_there_was_no_time_for_is_told(tmp_path: Path) -> None:
    """A check that is never made is no check that is well; without a model nobody else makes it."""
    view = a_view(tmp_path, text="## Quick\n- [ ] A: `df -h`\n- [ ] ! B: `git fsck`\n- [ ] C: `make lint`\n")
    asked = [("df", "-h"), ("git", "fsck"), ("make", "lint")]
    wanted = tuple((task.id, argv) for task, argv in zip(view.tasks, asked, strict=True))
    probes = ProbeReport(wanted=wanted, refused=(asked[0],), late=(asked[1], asked[2]))
    view = replace(view, probes=probes)
    report = OfflineFullRun().run(view)
    assert [receipt.key for receipt in report.receipts] == ["commands", "late", "late"]
    assert "`df -h` is not allowed by `commands`" in report.receipts[0].evidence
    assert report.receipts[1].evidence == "B: not run: no time was left for its commands"
    assert [each.severity.value for each in judge_report(view, report).findings] == ["act", "page", "act"]


def test_a_check_that_fails_no_more_is_well(tmp_path: Path) -> None:
    """That it prints something else now is no news of its own: the alert that it failed is resolved."""
    text = "## Quick\n- [ ] Lint: `make lint`\n"
    task = a_view(tmp_path, text=text).tasks[0]
    result = ProbeResult(argv=("make", "lint"), output="fine\n", exit_code=0, seconds=0.1)
    failing = OpenFinding(
        key=f"shop/{identity_of(task)}/failing",
        task=identity_of(task),
        text="Lint: `make lint` fails (exit code 2)",
        first_at=AT,
        last_at=AT,
    )
    view = a_view(
        tmp_path,
        text=text,
        probes=ProbeReport(results=(result,), wanted=((task.id, ("make", "lint")),)),
        changed=(result,),
        earlier={"make lint": "5 files\n"},
        open_findings=(failing,),
    )
    assert OfflineFullRun().run(view).receipts[0].result == "ok"
    assert OfflineFullRun().run(replace(view, open_findings=())).receipts[0].result == "finding"


def test_the_branch_the_remote_points_to_is_never_stale(tmp_path: Path) -> None:
    """git calls it `origin`, short for origin/HEAD."""
    printed = "2026-01-01\torigin\n2026-01-01\torigin/main\n"
    assert beat(tmp_path, "git for-each-ref refs/remotes/origin", printed).result == "ok"
