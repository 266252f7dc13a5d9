"""The text of a proposed patch: which files it names, how its lines end, and what people see of it. Pure.

Models see the paths of several codebases with the codebase in front (`--- a/shop:src/x.py`), and write them so, or
leave it out. What a patch really changes is read from what git made of it (patch_limits.py), never from here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from bot.domain.returns import ProposedPatch
from bot.domain.secrets import redact
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line, strip_hidden

_HEAD: Final = re.compile(
    r"^(?:--- (?P<old>.*)\n\+\+\+ (?P<new>.*)"
    r"|(?:rename|copy) (?:from (?P<source>.*)|to (?P<target>.*))"
    r"|diff --git (?P<both>.*))$",
    re.MULTILINE,
)
"""A line at the head of a file's part; a removed line may look like one, but has no `+++` below it."""

_HEAD_OR_LINE: Final = re.compile(rf"{_HEAD.pattern}\n|^(?P<line>[ +-].*|)\n(?!\\ )", re.MULTILINE)
"""A head, or a line of a file in a hunk; models leave out the blank of an empty one."""

_ABSENT: Final = "/dev/null"
MAX_DIFF_CHARS: Final = 200_000
"""A longer diff is not taken, and its files are not all named."""

SHOWN_DIFF_CHARS: Final = 20_000
"""Of a diff that is shown; the lines of what is longer are counted."""

MAX_LINE_CHARS: Final = 300
SHOWN_FILES: Final = 3
NAME_CHARS: Final = 120
TITLE_CHARS: Final = 160
_TICKS: Final = re.compile(r"`+")


def codebases_in(diff: str, ids: Collection[str]) -> list[str]:
    """Return which of these codebases stand in front of the paths that a diff names.

    >>> codebases_in("--- a/shop:x.py\\n+++ b/shop:x.py\\n@@ -1 +1 @@\\n-infra:a\\n", ["shop", "infra"])
    ['shop']
    """
    heads = "\n".join(head[0] for head in _HEAD.finditer(diff))
    return [one for one in ids if _prefix(one).search(heads)]


def without_codebase(diff: str, codebase: str) -> str:
    """Return a diff whose paths are those inside the codebase, without its id in front.

    >>> without_codebase("--- a/shop:x.py\\n+++ b/shop:x.py\\n@@ -1 +1 @@\\n-shop: a\\n+shop: b\\n", "shop")
    '--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-shop: a\\n+shop: b\\n'
    """
    if not codebase:
        return diff
    return _HEAD.sub(lambda head: _prefix(codebase).sub(r"\1", head[0]), diff)


def _prefix(codebase: str) -> re.Pattern[str]:
    return re.compile(rf'([ "](?:[ab]/)?){re.escape(codebase)}:')


def forms_of(diff: str) -> tuple[str, str]:
    r"""Return a diff with LF and with CRLF at the end of each line of its files: who reads a file sees no CR.

    >>> forms_of("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b")
    ('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n')
    """
    unix = diff.replace("\r\n", "\n").removesuffix("\n") + "\n"
    return unix, _HEAD_OR_LINE.sub(
        lambda found: found[0] if found["line"] is None else f"{found['line'] or ' '}\r\n", unix
    )


def paths_in(diff: str) -> Iterator[str]:
    """Yield each path at the head of a file's part; a mode that changes alone has no other line."""
    for head in _HEAD.finditer(diff):
        both = head["both"] or ""
        before, after = _path(both[: len(both) // 2]), _path(both[len(both) // 2 + 1 :])
        found = (head["old"], head["new"], head["source"], head["target"], before if before == after else "")
        yield from (path for path in map(_path, filter(None, found)) if path != _ABSENT)


def _path(name: str) -> str:
    return name.partition("\t")[0].strip().strip('"').removeprefix("a/").removeprefix("b/")


def patch_summary(patch: ProposedPatch, known_secrets: Collection[str] = ()) -> str:
    """Return a patch in one line of plain text: `Raise the limit · app/retry.py · +1 −1 lines`."""
    diff = patch.diff[:MAX_DIFF_CHARS]
    files, lines = dict.fromkeys(paths_in(diff)), f"\n{_HEAD.sub('', diff)}"
    names = [one_line(name, NAME_CHARS) for name in list(files)[:SHOWN_FILES]]
    more = [f"{len(files) - SHOWN_FILES} more"] if len(files) > SHOWN_FILES else []
    where = ", ".join([*names, *more]) or "no file named"
    title = one_line(patch.title, TITLE_CHARS) or "no title"
    counts = f"+{lines.count(f'{chr(10)}+')} −{lines.count(f'{chr(10)}-')} lines"
    return redact(f"{title} · {where} · {counts}", known_secrets)


def patch_lines(patch: ProposedPatch, known_secrets: Collection[str] = (), *, at_most: int) -> tuple[list[str], int]:
    """Return a diff's first lines, without credentials and what nobody sees, and how many there are more."""
    text = redact(strip_hidden(patch.diff[:SHOWN_DIFF_CHARS])[0].strip("\n"), known_secrets)
    lines = [line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…" for line in text.split("\n")]
    cut = patch.diff.count("\n", SHOWN_DIFF_CHARS)
    return lines[:at_most], max(0, len(lines) - at_most) + cut


def fenced_diff(patch: ProposedPatch, known_secrets: Collection[str] = (), *, at_most: int) -> list[str]:
    """Return a diff for a terminal, set in by four: so many lines at most, between fences that none can close."""
    lines, left = patch_lines(patch, known_secrets, at_most=at_most)
    ticks = "`" * max(3, 1 + max((len(run) for line in lines for run in _TICKS.findall(line)), default=0))
    more = [f"… {counted(left, 'more line')}"] if left else []
    return [f"    {line}" for line in (f"{ticks}diff", *lines, ticks, *more)]
