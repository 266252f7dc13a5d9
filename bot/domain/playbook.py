"""A session's HEARTBEAT.md: its due times, flags, tasks and notes. Pure; linear in the text.

`parse(text).render() == text` for any text at all: the lines are kept with their ends, and an edit replaces whole
lines. A file without a heading for any tier is *freeform*: every item outside Timestamps, Urgent Flags and Notes is a
quick task. Times are read leniently; one without a zone counts as never.

An edit is made to the entries of the playbook it is given. The result is read again, once: if anything but the entry
meant reads differently, the edit is refused and nothing is changed. A task's number means it only while the list is the
one that was shown.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Final, Self

from bot.domain.playbook_entries import (
    ITEM,
    LineKind,
    MarkdownLine,
    PlaybookEntry,
    PlaybookSection,
    entries,
    is_placeholder,
    plain_text,
    scan_lines,
)
from bot.domain.tiers import Stamps, Tier
from bot.errors import InputError

BOM: Final = "\ufeff"
_STAMP: Final = re.compile(r"(?is)([\W\d_]*last\s+(quick|hourly|daily)\b[^:]*:[*_`]*)\s*(.*?)([\s*_`]*(?:<!--.*)?)")
"""What stands before a time, its tier, the time, and what stands after it; matched to lines of bounded length."""

_MAX_STAMP_CHARS: Final = 200
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LISTS: Final = {
    **{PlaybookSection(tier): (f"{tier.title()} Tasks", 30) for tier in Tier},
    PlaybookSection.FLAGS: ("Urgent Flags", 10),
    PlaybookSection.NOTES: ("Notes", 40),
}
"""What may be edited: the heading of each list, and how many entries it may hold; each task costs at every beat."""


def _read_time(text: str) -> datetime | None:
    """Return a time with a zone, or None.

    >>> _read_time("2026-03-01T13:00:00+01:00").isoformat(), _read_time("(never)"), _read_time("2026-03-01T12:00:00")
    ('2026-03-01T12:00:00+00:00', None, None)
    """
    try:
        moment = datetime.fromisoformat(text.strip("*_`"))
        return moment.astimezone(UTC) if moment.utcoffset() is not None else None
    except (ValueError, OverflowError):
        return None


def parse(text: str) -> Playbook:
    r"""Return a playbook; there is no text that is none.

    >>> playbook = parse("## Quick Tasks\r\n- [ ] Working tree\r\n  - `git status`\r\n## Notes\n")
    >>> [(task.text, task.checked, task.details) for task in playbook.tasks(Tier.QUICK)]
    [('Working tree', False, ('- `git status`',))]
    """
    return Playbook(tuple(_LINE.findall(text)))


@dataclass(frozen=True)
class Playbook:
    """The lines of a playbook, each with its own end, and what they mean."""

    lines: tuple[str, ...]

    def render(self) -> str:
        """Return the file's text."""
        return "".join(self.lines)

    @property
    def shown(self) -> str:
        """The file's text for people; what stands for bytes that are no UTF-8 is a question mark there."""
        return self.render().encode("utf-8", "replace").decode()

    @cached_property
    def scanned(self) -> tuple[MarkdownLine, ...]:
        """What each line is, as it is shown."""
        bare = "\n".join(line.removeprefix(BOM).rstrip("\r\n") for line in _LINE.findall(self.shown))
        return scan_lines(bare) if self.lines else ()

    @cached_property
    def entries(self) -> tuple[PlaybookEntry, ...]:
        """Every task, flag, note and paragraph, in order."""
        return entries(self.scanned, PlaybookSection.QUICK if self.is_freeform else PlaybookSection.OTHER)

    def in_section(self, section: PlaybookSection) -> tuple[PlaybookEntry, ...]:
        """Return what a section says, in order."""
        return tuple(entry for entry in self.entries if entry.section is section)

    @property
    def is_freeform(self) -> bool:
        """Whether no heading names a tier."""
        return not any(line.section.value in tuple(Tier) for line in self.scanned)

    @property
    def is_effectively_empty(self) -> bool:
        r"""Whether there is no task and no flag; prose is neither.

        >>> parse("# Quick\n- [ ]\n- [docs](https://example.com)\n\nNo tasks right now.\n").is_effectively_empty
        True
        """
        return not (self.all_tasks or self.flags)

    def tasks(self, tier: Tier) -> tuple[PlaybookEntry, ...]:
        """Return the tasks of one tier (not of the lower ones), in order."""
        return tuple(entry for entry in self.in_section(PlaybookSection(tier)) if entry.is_task)

    @cached_property
    def all_tasks(self) -> tuple[PlaybookEntry, ...]:
        """Every task, quick ones first, as lists number them."""
        return tuple(task for tier in Tier for task in self.tasks(tier))

    @property
    def listed(self) -> tuple[PlaybookEntry, ...]:
        """Every task, flag that is up and note."""
        return (*self.all_tasks, *self.flags, *self.notes)

    @property
    def checks(self) -> frozenset[str]:
        """The ids of all checks."""
        return frozenset(check for task in self.all_tasks for check in task.checks)

    @property
    def flags(self) -> tuple[PlaybookEntry, ...]:
        """The urgent flags that are up: whatever stands there and is not ticked off."""
        return tuple(entry for entry in self.in_section(PlaybookSection.FLAGS) if not entry.checked)

    @property
    def notes(self) -> tuple[PlaybookEntry, ...]:
        """What the session keeps in mind."""
        return self.in_section(PlaybookSection.NOTES)

    @property
    def stamps(self) -> Stamps | None:
        """When each tier last succeeded; None without Timestamps: heartbeat_state.json holds the only copy.

        A stamp is None for `(never)`, for what is no time with a zone and for a missing line.
        """
        if not any(line.section is PlaybookSection.TIMESTAMPS for line in self.scanned):
            return None
        first_wins = reversed([stamp for _, stamp in self._stamps()])
        return Stamps(**{stamp[2].lower(): _read_time(stamp[3]) for stamp in first_wins})

    def with_stamps(self, tiers: Collection[Tier], at: datetime) -> Self:
        """Return the playbook with these tiers stamped, in whole seconds of UTC; unchanged if it has no Timestamps.

        Only the times are replaced; a tier that has no line gets one at the end of the section.
        """
        time = at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
        lines, missing = list(self.lines), [tier for tier in Tier if tier in tiers and self.stamps]
        for number, stamp in self._stamps():
            if (tier := Tier(stamp[2].lower())) in tiers:
                lines[number] = f"{stamp[1]} {time}{stamp[4]}{line_end(lines[number])}"
                missing = [other for other in missing if other is not tier]
        stamped, place = type(self)(tuple(lines)), self.place_in(PlaybookSection.TIMESTAMPS)
        return stamped.spliced(place, [f"- Last {tier}: {time}" for tier in missing]) if missing and place else stamped

    def with_boxes(self, boxes: Collection[tuple[PlaybookEntry, bool]]) -> Self:
        """Return the playbook with the boxes of these tasks (same section, same id) saying whether each went well.

        A task that is no longer there, or has no box at the start of its line, changes nothing: a human's edit wins.
        """
        lines, wanted = list(self.lines), {(task.section, task.id): ok for task, ok in boxes}
        for entry in self.entries if wanted else ():
            line, ok = lines[entry.start], wanted.get((entry.section, entry.id), entry.checked)
            item = ITEM.match(line, len(BOM) if line.startswith(BOM) else 0)
            if entry.checked != ok and item is not None and item[2] is not None:
                lines[entry.start] = f"{line[: item.start(2)]}{'x' if ok else ' '}{line[item.end(2) :]}"
        return type(self)(tuple(lines))

    def spliced(self, place: slice, texts: Sequence[str]) -> Self:
        """Return the playbook with lines of these texts in a place, ended as the line above them is."""
        before, after = list(self.lines[: place.start]), self.lines[place.stop :]
        end = next((end for line in reversed(self.lines[: place.stop] or after) if (end := line_end(line))), "\n")
        added = [f"{text}{end}" for text in texts]
        if before and not line_end(before[-1]):
            before[-1] += end
            added[-1] = added[-1].removesuffix(end)
        return type(self)((*before, *added, *after))

    def place_in(self, section: PlaybookSection) -> slice | None:
        """Return where a section takes a new line; None where there is no such section.

        Below its last list item; else where a list that holds nothing says so; else below all that it holds.
        """
        here = {
            n: line
            for n, line in enumerate(self.scanned)
            if line.section is section and line.kind is not LineKind.BLANK
        }
        held = [entry for entry in self.entries if entry.start in here]
        nothing = [n for n, line in here.items() if is_placeholder(line.text)]
        if nothing and not held:
            return slice(nothing[0], nothing[0] + 1)
        items = [entry.end for entry in held if entry.kind is LineKind.ITEM]
        ends = items or [n + 1 for n in here]
        return slice(ends[-1], ends[-1]) if ends else None

    def _stamps(self) -> Iterator[tuple[int, re.Match[str]]]:
        """Yield the stamps of Timestamps, each with the number of its line."""
        for number, (line, known) in enumerate(zip(self.lines, self.scanned, strict=True)):
            is_said = known.section is PlaybookSection.TIMESTAMPS and known.kind in (LineKind.ITEM, LineKind.TEXT)
            if is_said and len(line) <= _MAX_STAMP_CHARS and (stamp := _STAMP.fullmatch(line.rstrip("\r\n"))):
                yield number, stamp


def line_end(line: str) -> str:
    """Return a line's own end; empty for a last line that has none."""
    return line[len(line.rstrip("\r\n")) :]


def add(playbook: Playbook, to: PlaybookSection | Tier, text: str) -> Playbook:
    r"""Return the playbook with a task, flag or note more; a missing section is added at the end of the file.

    Raises:
        InputError: the text is not one line of plain text, or the list has it already or cannot take it. A task is had
            where any tier names the same command, or where it names none, the same title.

    >>> add(parse("## Quick Tasks\n- [ ] a\n\n## Notes\n"), Tier.QUICK, "b").render()
    '## Quick Tasks\n- [ ] a\n- [ ] b\n\n## Notes\n'
    """
    said, box = plain_text(text), to.value in tuple(Tier)
    new = PlaybookEntry(PlaybookSection(to), said, False if box else None, 0, 1)
    return _placed(playbook, new, [f"- [ ] {said}" if box else f"- {said}"])


def remove(playbook: Playbook, *gone: PlaybookEntry) -> Playbook:
    """Return the playbook without these entries of it and all that belongs to them."""
    dropped = {number for entry in gone for number in range(entry.start, entry.end)}
    left = [line for number, line in enumerate(playbook.lines) if number not in dropped]
    return _verified(playbook, left, lost=gone)


def move_task(playbook: Playbook, task: PlaybookEntry, to: Tier) -> Playbook:
    """Return the playbook with a task of it, its details and its box at the end of another tier.

    Raises:
        InputError: a tier it would stand beside holds it already or cannot take it.
    """
    if task in playbook.tasks(to):
        raise InputError(f"{to.title()} Tasks hold it already.")
    lines = [line.removeprefix(BOM).rstrip("\r\n") for line in playbook.lines[task.start : task.end]]
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    bare = [line.removeprefix(margin) for line in lines]
    return _placed(remove(playbook, task), replace(task, section=PlaybookSection(to)), bare)


def _placed(playbook: Playbook, entry: PlaybookEntry, lines: Sequence[str]) -> Playbook:
    """Put an entry at the end of its list, instead of the `(none)` of an empty one."""
    section, (title, most), tiers = entry.section, _LISTS[entry.section], {*map(PlaybookSection, Tier)}
    for other in playbook.listed:
        if other.id == entry.id and (other.section is section or {other.section, section} <= tiers):
            raise InputError(f"{_LISTS[other.section][0]} hold it already: {other.text[:60]}")
    if sum(other.section is section for other in playbook.listed) >= most:
        raise InputError(f"{title} hold {most}, which is enough; remove one first.")
    if section in tiers and playbook.is_freeform and playbook.all_tasks:
        if section is not PlaybookSection.QUICK:
            raise InputError("This playbook has no tiers; put its tasks under a heading ## Quick Tasks first.")
        section = PlaybookSection.OTHER
    if place := playbook.place_in(section):
        above = (entry.start for entry in playbook.entries if entry.end == place.start and entry.kind is LineKind.ITEM)
        margin = " " * next((playbook.scanned[start].indent for start in above), 0)
        edited = playbook.spliced(place, [margin + line for line in lines])
    else:
        gap = [""] if playbook.lines and playbook.lines[-1].strip() else []
        end = len(playbook.lines)
        edited = playbook.spliced(slice(end, end), [*gap, f"## {title}", *lines])
    return _verified(playbook, edited.lines, gained=[entry])


def _verified(
    before: Playbook, lines: Sequence[str], *, lost: Sequence[PlaybookEntry] = (), gained: Sequence[PlaybookEntry] = ()
) -> Playbook:
    """Return the edited playbook, with the byte order mark it had, if it reads as expected."""
    text = "".join(lines)
    edited = parse(BOM + text if before.render().startswith(BOM) and not text.startswith(BOM) else text)
    expected = Counter(map(_meaning, before.entries)) - Counter(map(_meaning, lost)) + Counter(map(_meaning, gained))
    if Counter(map(_meaning, edited.entries)) != expected:
        raise InputError("This edit would change something else in the playbook, too; edit the file by hand.")
    return edited


def _meaning(entry: PlaybookEntry) -> tuple[PlaybookSection, str, bool | None, tuple[str, ...]]:
    return entry.section, entry.text, entry.checked, entry.details


class ListChanged(InputError):
    """The list is not the one the number was read in; nothing was changed."""


def list_digest(playbook: Playbook) -> str:
    """Return what tells one list of tasks from another; boxes, details and times make no difference."""
    said = "\n".join(f"{task.tier} {task.id}" for task in playbook.all_tasks)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def task_of(playbook: Playbook, number: int, shown: object) -> PlaybookEntry:
    """Return the task of a number, from 1, that was read in the list whose digest is `shown`.

    Raises:
        ListChanged: the list is another one by now, or was never shown.
        InputError: there is no such number.
    """
    tasks = playbook.all_tasks
    if shown != list_digest(playbook):
        raise ListChanged("This is not the list you saw last, so nothing was changed. Type it again by these numbers.")
    if not 1 <= number <= len(tasks):
        raise InputError(f"There is no task {number}; there are {len(tasks)}.")
    return tasks[number - 1]
