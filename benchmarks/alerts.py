"""How well are alerts read, and does one alert stay one? On messages and log lines that nothing was tuned on.

    python -m benchmarks alerts [--logs GIT_DIR]

State and grouping of benchmarks/alert_messages.yml. With GIT_DIR (a clone of logpai/loghub; not in the repository) also
the lines of its labelled logs, each read as an alert's title: lines of different templates are different alerts; lines
of one template that differ only in numbers are counted as one, though numbers in names ("task 3") tell alerts apart. A
line that is only a state word ("normal") names nothing and is left out.
Exit code 0 if REQUIRED_STATES are right, nothing that ended reads as firing, and precision and recall of pairs reach
REQUIRED_PRECISION and REQUIRED_RECALL on the messages and REQUIRED_PRECISION on the lines; 1 if not.
"""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from bot.domain.alerts import Alert, AlertState
from bot.intake.alerts import read_alert

REQUIRED_STATES, REQUIRED_PRECISION, REQUIRED_RECALL = 0.95, 0.99, 0.95
_MESSAGES = Path(__file__).with_name("alert_messages.yml")
_LOG = "_2k.log_structured.csv"
_NUMBER = re.compile(r"[-+#]?\d+(?:[.,]\d+)?\s?[a-zA-Z%]{0,2}|[\d:.]+:[\d.]+|\d{4}[-/]\d\d?[-/]\d\d?.{0,20}")


class Line(NamedTuple):
    """A message or log line: what it is about, what of that must be equal in two lines of one alert, what was read."""

    label: Hashable
    thing: Hashable
    fingerprint: str


class Grouping(NamedTuple):
    """Pairs of lines: read as one alert, of them rightly; that are one alert, of them found."""

    joined: int
    rightly: int
    same: int
    found: int

    @property
    def precision(self) -> float:
        """Of the pairs read as one alert, how many are about one."""
        return self.rightly / max(1, self.joined)

    @property
    def recall(self) -> float:
        """Of the pairs about one alert, how many were read so."""
        return self.found / max(1, self.same)


def grouping(lines: Sequence[Line]) -> Grouping:
    """Count pairs.

    >>> grouping([Line("a", 1, "x"), Line("a", 1, "x"), Line("b", 1, "x")])
    Grouping(joined=3, rightly=1, same=1, found=1)
    """
    return Grouping(
        joined=_pairs(line.fingerprint for line in lines),
        rightly=_pairs((line.fingerprint, line.label) for line in lines),
        same=_pairs((line.label, line.thing) for line in lines),
        found=_pairs(lines),
    )


def main(argv: Sequence[str] = ()) -> int:
    """Measure and print; returns the exit code described above."""
    reached = measure_messages(_MESSAGES)
    if len(argv) == 2 and argv[0] == "--logs":
        reached = measure_logs(argv[1]) and reached
    return 0 if reached else 1


def measure_messages(path: Path) -> bool:
    """Print what is read wrongly and the figures; returns whether they are good enough."""
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    read = [(row, _read({"subtype": "bot_message", **row["message"]})) for row in rows]
    wrong = [(row, alert) for row, alert in read if alert.state != row["state"]]
    loud = [row for row, alert in wrong if alert.state is AlertState.FIRING]
    for row, alert in wrong:
        print(f"  {row['alert']}: {alert.state}, not {row['state']}")
    right = 1 - len(wrong) / len(rows)
    severe = sum(alert.severity == row.get("severity", alert.severity) for row, alert in read) / len(rows)
    found = grouping([Line(row["alert"], None, alert.fingerprint) for row, alert in read])
    print(f"{len(rows)} messages: state {right:.1%}, {len(loud)} that ended or are owned read as firing")
    print(f"  severity {severe:.1%}; pairs: precision {found.precision:.1%}, recall {found.recall:.1%}")
    is_grouped = found.precision >= REQUIRED_PRECISION and found.recall >= REQUIRED_RECALL
    return right >= REQUIRED_STATES and not loud and is_grouped


def measure_logs(git_dir: str) -> bool:
    """Print the figures of each log and of all; returns whether the precision of each is good enough."""
    names = _git(git_dir, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    found = {}
    for name in (name for name in names if name.endswith(_LOG)):
        rows = csv.DictReader(io.StringIO(_git(git_dir, "show", f"HEAD:{name}")))
        found[name.partition("/")[0]] = grouping(list(filter(None, map(_line, rows))))
    everything = Grouping(*(sum(counts) for counts in zip(*found.values(), strict=True)))
    for log, one in {**found, "all": everything}.items():
        print(f"  {log}: precision {one.precision:.2%}, recall {one.recall:.1%}")
    return all(one.precision >= REQUIRED_PRECISION for one in found.values())


def _line(row: dict[str, str]) -> Line | None:
    template, content = row["EventTemplate"], row["Content"]
    form = re.escape(template).replace(re.escape("<*>"), "(.*?)")
    filled = re.fullmatch(form, content, re.DOTALL)
    values = filled.groups() if filled else (content,)
    alert = _read({"bot_id": "B1", "text": content})
    names = tuple(value for value in values if not _NUMBER.fullmatch(value))
    return Line(template, names, alert.fingerprint) if alert.name else None


def _read(message: dict[str, object]) -> Alert:
    found = read_alert(message)
    assert found is not None, "a bot's message with words is an alert"
    return found


def _pairs(keys: Iterable[Hashable]) -> int:
    return sum(count * (count - 1) // 2 for count in Counter(keys).values())


def _git(git_dir: str, *arguments: str) -> str:
    command = ["git", "--git-dir", git_dir, *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
