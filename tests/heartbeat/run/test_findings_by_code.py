"""Without a model exit codes decide, and the beat says that nobody else looked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import BeatReport
from bot.domain.playbook_entries import task_id
from bot.heartbeat.run.findings import NO_MODEL, report_by_code
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from tests.heartbeat.builders import AT, a_view

TEXT = "## Quick\n- [ ] Look: `./check`\n- [ ] Tree: `git status`\n- [ ] Disk: `df -h`\n- [ ] All well?\n"


def beat(cwd: Path, look: int = 0, tree: str = "", **more: Any) -> BeatReport:
    """Return the report of a beat in which the first command exits so and the second prints this."""
    status = ("git", "status")
    problem = None if look == 0 else "`./check` failed: no"
    results = (
        ProbeResult(argv=("./check",), output="no", exit_code=look, seconds=0.1, problem=problem),
        ProbeResult(argv=status, output=tree, exit_code=0, seconds=0.1),
    )
    probes = ProbeReport(results=results, refused=(("df", "-h"),))
    view = a_view(cwd, text=TEXT, probes=probes, changed=results, **{"earlier": {"git status": "1f"}, **more})
    return report_by_code(view)


def test_every_due_task_has_a_receipt(tmp_path: Path) -> None:
    """A command that may not run, and a task in words, are skipped."""
    report = beat(tmp_path)
    assert [each.result for each in report.receipts] == ["ok", "ok", "skipped", "skipped"]
    assert (report.notes, report.usage, report.status) == ((NO_MODEL,), None, "ok")
    assert [each.result for each in beat(tmp_path, 1).receipts] == ["finding", "ok", "skipped", "skipped"]


def test_what_a_good_command_prints_anew_is_a_line_of_the_daily_report(tmp_path: Path) -> None:
    """Not at first sight, nor what failed until now: its alert says that."""
    said = "`git status` printed something else: M a.py (+1 line)"
    assert beat(tmp_path, tree=" M a.py\n?? b.py\n").changes == (said,)
    assert beat(tmp_path, tree=" M a.py\n", earlier={}).changes == ()
    assert beat(tmp_path, earlier={"git status": "1f"}).changes == ("`git status` printed something else: (nothing)",)
    key = f"shop/{task_id('git status')}/git-status"
    known = OpenFinding(key=key, task=task_id("git status"), text="fails", first_at=AT, last_at=AT)
    assert beat(tmp_path, open_findings=(known,)).changes == ()
