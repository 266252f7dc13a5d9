"""What makes the output of a command another one: a hash without what differs from run to run anyway. Pure.

Of an answer only what moves with the clock is left out: the time of the run itself, and the age of what is listed. Any
number may be what is watched. Of a failure, which is told of anyway, what merely varies is left out too: times, ids,
durations, measures and counts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.domain.heartbeats.alerts import normalised
from bot.domain.heartbeats.allowed_commands import Argv

_VARYING: Final = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"  # a UUID
    r"|\b(?=[a-f]{0,64}[0-9])[0-9a-f]{7,64}\b|\b0x[0-9a-f]{1,16}\b"  # a hash, an address
    r"|\b(?=[a-z]{0,64}[0-9])[0-9a-z]{16,64}\b"  # an id of a request
    r"|(?<![\w.:/#-])(?>(?:[0-9]{1,9}(?:\.[0-9]{1,9})? ?"  # two forms may read one unit: atomic, else 2^n ways
    r"(?:(?:milli)?seconds?|secs?|minutes?|mins?|hours?|days?|bytes?|[nuµm]?s|[kmgt]i?b?|[hd])(?![a-zµ]))+)\b"
    r"|(?<![\w.:/#-])(?:[0-9]{1,9}\.[0-9]{1,9}|[0-9]{6,19}|[0-9]{1,3}(?=%))(?![\w:/-]|\.[0-9])"
    r"|(?<=pid[ =:])[0-9]{1,7}|(?<=\[)[0-9]{3,7}(?=\])|(?<=goroutine )[0-9]{1,9}"  # a process
    r"|\b[iwef][0-9]{4} [0-9]{1,7}(?= [\w.-]{1,99}:[0-9])"  # the day and process in a line of Kubernetes' log
)
"""What differs from one run of a failed command to the next, besides the time of day: ids, durations and measures.

Other numbers are kept, for node 3 is not node 5, nor is port 5432 port 6379.
"""

_COUNTED: Final = (
    *("backlog", "count", "depth", "errors", "failures", "issues", "lag", "pending", "restarts", "retries"),
    *("run", "size", "skipped", "total", "warnings"),
)
"""Words before a number that counts or measures."""

_COUNT: Final = re.compile(
    r"(?:^|(?<=[\n\0,;([])|(?<=  )|(?<=[,;:(>=-] )|(?<= (?:of|in) )|(?<= (?:all|and|are|got|has) )"
    r"|(?<= (?:have|only|with) )|(?<= found ))[0-9]{1,9}"
    r"(?= (?:[a-z]{2,24}s|executed|failed|failing|not|of [0-9]|passed|pending|received|skipped|stuck|to|total)\b)"
    r"|(?<![\w/.:-])[0-9]{1,9}/[0-9]{1,9}(?![\w/.-])"
    rf"|(?:{'|'.join(f'(?<={word}[ =:])|(?<={word}[=:] )' for word in _COUNTED)})[0-9]{{1,9}}\b"
)
"""How many of something a failed command names, in a text of small letters: that differs too, but for none of all."""

_DATED: Final = re.compile(
    r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2})\b)?"
    r"|\b[A-Z][a-z]{2} (?P<day>[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9]{2}:[0-9]{2}:[0-9]{2}) [A-Z]{2,5} "
    r"(?P<year>[0-9]{4})\b"
)
"""A date with a time of day, as most programs and `date` write it."""

_OWN_CLOCK: Final = timedelta(minutes=3)
"""A time so near to that of its run is what a command took from the clock, and says nothing of what it looks at."""

_CLUSTER_CLIENTS: Final = ("kubectl", "oc")
_AGE: Final = re.compile(r"\bAGE\b *(\S)?")
"""The heading of a column that says how old each thing is; group 1: another column follows."""

_READY: Final = re.compile(r"(?<!\S)([0-9]{1,6})/([0-9]{1,6})(?!\S)")
_ENDED: Final = re.compile(r"(?<!\S)(?:Complete|Completed|Succeeded)(?!\S)")
_RUNS: Final = re.compile(r"(?<!\S)(?:Active|Bound|Ready|Running)(?!\S)")
_RESTARTED: Final = re.compile(r"\([0-9smhdy]{2,20} ago\)")


def output_digest(argv: Argv, output: str, *, exit_code: int | None, problem: str | None, at: datetime | None) -> str:
    """Return the hash by which two outputs of a command are compared.

    `problem` says why it has no answer; `at` is when the commands of its beat began to run.
    """
    if problem is None and argv[0] in _CLUSTER_CLIENTS:
        output = "\n".join(_without_ages(output.splitlines()))
    said = f"{problem or ''}\0{output}"
    if at is not None:
        said = _DATED.sub(lambda found: "" if _is_own_clock(found, at) else found[0], said)
    if problem is not None:
        said = _VARYING.sub("", normalised(_COUNT.sub(_none_left, said.casefold())))
    return hashlib.sha256(f"{exit_code}\0{said}".encode()).hexdigest()[:32]


def _none_left(count: re.Match[str]) -> str:
    """Return "none" for a count that says that nothing of all is left, "0/7" or "0 of 7"; nothing for any other."""
    whole = count[0] + count.string[count.end() : count.end() + 4]
    return "none" if whole.startswith(("0/", "0 of ")) else ""


def _without_ages(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of tables without how old each thing is that is well, and how long ago it was restarted.

    What is not well may only be starting: whether it takes too long, its age tells.
    """
    ages = slice(0, 0)
    for line in lines:
        if header := _AGE.search(line):
            ages = slice(header.start(), header.end() - 1 if header[1] else None)
        elif not line.strip():
            ages = slice(0, 0)
        kept = line[: ages.start] + (line[ages.stop :] if ages.stop is not None else "")
        yield " ".join(_RESTARTED.sub("", kept).split()) if header or _is_well(kept) else line


def _is_well(row: str) -> bool:
    ready = [count == wanted for count, wanted in _READY.findall(row)]
    return _ENDED.search(row) is not None or (all(ready) and (bool(ready) or _RUNS.search(row) is not None))


def _is_own_clock(found: re.Match[str], at: datetime) -> bool:
    """Whether a time is that of the run; one without a zone is UTC's or the machine's."""
    try:
        if found["day"]:
            told = datetime.strptime(f"{found['day']} {found['year']}", "%b %d %H:%M:%S %Y")
        else:
            day, _, time_of_day = found[0].replace("UTC", "Z").replace("T", " ").partition(" ")
            told = datetime.fromisoformat(f"{day} {time_of_day.replace(' ', '')}")
        meant = (told,) if told.tzinfo else (told.replace(tzinfo=UTC), told.astimezone())
        return any(abs(each - at) <= _OWN_CLOCK for each in meant)
    except (ValueError, OverflowError):
        return False
