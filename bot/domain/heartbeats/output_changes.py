"""What changed in the output of a check that exits with 0: trouble that was not there, a measure that moved far. Pure.

Lines are compared with those of the last good beat. Words that stood there before, as those of a table's heading do,
are no news; a line that differs in its numbers only is compared by what they measure. The words are in
output_changes.yml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from bot.domain.tables import Pattern, read_table
from bot.domain.text.alarm_measures import measures_trouble, moved_far, vanished
from bot.domain.text.alarm_words import has_alarm_word, plain_text

KEPT_CHARS: Final = 4_000
"""How much of an output is kept to compare the next one with."""
_TAIL_CHARS: Final = 1_000
LINES: Final = 200
LINE_CHARS: Final = 400
"""What is read of an output, by lines and of each line."""
FULL_FROM: Final = 90
"""The percentage from which on a disk or a memory is nearly full."""

_NUMBER: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_RATIO: Final = re.compile(r"(?<![0-9/.])([0-9]{1,6})/([0-9]{1,6})(?![0-9/.])")
_TELLS_NOTHING: Final = re.compile(rf"{_RATIO.pattern}|(?<![0-9:])[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?(?![0-9:])")
"""Ratios and clock times, whose zeros negate nothing."""
_PERCENT: Final = re.compile(r"(?<![0-9.,])([0-9]{1,3})(?:[.,][0-9]{1,3})? ?%")
_STATUS: Final = re.compile(r"(?:HTTP/[0-9.]{1,3} )?([0-9]{3})(?: [A-Za-z ]{1,40})?")
_NO_LETTERS: Final = re.compile(r"[\W\d_]+")
_WORD: Final = re.compile(r"[^\W\d_]{2}")
_GOOD_STATUS: Final = frozenset({"200", "201", "202", "204", "206", "301", "302", "303", "304", "307", "308"})
_BAD_STATUS: Final = frozenset(
    {"000", "400", "401", "403", "404", "405", "408", "410", "429", *map(str, (*range(500, 512), *range(520, 531)))}
)


class _Table(NamedTuple):
    watches: Pattern
    bad: Pattern
    good: Pattern
    lasting: Pattern
    used: Pattern
    free: Pattern
    done: Pattern


@cache
def _table() -> _Table:
    return read_table(__file__, "output_changes.yml", _Table)


class Move(NamedTuple):
    """A line one of whose numbers moved far, and which number of what."""

    line: str
    phrase: str


def excerpt(output: str) -> str:
    """Return what is kept of an output: its beginning and its end, by whole lines."""
    if len(output) <= KEPT_CHARS:
        return output
    head, tail = output[: KEPT_CHARS - _TAIL_CHARS], output[-_TAIL_CHARS:]
    return f"{head.rpartition(chr(10))[0] or head}\n{tail.partition(chr(10))[2] or tail}"


def watches_for_change(title: str) -> bool:
    """Whether a task is there to tell of changes, by its title.

    >>> watches_for_change("New issues"), watches_for_change("Did the price list change?"), watches_for_change("Disk")
    (True, True, False)
    """
    return _table().watches.search(plain_text(title)) is not None


def new_trouble(title: str, output: str, earlier: str) -> list[str]:
    """Return the lines that show trouble where the earlier output shows none.

    >>> new_trouble("Queue", "jobs: 4\\nworker is down", "jobs: 2\\nworker is up")
    ['worker is down']
    >>> new_trouble("Pods", "NAME RESTARTS\\nweb-1 1/1 Running 0 3d", "NAME RESTARTS\\nweb-1 1/1 Running 0 2d")
    []
    """
    heading = f"{title} {output.partition(chr(10))[0]}"
    answered = any(_status(line) in _GOOD_STATUS for line in _lines(earlier))
    return [
        line
        for line, before in _pairs(output, earlier)
        if (answered and _status(line) in _BAD_STATUS) or _is_new_trouble(title, heading, line, before)
    ]


def standing_trouble(title: str, output: str, reported: str) -> list[str]:
    """Return the lines of trouble that an alert showed and that are there still, whatever their numbers are by now."""
    heading, shown = f"{title} {output.partition(chr(10))[0]}", _skeleton(reported.replace("`", "'"))
    return [
        line
        for line in _lines(output)
        if _skeleton(line.replace("`", "'")[:160]) in shown
        and (any(_signs(title, heading, line)) or _is_short(line) or _status(line) in _BAD_STATUS)
    ]


def far_moves(title: str, output: str, earlier: str) -> list[Move]:
    """Return the lines one of whose measures moved far to the worse.

    >>> far_moves("Queue length", "40000", "12"), far_moves("Queue length", "12", "40000")
    ([Move(line='40000', phrase='queue length from 12 to 40000')], [])
    """
    pairs = ((line, before) for line, before in _pairs(output, earlier) if before is not None)
    return [Move(line, phrase) for line, before in pairs if (phrase := _moved(title, line, before))]


def _lines(output: str) -> list[str]:
    return [line[:LINE_CHARS] for line in output.splitlines()[:LINES] if line.strip()]


def _pairs(output: str, earlier: str) -> Iterator[tuple[str, str | None]]:
    """Yield each line that is new, with the one it replaces: equal but for its numbers, else begun by the same word."""
    before = _lines(earlier)
    same, alike = set(before), {_skeleton(line): line for line in reversed(before)}
    begun = {line.split()[0]: line for line in reversed(before)}
    for line in _lines(output):
        if line not in same:
            yield line, alike.get(_skeleton(line)) or begun.get(line.split()[0])


def _skeleton(line: str) -> str:
    return _NUMBER.sub("#", line)


def _is_new_trouble(title: str, heading: str, line: str, before: str | None) -> bool:
    old: tuple[bool, ...] = (False, False, False)
    if before is not None:
        if _is_short(line) and _RATIO.search(before) and not _is_short(before):
            return True
        if _skeleton(before) == _skeleton(line):
            old = _signs(title, heading, before)
            is_number_of_time = _table().lasting.search(plain_text(f"{title} {line}")) is not None
            old = (old[0] or is_number_of_time, *old[1:])
    return any(now and not was for now, was in zip(_signs(title, heading, line), old, strict=True))


def _signs(title: str, heading: str, line: str) -> tuple[bool, ...]:
    """Return whether a line shows trouble by its words, by what it measures, by being nearly full."""
    bare, of = f"{title}: {line}", _table()
    said = _TELLS_NOTHING.sub(" ", line if _WORD.search(line) else bare)
    is_bad = of.bad.search(line) is not None
    words = is_bad or (has_alarm_word(said) and of.good.search(line) is None)
    return words, measures_trouble(plain_text(bare)), _is_full(heading, line)


def _status(line: str) -> str:
    found = _STATUS.fullmatch(line.strip())
    return found[1] if found else ""


def _is_short(line: str) -> bool:
    """Whether fewer are ready than should be: "web 1/3"."""
    short = any(int(found[1]) < int(found[2]) for found in _RATIO.finditer(line))
    return short and _table().done.search(line) is None


def _is_full(heading: str, line: str) -> bool:
    if _table().free.search(line) or not _table().used.search(f"{heading} {line}"):
        return False
    return any(int(found[1]) >= FULL_FROM for found in _PERCENT.finditer(line))


def _moved(title: str, line: str, before: str) -> str:
    """Return which number of a line moved far to the worse, from what to what; nothing if none did."""
    if _skeleton(line) != _skeleton(before):
        return ""
    old, new = _NUMBER.findall(before), list(_NUMBER.finditer(line))
    for number, was in zip(new, old, strict=True):
        label, alone = _label(title, line, number, alone=len(new) == 1), len(new) == 1
        moved = moved_far(label, _plain(was), _plain(number[0]), percent=_is_percent(number))
        if moved or (alone and vanished(label, _plain(was), _plain(number[0]))):
            words = " ".join(_NO_LETTERS.sub(" ", label).split())
            return f"{words} from {was} to {number[0]}"
    return ""


def _label(title: str, line: str, number: re.Match[str], *, alone: bool) -> str:
    """Return what a number of a line is called: the words before it, back to the number before if there are any."""
    if alone:
        return plain_text(f"{title} {line}")
    before = line[: number.start()]
    nearest = plain_text(_NUMBER.split(before)[-1])
    return "" if nearest.endswith((" in ", " of ")) else nearest if _WORD.search(nearest) else plain_text(before)[-40:]


def _is_percent(number: re.Match[str]) -> bool:
    return number.string[number.end() : number.end() + 2].lstrip().startswith("%")


def _plain(number: str) -> float:
    whole, _, rest = number.replace(",", ".").partition(".")
    return float(f"{whole}.{rest.replace('.', '')}" if rest else whole)
