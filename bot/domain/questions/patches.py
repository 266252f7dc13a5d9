"""A proposed patch at a glance: its title, the files it touches, how many lines come and go. Pure; patches are data."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from bot.domain.returns import ProposedPatch
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line, strip_hidden

MAX_DIFF_CHARS: Final = 20_000
"""Of a diff that is looked at; what is longer is counted up to there."""
MAX_LINE_CHARS: Final = 300
SHOWN_FILES: Final = 3
NAME_CHARS: Final = 120
TITLE_CHARS: Final = 160


_TICKS: Final = re.compile(r"`+")


class PatchFacts(NamedTuple):
    """What a unified diff says it changes."""

    files: tuple[str, ...]
    added: int
    removed: int


def patch_facts(diff: str, *, at_most: int = MAX_DIFF_CHARS) -> PatchFacts:
    """Return the files of a diff, each once, and how many lines it adds and removes, in its first `at_most` characters.

    >>> patch_facts("--- a/x.py\\n+++ b/x.py\\n@@ -1 +1,2 @@\\n-a = 1\\n+a = 2\\n+b = 3\\n")
    PatchFacts(files=('x.py',), added=2, removed=1)
    """
    files: dict[str, None] = {}
    added = removed = 0
    lines = diff[:at_most].split("\n")
    for number, line in enumerate(lines):
        beside = lines[number + 1 : number + 2] if line.startswith("--- ") else lines[max(0, number - 1) : number]
        if line.startswith(("+++ ", "--- ")) and any(each.startswith(("+++ ", "--- ")) for each in beside):
            name = line[4:].split("\t")[0].strip().removeprefix("a/").removeprefix("b/")
            files |= {name: None} if name and name != "/dev/null" else {}
        else:
            added += line.startswith("+")
            removed += line.startswith("-")
    return PatchFacts(tuple(files), added, removed)


def patch_summary(patch: ProposedPatch, known_secrets: Collection[str] = ()) -> str:
    """Return a patch in one line of plain text: `Raise the limit · app/retry.py · +1 −1 lines`."""
    facts = patch_facts(patch.diff)
    names = [one_line(name, NAME_CHARS) for name in facts.files[:SHOWN_FILES]]
    more = [f"{len(facts.files) - SHOWN_FILES} more"] if len(facts.files) > SHOWN_FILES else []
    where = ", ".join([*names, *more]) or "no file named"
    title = one_line(patch.title, TITLE_CHARS) or "no title"
    return redact(f"{title} · {where} · +{facts.added} −{facts.removed} lines", known_secrets)


def patch_lines(patch: ProposedPatch, known_secrets: Collection[str] = (), *, at_most: int) -> tuple[list[str], int]:
    """Return a diff's first lines, without credentials and what nobody sees, and how many there are more."""
    text = redact(strip_hidden(patch.diff[:MAX_DIFF_CHARS])[0].strip("\n"), known_secrets)
    lines = [line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…" for line in text.split("\n")]
    cut = patch.diff.count("\n", MAX_DIFF_CHARS)
    return lines[:at_most], max(0, len(lines) - at_most) + cut


def proposes_nothing(patch: ProposedPatch | None) -> bool:
    """Whether there is no patch to show: none, or one without a diff."""
    return patch is None or not patch.diff.strip()


def fenced_diff(patch: ProposedPatch, known_secrets: Collection[str] = (), *, at_most: int) -> list[str]:
    """Return a diff for a terminal, set in by four: so many lines at most, between fences that none can close."""
    lines, left = patch_lines(patch, known_secrets, at_most=at_most)
    ticks = "`" * max(3, 1 + max((len(run) for line in lines for run in _TICKS.findall(line)), default=0))
    more = [f"… {left} more line{'s' * (left != 1)}"] if left else []
    return [f"    {line}" for line in (f"{ticks}diff", *lines, ticks, *more)]
