"""A session whose commands answer as the test says, and what its owner sees of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.domain.heartbeats.alerts import OpenFinding, finding_digest
from bot.domain.heartbeats.allowed_commands import Argv
from bot.domain.heartbeats.beats import Wake
from bot.heartbeat.pages import FindingResponses
from bot.heartbeat.run.findings import report_by_code
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from tests.heartbeat.room import BeatRoom

CHECK = ("python3", "check.py")
STOCK = ("python3", "stock.py")
LINE = "Orders: `python3 check.py`"
BELOW = "Backends\n  - Orders: `python3 check.py`\n  - ! Stock: `python3 stock.py`"
FRAME = "# Shop\n\n## Timestamps\n\n{{stamps}}\n## Quick Tasks\n\n{tasks}\n\n## Notes\n"
DAILY = "# Shop\n\n## Timestamps\n\n{{stamps}}\n## Daily Tasks\n\n{tasks}\n\n## Notes\n"


@dataclass
class FakeProbes:
    """Answers of commands, as the test sets them; of those in `late` no time was left, those in `refused` never run."""

    answers: dict[Argv, ProbeResult] = field(default_factory=dict)
    late: set[Argv] = field(default_factory=set)
    refused: set[Argv] = field(default_factory=set)

    def set(self, exit_code: int | None, output: str, argv: Argv = CHECK, seconds: float = 0.1) -> None:
        """Have a command exit so; None: it is not installed, below 0: it was killed."""
        is_pending = argv[:3] == ("gh", "pr", "checks") and exit_code == 8
        problem = None if exit_code == 0 or is_pending else f"`{' '.join(argv)}` failed: {output}"
        problem = f"{argv[0]} is not installed" if exit_code is None else problem
        self.answers[argv] = ProbeResult(
            argv=argv, output=output, exit_code=exit_code, seconds=seconds, problem=problem
        )

    def run(self, _: Path, tasks: Sequence[Any], __: Any, *, at: datetime, **_known: Any) -> ProbeReport:
        named = list(dict.fromkeys(argv for task in tasks for argv in task.commands))
        return ProbeReport(
            results=tuple(replace(self._answer(argv), at=at) for argv in named if argv not in self.refused),
            refused=tuple(argv for argv in named if argv in self.refused),
        )

    def _answer(self, argv: Argv) -> ProbeResult:
        if argv not in self.late:
            return self.answers[argv]
        return ProbeResult(argv=argv, output="", exit_code=None, seconds=0.0, problem=f"no time was left for `{argv}`")


class Watch:
    """A session with one check, and what its owner sees."""

    def __init__(self, folder: Path, *minds: Any, line: str = LINE, **beat: Any) -> None:
        self.probes = FakeProbes()
        self.probes.set(0, "fine")
        self.room = BeatRoom(folder, *(minds or (report_by_code,)), probes=self.probes, **beat)
        self.findings = FindingResponses(self.room.store, self.room.alerts, self.room.clock)
        self.says(line)

    def says(self, *lines: str, frame: str = FRAME) -> None:
        """Replace the playbook by hand."""
        self.room.write_playbook(frame.format(tasks="\n".join(f"- [ ] {line}" for line in lines)))

    def beat(self, exit_code: int | None = None, output: str = "", wake: Wake = Wake.INTERVAL) -> list[str]:
        """Have one beat, after the check took this result; return what rang."""
        if exit_code is not None:
            self.probes.set(exit_code, output)
        before = len(self.room.surface.sent)
        self.line = self.room.beat(wake)
        return self.room.surface.texts[before:]

    def acknowledge(self) -> None:
        """Acknowledge whatever is open."""
        for each in self.known:
            if each.is_open and not each.acknowledged_by:
                self.findings.acknowledge("shop", finding_digest(each.key), by="U0ANN")

    def snooze(self) -> None:
        """Snooze whatever is open for a day."""
        for each in self.known:
            if each.is_open:
                self.findings.snooze("shop", finding_digest(each.key), "24 h")

    def fix(self) -> None:
        """Say of whatever is open that it is fixed."""
        for each in self.known:
            if each.is_open:
                self.findings.fix("shop", finding_digest(each.key), by="U0ANN")

    @property
    def known(self) -> list[OpenFinding]:
        return list(self.room.state.findings.values())

    @property
    def shown(self) -> OpenFinding:
        """What the card that was changed last shows."""
        finding = self.room.surface.updated[-1][1].finding
        assert finding is not None
        return finding
