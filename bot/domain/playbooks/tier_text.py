r"""A tier's tasks as text to edit, and what an edited text changes in the playbook. Pure.

Boxes are not shown: they say how the last beat went. Lines that come back as they were keep every byte and their box;
a new line at the margin is a task, an indented one belongs to the task above it. After the edit the file is read again:
if anything outside the tier reads differently, the edit is refused and nothing is changed.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.domain.playbook import Playbook, parse
from bot.domain.playbooks.playbook_edits import add_task
from bot.domain.playbooks.playbook_entries import ITEM, PlaybookEntry, plain_text
from bot.domain.text.sanitize import strip_hidden
from bot.domain.tiers import Tier
from bot.errors import InputError

_BOM: Final = "\ufeff"
_BOX: Final = re.compile(r"^(\s*(?:[-*+]|[0-9]{1,9}[.)])[ \t]*)\[[ xX]?\][ \t]+")


@dataclass(frozen=True, slots=True)
class TierChanges:
    """The playbook after an edit, and the lines that came and went."""

    playbook: Playbook
    added: tuple[str, ...]
    removed: tuple[str, ...]


def tier_text(playbook: Playbook, tier: Tier) -> str:
    r"""Return the lines of a tier's tasks without their boxes.

    >>> from bot.domain.playbook import parse
    >>> tier_text(parse("## Quick\n- [x] a\n  - why\n\n- [ ] b\n## Daily\n- c\n"), Tier.QUICK)
    '- a\n  - why\n- b'
    """
    return "\n".join(shown for _, shown in _lines(playbook, tier))


def text_digest(text: str) -> str:
    """Return what tells one text of a tier from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def with_tier_text(playbook: Playbook, tier: Tier, text: str) -> TierChanges:
    """Return the playbook with the tier's tasks as `text` has them.

    Raises:
        InputError: a line is no plain task or detail, or the tier cannot be edited as text.
    """
    if playbook.render().startswith(_BOM):
        bare = with_tier_text(parse(playbook.render().removeprefix(_BOM)), tier, text)
        return replace(bare, playbook=parse(_BOM + bare.playbook.render()))
    old, new = _lines(playbook, tier), _wanted(text)
    if any(not task.is_item for task in playbook.tasks(tier)):
        raise InputError(f"The {tier} tasks are written as plain text; make them a list in the file first.")
    margin = _margin(playbook, tier)
    if new and not _is_task(new[0], margin):
        raise InputError(f"{new[0].strip()[:80]!r} is indented, and there is no task above it.")
    if not old:
        return _filled(playbook, tier, new)
    edits = _edits([shown for _, shown in old], new)
    edited = _spliced(playbook, [number for number, _ in old], edits, margin)
    _verify(playbook, edited, tier, new)
    added = tuple(line for _, _, lines in reversed(edits) for line in lines)
    removed = tuple(old[at][1] for start, end, _ in reversed(edits) for at in range(start, end))
    return TierChanges(edited, added, removed)


def _lines(playbook: Playbook, tier: Tier) -> list[tuple[int, str]]:
    """Return the numbers (0-based) of a tier's lines that say something, and how they show."""
    spans = (range(task.start, task.end) for task in playbook.tasks(tier))
    shown = ((number, _shown(playbook.lines[number])) for span in spans for number in span)
    return [(number, line) for number, line in shown if line.strip()]


def _shown(line: str) -> str:
    bare = strip_hidden(line.removeprefix(_BOM).rstrip().expandtabs(4))[0].replace("\n", " ")
    return _BOX.sub(r"\1", bare)


def _wanted(text: str) -> list[str]:
    lines = [_shown(line) for line in re.split(r"\r\n|\r|\n", text)]
    return [line for line in lines if line.strip()]


def _edits(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, list[str]]]:
    """Return what to put in the place of which old lines, last first; lines that stay are not named."""
    codes = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    return [(start, end, list(new[at:to])) for kind, start, end, at, to in codes if kind != "equal"][::-1]


def _spliced(
    playbook: Playbook, numbers: Sequence[int], edits: Sequence[tuple[int, int, list[str]]], margin: str
) -> Playbook:
    for start, end, lines in edits:
        at = numbers[start] if start < end or not start else playbook.line_after(numbers[start - 1])
        gone = set(numbers[start:end])
        kept = tuple(line for number, line in enumerate(playbook.lines) if number not in gone)
        written = [_written(line, margin) for line in lines]
        playbook = Playbook(kept).with_lines(at, written) if written else Playbook(kept)
    return playbook


def _margin(playbook: Playbook, tier: Tier) -> str:
    return " " * min((task.indent for task in playbook.tasks(tier)), default=0)


def _written(line: str, margin: str) -> str:
    """Return a new line as the file holds it: a task with an open box, or a detail as it was typed."""
    if _is_task(line, margin):
        return f"{margin}- [ ] {plain_text(line)}"
    plain_text(line)
    return line


def _is_task(line: str, margin: str) -> bool:
    return len(line) - len(line.lstrip()) <= len(margin) + 1


def _filled(playbook: Playbook, tier: Tier, new: Sequence[str]) -> TierChanges:
    edited = playbook
    for line in new:
        if not _is_task(line, ""):
            raise InputError("Add the tasks first, then their details: this tier is empty.")
        edited = add_task(edited, tier, line)
    return TierChanges(edited, tuple(new), ())


def _verify(before: Playbook, after: Playbook, tier: Tier, wanted: Sequence[str]) -> None:
    """Refuse an edit that changed what stands outside the tier, or that reads otherwise than it was written."""
    if list(_others(before, tier)) != list(_others(after, tier)):
        raise InputError("This would change something outside the tier; edit the file by hand.")
    if _twice(after.tasks(tier)) > _twice(before.tasks(tier)):
        raise InputError("A task stands there twice; say it once.")
    if [_bare(line) for _, line in _lines(after, tier)] != [_bare(line) for line in wanted]:
        raise InputError(
            "This would be read otherwise than you wrote it: one task per line, its details indented below."
        )


def _twice(tasks: Sequence[PlaybookEntry]) -> int:
    return len(tasks) - len({task.id for task in tasks})


def _bare(line: str) -> str:
    item = ITEM.match(line)
    return (line[item.end() :] if item else line).strip()


def _others(playbook: Playbook, tier: Tier) -> Iterator[tuple[str, str, bool | None, tuple[str, ...]]]:
    mine: tuple[PlaybookEntry, ...] = playbook.tasks(tier)
    for entry in playbook.entries:
        if entry not in mine:
            yield entry.section, entry.text, entry.checked, entry.details
