"""What makes the output of a command another one: a hash without what differs from run to run anyway. Pure.

Of an answer, clocks near its run, durations and ids of runs are left out; every other number may be what is watched. A
duration that is watched belongs into the exit code of a check. Of a failure only its kind counts.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from bot.domain.heartbeats.allowed_commands import Argv

_CLOCK: Final = re.compile(
    r"\b(?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2})\b)?)"
    r"|\b[A-Z][a-z]{2} (?P<day>[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9]{2}:[0-9]{2}:[0-9]{2}) [A-Z]{2,5} "
    r"(?P<year>[0-9]{4})\b"
    r"|(?<![\w.:])(?P<unix>[0-9]{10})(?:\.[0-9]{1,9}|[0-9]{3})?(?![\w:])"
    r"|(?<![\w.:-])(?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,][0-9]{1,9})?(?![\w:])"
)
"""A date with a time of day as most programs and `date` write it, seconds or milliseconds since 1970, a time of day."""

_OWN_CLOCK: Final = timedelta(minutes=3)
"""A time so near to that of its run is what a command took from the clock, and says nothing of what it looks at."""

_DAY, _NOON = timedelta(days=1), timedelta(hours=12)
_DURATION: Final = re.compile(
    r"(?<![\w.:/#-])(?![0-9a-f]{7,64}(?!\w))(?>(?:[0-9]{1,9}(?:\.[0-9]{1,9})?"
    r"(?: ?(?:[nuµm]?s|secs?|mins?|hrs?|(?:milli|micro|nano)?seconds?|minutes?|hours?|days?|weeks?|months?|years?)"
    r"|[mhdwy])"
    r"(?![A-Za-zµ])(?:,? (?=[0-9]))?)+)(?![\w/:-])"
)
"""`3.21s`, `1m3s`, `4 days, 2 hours`; a commit such as 12d345d is none."""

_RUN_ID: Final = re.compile(
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|(?<=/)(?:runs|job|jobs|builds|pipelines)/[0-9]{1,20}\b"
    r"|(?i:\b(?:run|request|trace)[_ -]?id\b\W{1,4}[\w-]{1,64})"
)
"""A UUID, a run in the address of a CI server, what a program calls the id of a run or of a request."""

_GAP: Final = re.compile(r"(?<=\S)[ \t]+")
_CLUSTER_CLIENTS: Final = ("kubectl", "oc")
_READY: Final = re.compile(r"(?<!\S)([0-9]{1,6})/([0-9]{1,6})(?!\S)")
_RUNS: Final = re.compile(r"(?<!\S)(?:Active|Bound|Ready|Running)(?!\S)")
_ENDED: Final = re.compile(r"(?<!\S)(?:Complete|Completed|Succeeded)(?!\S)")

_VARIES: Final = re.compile(r"(?:At|_at|Id|_id)$|^(?:id|detailsUrl|avatar_url)$")
"""The fields of a forge that hold a time, or the id or address of a run."""

_WELL: Final = ("SUCCESS", "NEUTRAL", "SKIPPED")


def output_digest(argv: Argv, output: str, *, exit_code: int | None, problem: str | None, at: datetime | None) -> str:
    """Return the hash by which two outputs of a command are compared.

    `problem` says why it has no good answer; `at` is when the commands of its beat began to run.
    """
    if problem is not None:
        said = "" if (exit_code or 0) > 0 else problem
    else:
        is_cluster = argv[0] in _CLUSTER_CLIENTS
        said = "\n".join(_lasting(line, at, is_aged=is_cluster and not _is_well(line)) for line in output.splitlines())
    return hashlib.sha256(f"{exit_code}\0{said}".encode()).hexdigest()[:32]


def _lasting(line: str, at: datetime | None, *, is_aged: bool) -> str:
    """Return what of a line outlasts its run; a column is as wide as what stands in it, so its spaces do not."""
    left = line if at is None else _CLOCK.sub(lambda found: "" if _is_own_clock(found, at) else found[0], line)
    left = _RUN_ID.sub("", left if is_aged else _DURATION.sub("", left))
    return _GAP.sub(" ", left if left == line else left.lstrip()).rstrip()


def _is_own_clock(found: re.Match[str], at: datetime) -> bool:
    """Whether a time is that of the run; one without a zone is UTC's or the machine's."""
    try:
        if found["unix"]:
            told = datetime.fromtimestamp(int(found["unix"]), UTC)
        elif found["day"]:
            told = datetime.strptime(f"{found['day']} {found['year']}", "%b %d %H:%M:%S %Y")
        elif found["iso"]:
            day, _, time_of_day = found["iso"].replace("UTC", "Z").replace("T", " ").partition(" ")
            told = datetime.fromisoformat(f"{day} {time_of_day.replace(' ', '')}")
        else:
            told = datetime.fromisoformat(f"{at:%Y-%m-%d} {found['time']}")
        meant = (told,) if told.tzinfo else (told.replace(tzinfo=UTC), told.astimezone())
        away = [each - at for each in meant]
        return any(abs((each + _NOON) % _DAY - _NOON if found["time"] else each) <= _OWN_CLOCK for each in away)
    except (ValueError, OverflowError):
        return False


def _is_well(row: str) -> bool:
    """Whether a row of a cluster's table is in order; of any other its age tells whether it is only starting."""
    ready = [count == wanted for count, wanted in _READY.findall(row)]
    return _ENDED.search(row) is not None or (all(ready) and (bool(ready) or _RUNS.search(row) is not None))


def forge_rows(printed: str) -> str | None:
    """Return each object in the JSON of gh or glab in a line of its own; None where it is no list of objects.

    Titles and names are shown and never judged. Left out is what is empty, times, ids and addresses of runs, and of the
    checks of a request those that are well or were run again.
    Source: https://cli.github.com/manual/gh_pr_list and https://docs.gitlab.com/api/pipelines/

    >>> forge_rows('[{"number": 7, "closedAt": "", "statusCheckRollup": [{"name": "e2e", "conclusion": "FAILURE"}]}]')
    '{"number": 7, "statusCheckRollup": [{"name": "e2e", "conclusion": "FAILURE"}]}\\n'
    """
    try:
        found = json.loads(printed)
        rows = [found] if isinstance(found, dict) else found
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return None
        return "".join(f"{json.dumps(_lasting_fields(row), ensure_ascii=False)}\n" for row in rows)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _lasting_fields(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _not_well(of or []) if name == "statusCheckRollup" else of for name, of in value.items()}
        return {name: _lasting_fields(of) for name, of in kept.items() if of and not _VARIES.search(name)}
    return [_lasting_fields(each) for each in value] if isinstance(value, list) else value


def _not_well(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the checks of a request that fail or run, by their newest run."""
    runs = sorted(checks, key=lambda run: str(run.get("startedAt") or run.get("createdAt")))
    newest = {(run.get("workflowName"), run.get("name") or run.get("context")): run for run in runs}
    return [run for run in newest.values() if (run.get("conclusion") or run.get("state")) not in _WELL]
