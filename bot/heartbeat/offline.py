"""The beat without a model: what the free commands show, compared with the last good beat.

Every due task gets a receipt: `finding` where its commands show something a human should know, `ok` where they were
answered, `skipped` where only a model could tell. It says in every report that no model looked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from bot.domain.beats import Receipt
from bot.domain.playbook_entries import Entry
from bot.domain.returns import Usage
from bot.heartbeat.probes import ProbeResult
from bot.heartbeat.view import BeatReport, BeatView

STALE_AFTER: Final = timedelta(days=7)
SHOWN_LINES: Final = 8
NO_MODEL: Final = "No model was used: code compared what the playbook's commands print."

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_FAILING: Final = re.compile(r"\bfail(?:ed|ing|ure)?\b|\bX\b|✗|\bCONFLICT\b", re.IGNORECASE)


class Seen(NamedTuple):
    """One thing a command shows: its stable id and what to say."""

    finding: str
    text: str


Reader = Callable[[ProbeResult, BeatView], Seen | None]


class OfflineRun:
    """Port FullRun by code alone."""

    def run(self, view: BeatView) -> BeatReport:
        """Return a receipt for each due task and one line on what was seen."""
        receipts = tuple(_receipt(task, view) for task in view.tasks)
        found = [receipt.evidence for receipt in receipts if receipt.status == "finding"]
        message = "\n\n".join(found) if found else view.session.beat.ack_token
        return BeatReport(message=message, receipts=receipts, usage=Usage(), reasoning=NO_MODEL)


def _receipt(task: Entry, view: BeatView) -> Receipt:
    results = view.probes.of(task)
    if not results:
        return Receipt(task=task.id, status="skipped", evidence="only a model could tell; there is no API key")
    seen = [found for result in results if (found := _read(result, view)) is not None]
    if not seen:
        return Receipt(task=task.id, status="ok", evidence="; ".join(result.command for result in results))
    text = "\n\n".join(f"{task.text.partition('`')[0].rstrip(' :')}: {each.text}" for each in seen)
    return Receipt(task=task.id, status="finding", evidence=text, finding="+".join(each.finding for each in seen))


def _read(result: ProbeResult, view: BeatView) -> Seen | None:
    if result.problem is not None and result.exit_code is None:
        return Seen("cannot-run", f"{result.problem}. Install it, or take the command out of HEARTBEAT.md.")
    reader = next((read for words, read in _READERS.items() if result.argv[: len(words)] == words), _other)
    return reader(result, view)


def _dirty(result: ProbeResult, _: BeatView) -> Seen | None:
    """Uncommitted changes, and a branch that has left its upstream behind."""
    lines = [line for line in result.output.splitlines() if line and not line.startswith("##")]
    if result.problem:
        return _failed(result)
    if not lines:
        return None
    return Seen("dirty", f"{_count(lines, 'uncommitted change')}\n{_listed(lines)}")


def _commits(result: ProbeResult, view: BeatView) -> Seen | None:
    """Commits that were not there at the last good beat."""
    if result.problem:
        return _failed(result)
    before = set(view.earlier.get(result.command, "").splitlines())
    new = [line for line in result.output.splitlines() if line.strip() and line not in before]
    if not new or result.command not in view.earlier:
        return None
    return Seen(f"event-commits-{new[0].split()[0]}", f"{_count(new, 'new commit')}\n{_listed(new)}")


def _branches(result: ProbeResult, view: BeatView) -> Seen | None:
    """Branches without a commit for more than a week."""
    if result.problem:
        return _failed(result)
    stale = [line.strip() for line in result.output.splitlines() if _is_stale(line, view.started_at)]
    return Seen("stale", f"{_count(stale, 'stale branch', 'stale branches')}\n{_listed(stale)}") if stale else None


def _checks(result: ProbeResult, _: BeatView) -> Seen | None:
    """Checks of pull requests that fail, merge conflicts among them."""
    failing = [line.strip() for line in result.output.splitlines() if _FAILING.search(line)]
    if failing:
        return Seen("failing", f"{_count(failing, 'failing line')}\n{_listed(failing)}")
    return _failed(result) if result.problem else None


def _other(result: ProbeResult, view: BeatView) -> Seen | None:
    """Any other command: that it fails, or that it prints something else than it did."""
    if result.problem:
        return _failed(result)
    if result.command in view.earlier and result in view.changed:
        return Seen(
            result.digest[:8],
            f"`{result.command}` prints something else than before\n{_listed(result.output.splitlines())}",
        )
    return None


def _failed(result: ProbeResult) -> Seen:
    return Seen("fails", f"{result.problem}")


_READERS: Final[dict[tuple[str, ...], Reader]] = {
    ("git", "status"): _dirty,
    ("git", "log"): _commits,
    ("git", "for-each-ref"): _branches,
    ("git", "merge-tree"): _checks,
    ("gh", "pr"): _checks,
}


def _is_stale(line: str, now: datetime) -> bool:
    found = _DATE.search(line)
    if found is None or line.rstrip().endswith(("/HEAD", "/main", "/master", " main", " master", "\tmain", "\tmaster")):
        return False
    try:
        return now.date() - datetime.fromisoformat(found[0]).date() > STALE_AFTER
    except ValueError:
        return False


def _count(lines: list[str], one: str, many: str | None = None) -> str:
    return f"{len(lines)} {one if len(lines) == 1 else many or one + 's'}"


def _listed(lines: list[str]) -> str:
    shown = [f"- `{line.replace('`', chr(39))[:160]}`" for line in lines[:SHOWN_LINES]]
    rest = len(lines) - len(shown)
    return "\n".join([*shown, *([f"- … {rest} more"] if rest else [])])
