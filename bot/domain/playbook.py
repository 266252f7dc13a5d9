"""A session's HEARTBEAT.md: its due times, flags, tasks and notes. Pure.

`parse(text).render() == text` for any text at all: the lines are kept with their ends, and an edit replaces whole
lines. A file without a heading for any tier is *freeform*: everything outside Timestamps, Urgent Flags and Notes is a
quick task. Times are read leniently; one without a zone counts as never. Edits are in playbook_edits.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Final, Self

from bot.domain.playbooks.playbook_entries import (
    ITEM,
    LineKind,
    MarkdownLine,
    PlaybookEntry,
    PlaybookSection,
    entries,
    scan_lines,
    sections,
)
from bot.domain.tiers import Stamps, Tier

_STAMP: Final = re.compile(r"(.*?\blast\s+(quick|hourly|daily)\b[^:]*:[*_`]*)(.*)", re.IGNORECASE | re.DOTALL)


_BOM: Final = "\ufeff"
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARKDOWN_FENCE: Final = re.compile(r"\s{0,99}(?:`{3,99}|~{3,99})[ \t]{0,99}(?:markdown|md)\s{0,99}", re.IGNORECASE)
_TIERS: Final = frozenset(PlaybookSection(tier) for tier in Tier)


def _read_stamp(line: str) -> tuple[Tier, datetime | None] | None:
    """Return the tier a line speaks of and its time; None if the line is no stamp.

    >>> _read_stamp("- **Last Quick:** 2026-03-01T12:00:00Z")
    (<Tier.QUICK: 'quick'>, datetime.datetime(2026, 3, 1, 12, 0, tzinfo=datetime.timezone.utc))
    >>> _read_stamp("- Last daily: (never)"), _read_stamp("- At last, quick work")
    ((<Tier.DAILY: 'daily'>, None), None)
    """
    stamp = _STAMP.fullmatch(line)
    return (Tier(stamp[2].lower()), _moment(stamp[3])) if stamp else None


def _stamp_line(tier: Tier, at: datetime) -> str:
    """Return a new line for a tier, without its end."""
    return f"- Last {tier}: {_written(at)}"


def _restamped(line: str, at: datetime) -> str:
    """Return a stamp's line (without its end) with another time; what stands before and after the time is kept.

    >>> _restamped("* Last quick: (never)  <!-- by code -->", datetime(2026, 3, 1, 12, tzinfo=UTC))
    '* Last quick: 2026-03-01T12:00:00Z  <!-- by code -->'
    """
    stamp = _STAMP.fullmatch(line)
    return f"{stamp[1]} {_written(at)}{_after_time(stamp[3])}" if stamp else line


def _written(at: datetime) -> str:
    return at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.partition("<!--")[0].strip(" \t*_`"))
        return moment.astimezone(UTC) if moment.utcoffset() is not None else None
    except (ValueError, OverflowError):
        return None


def _after_time(text: str) -> str:
    time = text.partition("<!--")[0].rstrip()
    rest = text[len(time) :]
    return rest if time or not rest.strip() else f" {rest.lstrip()}"


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
        """What each line is; what stands for a byte that is no UTF-8 is a question mark there, for no file takes it."""
        readable = (line.encode("utf-8", "replace").decode() for line in self.lines)
        return scan_lines([line.removeprefix(_BOM).rstrip("\r\n") for line in readable])

    @cached_property
    def sections(self) -> tuple[PlaybookSection, ...]:
        """The section each line is in."""
        return sections(self.scanned)

    @cached_property
    def entries(self) -> tuple[PlaybookEntry, ...]:
        """Every task, flag, note and anything else that says something, in order."""
        found = entries(self.scanned)
        bare = self._without_markdown_fences()
        if len(bare) < len(self.lines) and type(self)(bare).is_effectively_empty:
            return tuple(entry for entry in found if self.scanned[entry.start].kind is not LineKind.FENCE)
        return found

    @property
    def is_freeform(self) -> bool:
        """Whether no heading names a tier."""
        return not _TIERS.intersection(self.sections)

    @property
    def is_effectively_empty(self) -> bool:
        r"""Whether there is nothing to do and nothing to read.

        Headings, blank lines and rules, empty list items, comments and fence markers are nothing; so are what code
        itself writes into an idle file, the lines of Timestamps and `(none)`. Code between two fences is something;
        what stands in a fence that says `markdown` is read as if the fence were not there.

        >>> parse("# Quick\n- [ ]\n<!-- later -->\n```\n```\n").is_effectively_empty
        True
        """
        return all(
            entry.section is PlaybookSection.TIMESTAMPS and self._is_stamp(entry.start) for entry in self.entries
        )

    def tasks(self, tier: Tier) -> tuple[PlaybookEntry, ...]:
        """Return the tasks of one tier (not of the lower ones), in order."""
        if self.is_freeform:
            return self._in(PlaybookSection.OTHER) if tier is Tier.QUICK else ()
        found = self._in(PlaybookSection(tier))
        return tuple(entry for entry in found if entry.is_item or entry.is_table_of_commands) or found

    @cached_property
    def all_tasks(self) -> tuple[tuple[Tier, PlaybookEntry], ...]:
        """Every task with its tier, quick ones first."""
        return tuple((tier, task) for tier in Tier for task in self.tasks(tier))

    @property
    def elsewhere(self) -> tuple[PlaybookEntry, ...]:
        """What stands under no heading that we know, so that no beat ever looks at it."""
        return () if self.is_freeform else self._in(PlaybookSection.OTHER)

    @property
    def unscheduled(self) -> tuple[PlaybookEntry, ...]:
        """What of that has a box, so that somebody takes it for a task."""
        return tuple(entry for entry in self.elsewhere if entry.checked is not None)

    @property
    def flags(self) -> tuple[PlaybookEntry, ...]:
        """The urgent flags that are up: whatever stands there and is not ticked off."""
        return tuple(entry for entry in self._in(PlaybookSection.FLAGS) if not entry.checked)

    @property
    def notes(self) -> tuple[PlaybookEntry, ...]:
        """What the session keeps in mind."""
        return self._in(PlaybookSection.NOTES)

    @property
    def has_timestamps(self) -> bool:
        """Whether the stamps stand in this file; if not, heartbeat_state.json holds the only copy."""
        return PlaybookSection.TIMESTAMPS in self.sections

    @property
    def stamps(self) -> Stamps:
        """When each tier last succeeded; None for `(never)`, for what is no time with a zone and for a missing line."""
        found: dict[str, datetime | None] = {}
        for number in self._stamp_lines():
            if stamp := _read_stamp(self.scanned[number].shown):
                found.setdefault(*stamp)
        return Stamps(**found)

    def with_stamps(self, tiers: Collection[Tier], at: datetime) -> Self:
        """Return the playbook with these tiers stamped, in whole seconds of UTC; unchanged if it has no Timestamps.

        Only the times are replaced; a tier that has no line gets one below the others.
        """
        lines, missing = list(self.lines), [tier for tier in Tier if tier in tiers]
        for number in self._stamp_lines():
            stamp = _read_stamp(self.scanned[number].shown)
            if stamp and stamp[0] in tiers:
                lines[number] = _restamped(lines[number].rstrip("\r\n"), at) + line_end(lines[number])
                missing = [tier for tier in missing if tier is not stamp[0]]
        stamped = type(self)(tuple(lines))
        if not (missing and self.has_timestamps):
            return stamped
        last = max([*self._stamp_lines(), self.sections.index(PlaybookSection.TIMESTAMPS)])
        return stamped.with_lines(self.line_after(last), [_stamp_line(tier, at) for tier in missing])

    def with_checked(self, task: PlaybookEntry, ok: bool) -> Self:
        """Return the playbook with the boxes of this task saying whether it went well, as `with_boxes` does."""
        return self.with_boxes([(task, ok)])

    def with_boxes(self, boxes: Collection[tuple[PlaybookEntry, bool]]) -> Self:
        """Return the playbook with the boxes of these tasks (same section, same id) saying whether each went well.

        A task that is no longer there, or has no box at the start of its line, changes nothing: a human's edit wins.
        """
        lines, wanted = list(self.lines), {(task.section, task.id): ok for task, ok in boxes}
        for entry in self.entries if wanted else ():
            ok = wanted.get((entry.section, entry.id), entry.checked)
            if entry.checked is not None and ok is not None and entry.checked != ok:
                lines[entry.start] = _with_box(lines[entry.start], "x" if ok else " ")
        return type(self)(tuple(lines))

    def with_lines(self, index: int, texts: Collection[str]) -> Self:
        """Return the playbook with lines before line `index` (0-based), ended as the line above them is."""
        before, after = list(self.lines[:index]), self.lines[index:]
        ends = [end for line in reversed(before or after) if (end := line_end(line))]
        end = ends[0] if ends else "\n"
        added = [f"{text}{end}" for text in texts]
        if before and not line_end(before[-1]):
            before[-1] += end
            added[-1] = added[-1].removesuffix(end)
        return type(self)((*before, *added, *after))

    def line_after(self, index: int) -> int:
        """Return where a line may be put below line `index`, its underline and a comment that runs on from it."""
        index += 1
        while index < len(self.lines) and (
            self.scanned[index].starts_in_comment or self.scanned[index].kind is LineKind.UNDERLINE
        ):
            index += 1
        return index

    def _without_markdown_fences(self) -> tuple[str, ...]:
        kept: list[str] = []
        is_open = False
        for line, scanned in zip(self.lines, self.scanned, strict=True):
            is_marker = scanned.kind is LineKind.FENCE
            if is_marker and (is_open or _MARKDOWN_FENCE.fullmatch(scanned.shown)):
                is_open = not is_open
            else:
                kept.append(line)
        return tuple(kept)

    def _in(self, section: PlaybookSection) -> tuple[PlaybookEntry, ...]:
        return tuple(entry for entry in self.entries if entry.section is section)

    def _stamp_lines(self) -> list[int]:
        spans = (range(entry.start, entry.end) for entry in self._in(PlaybookSection.TIMESTAMPS))
        return [number for span in spans for number in span if self._is_stamp(number)]

    def _is_stamp(self, number: int) -> bool:
        line = self.scanned[number]
        return line.kind in (LineKind.ITEM, LineKind.TEXT) and _read_stamp(line.shown) is not None


def line_end(line: str) -> str:
    """Return a line's own end; empty for a last line that has none."""
    return line[len(line.rstrip("\r\n")) :]


def _with_box(line: str, mark: str) -> str:
    bom = _BOM if line.startswith(_BOM) else ""
    item = ITEM.match(line, len(bom))
    return line if item is None or item[2] is None else f"{line[: item.start(2)]}{mark}{line[item.end(2) :]}"
