"""The beat without a model: what the free commands show, compared with the last good beat.

Every due task gets a receipt: `finding` where its commands show something a human should know, `ok` where they were
answered, `skipped` where only a model could tell. It says in every report that no model looked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from bot.domain.heartbeats.alerts import FAILING
from bot.domain.heartbeats.allowed_commands import Argv
from bot.domain.heartbeats.beats import BeatReport, Receipt, Reported
from bot.domain.heartbeats.checks import checks_of, identity_of
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.text.alarm_words import has_alarm_word
from bot.domain.text.humanize import counted
from bot.heartbeat.run.beat_record import first_lines, kept
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.run.failed_checks import failure_id, failure_text, failures, is_own, listed, titled
from bot.heartbeat.run.forge_checks import of_open_requests
from bot.heartbeat.run.probes import ProbeResult

STALE_AFTER: Final = timedelta(days=7)
NO_MODEL: Final = "No model was used: code compared the output of the commands in HEARTBEAT.md."

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_TRUNKS: Final = ("/HEAD", "/main", "/master", " main", " master", "\tmain", "\tmaster", "\torigin")
"""How the lines of branches end that never count as stale; `origin` is short for origin/HEAD."""

_PENDING: Final = 8
"""How `gh pr checks` exits while checks run."""

_CONFLICTS: Final = 1
"""How `git merge-tree` exits where the branches conflict."""


USELESS: Final = "commands"
"""The id of the finding that git, gh or glab do not work here, or that a command may not be run."""

LATE: Final = "late"
"""The id of the finding that a task's commands were not run for want of time."""


class ProbeChange(NamedTuple):
    """One thing a command shows: its stable id and what to say."""

    finding: str
    text: str


Reader = Callable[[ProbeResult, BeatView], ProbeChange | None]


class OfflineFullRun:
    """Port FullRun by code alone."""

    def run(self, view: BeatView) -> BeatReport:
        """Return receipts for each due task; all commands that can never work here make one finding together."""
        useless = {each.argv: str(each.problem) for each in view.probes.results if _is_broken(each)}
        useless |= {argv: f"`{' '.join(argv)}` is not allowed by `commands`" for argv in view.probes.refused}
        reports = _reporter(view, useless)
        receipts = [
            receipt for task in view.tasks for receipt in _receipts(task, view, useless, reports=task is reports)
        ]
        return BeatReport(message=view.session.beat.ack_token, receipts=tuple(receipts), usage=None, notes=(NO_MODEL,))


def _reporter(view: BeatView, useless: Collection[Argv]) -> PlaybookEntry | None:
    """Return the task whose finding names what does not work: where one is open already, that task's."""
    open_ = {each.task for each in view.open_findings if each.key.endswith(f"/{USELESS}")}
    known = [task for task in view.tasks if not open_.isdisjoint(checks_of(task))]
    concerned = [task for task in view.tasks if not view.probes.commands_of(task).isdisjoint(useless)]
    return next(iter([*known, *concerned]), None) if useless else None


def _receipts(task: PlaybookEntry, view: BeatView, useless: Mapping[Argv, str], *, reports: bool) -> list[Receipt]:
    """Return a finding for each check that fails and for what else is news, or one receipt that there is none.

    `reports`: its first finding names what does not work.
    """
    if task.id in view.exchange.receipts:
        return [view.exchange.receipts[task.id]]
    failed, late = failures(view, task), view.probes.commands_of(task).intersection(view.probes.late)
    answered = [each for each in view.probes.results_for(task) if each.argv not in useless and each not in failed]
    seen = [news for result in answered if (news := _reader(result)(result, view)) is not None]
    found = {
        **({USELESS: _useless_text(useless)} if reports else {}),
        **{failure_id(result): failure_text(task, result) for result in failed},
        **({LATE: titled(task, "not run: no time was left for its commands")} if late else {}),
        **({_name_of(task, view, seen): titled(task, *(each.text for each in seen))} if seen else {}),
    }
    findings = [
        Receipt(task=task.id, result="finding", evidence=found[name], finding=Reported(key=name, text=found[name]))
        for name in found
    ]
    return findings or [_unremarkable(task, view)]


def _name_of(task: PlaybookEntry, view: BeatView, seen: Sequence[ProbeChange]) -> str:
    """Return the id of what is news, which is never that of the team's own check of the same task."""
    name, check = "+".join(each.finding for each in seen), identity_of(task)
    is_taken = any(is_own(each) and task_id(each.command) == check for each in view.probes.results_for(task))
    return f"{name}-elsewhere" if name == FAILING and is_taken else name


def _useless_text(useless: Mapping[Argv, str]) -> str:
    lines = "\n".join(dict.fromkeys(f"- {problem}" for problem in useless.values()))
    count = counted(len(useless), "command of HEARTBEAT.md does", "commands of HEARTBEAT.md do")
    return f"{count} not work here\n{lines}"


def _unremarkable(task: PlaybookEntry, view: BeatView) -> Receipt:
    """Return the receipt of a task of which there is no news."""
    if not view.probes.names_commands(task):
        return Receipt(task=task.id, result="skipped", evidence="this needs a model; there is no API key")
    works = view.probes.covers(task) and all(not _is_broken(each) for each in view.probes.results_for(task))
    commands = ", ".join(sorted(map(" ".join, view.probes.commands_of(task))))
    return Receipt(task=task.id, result="ok" if works else "skipped", evidence=commands)


def _is_broken(result: ProbeResult) -> bool:
    """Whether a tool has no answer; a check of the team's own that has none is a finding of its own."""
    is_conflict = _reader(result) is _conflicts and result.exit_code == _CONFLICTS
    is_listing = result.exit_code == _PENDING or any(end == "fail" for _, end in _rows(result))
    return result.problem is not None and not (is_own(result) or is_conflict or (is_listing and bool(_rows(result))))


def _reader(result: ProbeResult) -> Reader:
    return next((read for words, read in _READERS.items() if result.argv[: len(words)] == words), _other)


def _any(finding: str, lines: list[str], one: str, many: str | None = None) -> ProbeChange | None:
    """Return how many lines there are, and the lines; None where there are none."""
    return ProbeChange(finding, f"{counted(len(lines), one, many)}\n{listed(lines)}") if lines else None


def _dirty(result: ProbeResult, _: BeatView) -> ProbeChange | None:
    """Uncommitted changes, and a branch that has left its upstream behind."""
    lines = [line for line in result.output.splitlines() if line and not line.startswith("##")]
    return _any("dirty", lines, "uncommitted change")


def _commits(result: ProbeResult, view: BeatView) -> ProbeChange | None:
    """Commits that were not there when the command was last answered."""
    before = set(view.earlier.get(result.command, "").splitlines())
    new = [line for line in first_lines(result.output).splitlines() if line.strip() and line not in before]
    if not new or result.command not in view.earlier:
        return None
    return ProbeChange(f"event-commits-{new[0].split()[0]}", f"{counted(len(new), 'new commit')}\n{listed(new)}")


def _branches(result: ProbeResult, view: BeatView) -> ProbeChange | None:
    """Branches without a commit for more than a week."""
    stale = [line.strip() for line in result.output.splitlines() if _is_stale(line, view.started_at)]
    return _any("stale", stale, "stale branch", "stale branches")


def _conflicts(result: ProbeResult, _: BeatView) -> ProbeChange | None:
    """Merge conflicts, by how git exits."""
    if result.exit_code != _CONFLICTS:
        return None
    lines = [line for line in result.output.splitlines() if line.startswith("CONFLICT ")]
    return ProbeChange(FAILING, f"{counted(len(lines), 'merge conflict')}\n{listed(lines)}")


def _check_rows(result: ProbeResult, _: BeatView) -> ProbeChange | None:
    """Checks of one pull request that fail, by the second column of `gh pr checks`."""
    if result.items is not None:
        return _requests(result, _)
    failing = [name for name, end in _rows(result) if end == "fail"]
    return _any(FAILING, failing, "check fails", "checks fail")


def _rows(result: ProbeResult) -> list[list[str]]:
    """Return the name and the end of each check that `gh pr checks` lists; nothing of any other command."""
    if result.argv[:3] != ("gh", "pr", "checks"):
        return []
    return [row[:2] for line in result.output.splitlines() if len(row := line.split("\t")) > 1]


def _requests(result: ProbeResult, view: BeatView) -> ProbeChange | None:
    """Requests and runs whose checks fail, by the fields of their JSON; of text nothing is judged, for it is titles."""
    items = result.items or ()
    others = [each for other in view.probes.results if other is not result for each in other.items or ()]
    requests = [each for each in others if each.is_request]
    if result.argv[:2] == ("glab", "ci") and any(other.argv[:2] == ("glab", "mr") for other in view.probes.results):
        items = of_open_requests(items, requests)
    failing = [f"{each.label}: {', '.join(each.failing)}" for each in items if each.failing]
    checks = "with failing checks"
    return _any(FAILING, failing, f"request or run {checks}", f"requests or runs {checks}")


def _other(result: ProbeResult, view: BeatView) -> ProbeChange | None:
    """Any other command: that it prints something else than it did."""
    if not _is_news(result, view):
        return None
    said = f"`{result.command}` prints something different now\n{listed(result.output.splitlines())}"
    return ProbeChange(result.digest[:8], said)


def _has_failed(result: ProbeResult, view: BeatView) -> bool:
    """Whether a command had an error at the last good beat, or an alert that it fails is open."""
    own = f"/{task_id(result.command)}/{FAILING}"
    alerted = any(each.key.endswith(own) for each in view.open_findings)
    return alerted or result.command in view.failed_before


def _is_news(result: ProbeResult, view: BeatView) -> bool:
    """Whether another answer than the last is worth a word: not at first sight, and not that something is well again.

    The first answer of a check after it failed is news if it speaks of trouble.
    """
    before = view.earlier.get(result.command)
    if result not in view.changed or kept(result.output) == before:
        return False
    if is_own(result) and _has_failed(result, view):
        return has_alarm_word(result.output)
    if before is None or not is_own(result):
        return before is not None
    return has_alarm_word(result.output) or not has_alarm_word(before)


_READERS: Final[dict[tuple[str, ...], Reader]] = {
    ("git", "status"): _dirty,
    ("git", "log"): _commits,
    ("git", "for-each-ref"): _branches,
    ("git", "merge-tree"): _conflicts,
    ("gh", "pr", "checks"): _check_rows,
    ("gh", "pr"): _requests,
    ("gh", "run"): _requests,
    ("glab", "mr"): _requests,
    ("glab", "ci"): _requests,
}


def _is_stale(line: str, now: datetime) -> bool:
    found = _DATE.search(line)
    if found is None or line.rstrip().endswith(_TRUNKS):
        return False
    try:
        return now.date() - datetime.fromisoformat(found[0]).date() > STALE_AFTER
    except ValueError:
        return False
