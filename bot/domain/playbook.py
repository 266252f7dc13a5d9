"""A session's HEARTBEAT.md: its due times, flags, tasks and notes. Pure; linear in the text.

`parse(text).render() == text` for any text at all: the lines are kept with their ends, and an edit replaces whole
lines. A file without a heading for any tier is *freeform*: every item outside Timestamps, Urgent Flags and Notes is a
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

BOM: Final = "\ufeff"
_STAMP: Final = re.compile(r"(?is)([\W\d_]*last\s+(quick|hourly|daily)\b[^:]*:[*_`]*)\s*(.*?)([\s*_`]*(?:<!--.*)?)")
"""What stands before a time, its tier, the time, and what stands after it; matched to lines of bounded length."""

_MAX_STAMP_CHARS: Final = 200
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_TIERS: Final = frozenset(PlaybookSection(tier) for tier in Tier)


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
        shown = "\n".join(line.removeprefix(BOM).rstrip("\r\n") for line in self.lines)
        return scan_lines(shown.encode("utf-8", "replace").decode()) if self.lines else ()

    @cached_property
    def sections(self) -> tuple[PlaybookSection, ...]:
        """The section each line is in."""
        return sections(self.scanned)

    @cached_property
    def entries(self) -> tuple[PlaybookEntry, ...]:
        """Every task, flag, note and paragraph, in order."""
        return entries(self.scanned, self.sections)

    def in_section(self, section: PlaybookSection) -> tuple[PlaybookEntry, ...]:
        """Return what a section says, in order."""
        return tuple(entry for entry in self.entries if entry.section is section)

    @property
    def is_freeform(self) -> bool:
        """Whether no heading names a tier."""
        return _TIERS.isdisjoint(self.sections)

    @property
    def is_effectively_empty(self) -> bool:
        r"""Whether there is no task and no flag; prose is neither.

        >>> parse("# Quick\n- [ ]\n- [docs](https://example.com)\n\nNo tasks right now.\n").is_effectively_empty
        True
        """
        return not (self.all_tasks or self.flags)

    def tasks(self, tier: Tier) -> tuple[PlaybookEntry, ...]:
        """Return the tasks of one tier (not of the lower ones), in order."""
        section = PlaybookSection(tier)
        if self.is_freeform and tier is Tier.QUICK:
            section = PlaybookSection.OTHER
        return tuple(entry for entry in self.in_section(section) if entry.is_task)

    @cached_property
    def all_tasks(self) -> tuple[tuple[Tier, PlaybookEntry], ...]:
        """Every task with its tier, quick ones first."""
        return tuple((tier, task) for tier in Tier for task in self.tasks(tier))

    @property
    def checks(self) -> frozenset[str]:
        """The ids of all checks."""
        return frozenset(check for _, task in self.all_tasks for check in task.checks)

    @property
    def elsewhere(self) -> tuple[PlaybookEntry, ...]:
        """The items that stand under no heading that we know, so that no beat ever looks at them."""
        others = () if self.is_freeform else self.in_section(PlaybookSection.OTHER)
        return tuple(entry for entry in others if entry.is_task)

    @property
    def flags(self) -> tuple[PlaybookEntry, ...]:
        """The urgent flags that are up: whatever stands there and is not ticked off."""
        return tuple(entry for entry in self.in_section(PlaybookSection.FLAGS) if not entry.checked)

    @property
    def notes(self) -> tuple[PlaybookEntry, ...]:
        """What the session keeps in mind."""
        return self.in_section(PlaybookSection.NOTES)

    @property
    def has_timestamps(self) -> bool:
        """Whether the stamps stand in this file; if not, heartbeat_state.json holds the only copy."""
        return PlaybookSection.TIMESTAMPS in self.sections

    @property
    def stamps(self) -> Stamps:
        """When each tier last succeeded; None for `(never)`, for what is no time with a zone and for a missing line."""
        found: dict[str, datetime | None] = {}
        for _, stamp in self._stamps():
            found.setdefault(stamp[2].lower(), _read_time(stamp[3]))
        return Stamps(**found)

    def with_stamps(self, tiers: Collection[Tier], at: datetime) -> Self:
        """Return the playbook with these tiers stamped, in whole seconds of UTC; unchanged if it has no Timestamps.

        Only the times are replaced; a tier that has no line gets one at the end of the section.
        """
        time = at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
        lines, missing = list(self.lines), dict.fromkeys(sorted(tiers, key=list(Tier).index))
        for number, stamp in self._stamps():
            if (tier := Tier(stamp[2].lower())) in tiers:
                lines[number] = f"{stamp[1]} {time}{stamp[4]}{line_end(lines[number])}"
                missing.pop(tier, None)
        stamped = type(self)(tuple(lines))
        if not (missing and self.has_timestamps):
            return stamped
        return stamped.with_lines(
            self.end_of(PlaybookSection.TIMESTAMPS), [f"- Last {tier}: {time}" for tier in missing]
        )

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
        end = next((end for line in reversed(before or after) if (end := line_end(line))), "\n")
        added = [f"{text}{end}" for text in texts]
        if before and not line_end(before[-1]):
            before[-1] += end
            added[-1] = added[-1].removesuffix(end)
        return type(self)((*before, *added, *after))

    def end_of(self, section: PlaybookSection) -> int:
        """Return where a line may be added to a section: below its last list item, else below all that it holds."""
        items = [entry.end for entry in self.in_section(section) if entry.is_item]
        lines = zip(self.sections, self.scanned, strict=True)
        held = (n for n, (where, line) in enumerate(lines, 1) if where is section and line.kind is not LineKind.BLANK)
        return items[-1] if items else max(held)

    def _stamps(self) -> list[tuple[int, re.Match[str]]]:
        """Return the stamps of Timestamps by the numbers of their lines."""
        spans = (range(entry.start, entry.end) for entry in self.in_section(PlaybookSection.TIMESTAMPS))
        numbers = (number for span in spans for number in span if self.scanned[number].kind is not LineKind.CODE)
        lines = ((number, self.lines[number].rstrip("\r\n")) for number in numbers)
        read = ((number, _STAMP.fullmatch(line)) for number, line in lines if len(line) <= _MAX_STAMP_CHARS)
        return [(number, stamp) for number, stamp in read if stamp]


def line_end(line: str) -> str:
    """Return a line's own end; empty for a last line that has none."""
    return line[len(line.rstrip("\r\n")) :]


def _with_box(line: str, mark: str) -> str:
    item = ITEM.match(line, len(BOM) if line.startswith(BOM) else 0)
    return line if item is None or item[2] is None else f"{line[: item.start(2)]}{mark}{line[item.end(2) :]}"
