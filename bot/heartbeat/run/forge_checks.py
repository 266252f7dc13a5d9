"""Open pull and merge requests and their checks, from the fields of the JSON that gh and glab print. Pure.

Titles and names are shown and never judged. What comes out is short and stable: times and ids of runs are left out, so
that a check that ran again with the same end is no change.
Source: https://cli.github.com/manual/gh_pr_list and https://docs.gitlab.com/api/pipelines/
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.domain.text.sanitize import one_line

TITLE_CHARS: Final = 120
MAX_ITEMS: Final = 500
_FAILED: Final = frozenset(
    {"FAILURE", "FAILED", "ERROR", "TIMED_OUT", "STARTUP_FAILURE", "ACTION_REQUIRED", "CANCELLED", "CANCELED", "FAIL"}
)
_RUNNING: Final = frozenset(
    {"PENDING", "QUEUED", "IN_PROGRESS", "WAITING", "REQUESTED", "EXPECTED", "RUNNING", "CREATED"}
)
_MERGE_REF: Final = re.compile(r"refs/merge-requests/([0-9]{1,12})/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One pull request, or one run of checks; `ref` is its branch, `number` that of the request."""

    label: str
    ref: str
    number: str = ""
    failing: tuple[str, ...] = ()
    is_running: bool = False
    is_request: bool = False

    @property
    def line(self) -> str:
        """What is shown of it."""
        checks = (
            f"failing: {', '.join(self.failing)}" if self.failing else "running" if self.is_running else "no failure"
        )
        return f"{self.label} · checks: {checks}"


def items_in(output: str) -> tuple[Item, ...] | None:
    """Return what a list of JSON objects says, or None where it is no such list."""
    try:
        found = json.loads(output or "[]")
    except (ValueError, RecursionError):
        return None
    found = [found] if isinstance(found, dict) else found
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        return None
    return _newest_runs([_item(each) for each in found[:MAX_ITEMS]])


def of_open_requests(runs: Iterable[Item], requests: Iterable[Item]) -> tuple[Item, ...]:
    """Return the runs that belong to one of these requests: by its branch, or by its number in the run's ref."""
    known = list(requests)
    refs, numbers = {each.ref for each in known}, {each.number for each in known}
    return tuple(run for run in runs if run.ref in refs or _number_in(run.ref) in numbers)


def _number_in(ref: str) -> str | None:
    """Return the number of the merge request whose pipeline ran for a ref such as refs/merge-requests/7/head."""
    found = _MERGE_REF.match(ref)
    return found[1] if found else None


def _item(fields: Mapping[str, Any]) -> Item:
    number = _text(fields, "number", "iid")
    ref = _text(fields, "headRefName", "source_branch", "headBranch", "ref")
    is_request = bool(number) and ("ref" not in fields) and "conclusion" not in fields
    name = _text(fields, "title", "name", "workflowName", "context") or f"pipeline of {ref or '?'}"
    where = _text(fields, "url", "web_url", "link", "detailsUrl")
    head = f"#{number} {name}" if is_request else name
    label = " ".join(
        filter(None, [one_line(head, TITLE_CHARS), f"({one_line(ref, 80)})" if ref else "", one_line(where, 200)])
    )
    failing, is_running = _checks_of(fields)
    return Item(label=label, ref=ref, number=number, failing=failing, is_running=is_running, is_request=is_request)


def _checks_of(fields: Mapping[str, Any]) -> tuple[tuple[str, ...], bool]:
    """Return the names of the checks that fail, and whether any runs still."""
    rollup = fields.get("statusCheckRollup")
    pipeline = fields.get("head_pipeline")
    if isinstance(rollup, list):
        runs = _latest([each for each in rollup if isinstance(each, dict)])
    else:
        runs = [pipeline] if isinstance(pipeline, dict) else [fields]
    failing = [one_line(_text(run, "name", "context", "ref") or "a check", 60) for run in runs if _end(run) in _FAILED]
    return tuple(dict.fromkeys(failing)), any(_end(run) in _RUNNING for run in runs)


def _latest(runs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the newest run of each check; one that was run again counts as it ended last."""
    newest: dict[tuple[str, str], Mapping[str, Any]] = {}
    for run in sorted(runs, key=lambda run: _text(run, "startedAt", "createdAt")):
        newest[_text(run, "workflowName"), _text(run, "name", "context")] = run
    return list(newest.values())


def _end(run: Mapping[str, Any]) -> str:
    """Return how a check ended, or where it stands; the state of a pull request itself (OPEN) is neither."""
    return _text(run, "conclusion", "bucket", "state", "status").upper()


def _newest_runs(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return requests as they are, and of runs the first of each ref: lists begin with the newest."""
    seen: set[str] = set()
    kept = []
    for each in items:
        if each.is_request or not each.ref or each.ref not in seen:
            kept.append(each)
        if not each.is_request:
            seen.add(each.ref)
    return tuple(kept)


def _text(fields: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that says something, as text."""
    return next((str(fields[name]) for name in names if fields.get(name) not in (None, "", [], {})), "")
