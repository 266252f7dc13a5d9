"""The table at the end of a run: each step of tests/crashes/steps.py, how often it was met, and how that went.

A hook for tests/conftest.py: where tests run side by side, the process that reports reads no other conftest.
"""

from __future__ import annotations

from collections import defaultdict

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for each step."""
    rows: dict[str, list[pytest.TestReport]] = defaultdict(list)
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            if report.when == "call" and (name := dict(report.user_properties).get("crash_step")):
                rows[str(name)].append(report)
    if not rows:
        return
    terminalreporter.section("killed at")
    for name, reports in rows.items():
        bad = sum(report.failed for report in reports)
        seconds = sum(report.duration for report in reports) / len(reports)
        outcome = f"{bad} FAILED" if bad else "nothing lost, nothing twice"
        terminalreporter.write_line(f"{name:<38} {len(reports)} rounds  {seconds:5.2f} s  {outcome}")
