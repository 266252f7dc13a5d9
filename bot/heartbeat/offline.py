"""The beat without a model: what the free commands show, compared with the last good beat.

Every due task gets a receipt: `finding` where its commands show something a human should know, `ok` where they were
answered, `skipped` where only a model could tell. It says in every report that no model looked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from bot.domain.alarm_words import has_alarm_word
from bot.domain.beats import Receipt
from bot.domain.playbook_entries import Entry
from bot.heartbeat.checks import FAILING, failure_text, listed, says_no, titled
from bot.heartbeat.identity import identity_of_lines
from bot.heartbeat.outcome import OUTPUT_CHARS
from bot.heartbeat.probes import ProbeResult
from bot.heartbeat.view import BeatReport, BeatView

STALE_AFTER: Final = timedelta(days=7)
NO_MODEL: Final = "No model looked: code compared what the commands of HEARTBEAT.md print."

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_TRUNKS: Final = ("/HEAD", "/main", "/master", " main", " master", "\tmain", "\tmaster", "\torigin")
"""How the lines of branches end that never count as stale; `origin` is short for origin/HEAD."""
_FAILING: Final = re.compile(r"\bfail(?:ed|ing|ure)?\b|\bX\b|✗|\bCONFLICT\b", re.IGNORECASE)


class Seen(NamedTuple):
    """One thing a command shows: its stable id and what to say."""

    finding: str
    text: str


Reader = Callable[[ProbeResult, BeatView], Seen | None]


class OfflineRun:
    """Port FullRun by code alone."""

    def run(self, view: BeatView) -> BeatReport:
        """Return a receipt for each due task; all commands that do not work here make one finding together."""
        broken = [result for result in view.probes.results if _is_broken(result)]
        reports = next((task for task in view.tasks if set(view.probes.of(task)) & set(broken)), None)
        receipts = tuple(
            _of_the_broken(task, broken) if task is reports else _receipt(task, view, broken) for task in view.tasks
        )
        return BeatReport(message=view.session.beat.ack_token, receipts=receipts, usage=None, notes=(NO_MODEL,))


def _of_the_broken(task: Entry, broken: list[ProbeResult]) -> Receipt:
    lines = "\n".join(dict.fromkeys(f"- {result.problem}" for result in broken))
    text = f"{_count(broken, 'command')} of HEARTBEAT.md {'does' if len(broken) == 1 else 'do'} not work here\n{lines}"
    return Receipt(task=task.id, status="finding", evidence=text, finding="commands")


def _receipt(task: Entry, view: BeatView, broken: list[ProbeResult]) -> Receipt:
    results = view.probes.of(task)
    if task.id in view.exchange.receipts:
        return view.exchange.receipts[task.id]
    if not results:
        return Receipt(task=task.id, status="skipped", evidence="only a model could tell; there is no API key")
    seen = [found for result in results if result not in broken and (found := _read(result, view)) is not None]
    if not seen:
        works = view.probes.covers(task) and all(result not in broken for result in results)
        return Receipt(task=task.id, status="ok" if works else "skipped", evidence=results[0].command)
    text = titled(task, *(each.text for each in seen))
    return Receipt(task=task.id, status="finding", evidence=text, finding="+".join(each.finding for each in seen))


def _is_broken(result: ProbeResult) -> bool:
    """Whether a command has no answer; checks that fail exit with an error and are one."""
    is_failed_check = says_no(result) or (_reader(result) is _checks and bool(_failing(result)))
    return result.problem is not None and not is_failed_check


def _read(result: ProbeResult, view: BeatView) -> Seen | None:
    return _reader(result)(result, view)


def _reader(result: ProbeResult) -> Reader:
    return next((read for words, read in _READERS.items() if result.argv[: len(words)] == words), _other)


def _dirty(result: ProbeResult, _: BeatView) -> Seen | None:
    """Uncommitted changes, and a branch that has left its upstream behind."""
    lines = [line for line in result.output.splitlines() if line and not line.startswith("##")]
    if not lines:
        return None
    return Seen("dirty", f"{_count(lines, 'uncommitted change')}\n{listed(lines)}")


def _commits(result: ProbeResult, view: BeatView) -> Seen | None:
    """Commits that were not there at the last good beat."""
    before = set(view.earlier.get(result.command, "").splitlines())
    new = [line for line in result.output.splitlines() if line.strip() and line not in before]
    if not new or result.command not in view.earlier:
        return None
    return Seen(f"event-commits-{new[0].split()[0]}", f"{_count(new, 'new commit')}\n{listed(new)}")


def _branches(result: ProbeResult, view: BeatView) -> Seen | None:
    """Branches without a commit for more than a week."""
    stale = [line.strip() for line in result.output.splitlines() if _is_stale(line, view.started_at)]
    return Seen("stale", f"{_count(stale, 'stale branch', 'stale branches')}\n{listed(stale)}") if stale else None


def _checks(result: ProbeResult, _: BeatView) -> Seen | None:
    """Checks of pull requests that fail, merge conflicts among them."""
    failing = _failing(result)
    return Seen("failing", f"{_count(failing, 'thing fails', 'things fail')}\n{listed(failing)}") if failing else None


def _failing(result: ProbeResult) -> list[str]:
    return [line.strip() for line in result.output.splitlines() if _FAILING.search(line)]


def _other(result: ProbeResult, view: BeatView) -> Seen | None:
    """Any other command: that it fails, or that it prints something else than it did."""
    if says_no(result):
        return Seen(FAILING, failure_text(result))
    if not _is_news(result, view):
        return None
    said = f"`{result.command}` prints something else than before\n{listed(result.output.splitlines())}"
    return Seen(result.digest[:8], said)


def _has_failed(result: ProbeResult, view: BeatView) -> bool:
    """Whether a command had an error at the last good beat, or an alert that it fails is open."""
    check = identity_of_lines(f"`{result.command}`")
    alerted = any(each.task == check and each.key.endswith(f"/{FAILING}") for each in view.open_findings)
    return alerted or result.command in view.failed_before


def _is_news(result: ProbeResult, view: BeatView) -> bool:
    """Whether another output is worth a word: not at first sight, and not that something is well again."""
    before = view.earlier.get(result.command)
    if before is None or result not in view.changed or _has_failed(result, view):
        return False
    if len(result.output) <= OUTPUT_CHARS and result.output == before:
        return False
    return has_alarm_word(result.output) or not has_alarm_word(before)


_READERS: Final[dict[tuple[str, ...], Reader]] = {
    ("git", "status"): _dirty,
    ("git", "log"): _commits,
    ("git", "for-each-ref"): _branches,
    ("git", "merge-tree"): _checks,
    ("gh", "pr"): _checks,
}


def _is_stale(line: str, now: datetime) -> bool:
    found = _DATE.search(line)
    if found is None or line.rstrip().endswith(_TRUNKS):
        return False
    try:
        return now.date() - datetime.fromisoformat(found[0]).date() > STALE_AFTER
    except ValueError:
        return False


def _count(things: Sequence[object], one: str, many: str | None = None) -> str:
    return f"{len(things)} {one if len(things) == 1 else many or one + 's'}"
