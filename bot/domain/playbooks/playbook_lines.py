"""What each line of a playbook is in Markdown, and the section it is in. Pure; linear in the text.

As much of CommonMark as a checklist needs, with one deliberate difference: a comment, a fence or front matter that is
never closed, or that another of its kind follows before it is closed, hides nothing, so that a slip of the keyboard
cannot silence the tasks below it. A fence that says `markdown` is read as if it were not there.
A section runs to the next heading that names another, or to an unknown one that is not deeper.
Source: CommonMark 0.31 §4.1-4.6, §5.2; front matter as Jekyll has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum, StrEnum, auto
from typing import Final, NamedTuple

from bot.domain.heartbeats.allowed_commands import commands_in

ITEM: Final = re.compile(r"(\s*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$|(?=\[[ xX]?\])))(?:\[([ xX]?)\](?=\s|$))?")
"""A list marker (group 1, with what is around it) and, if there is one, the mark in its box (group 2)."""

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:\s+(.*))?", re.DOTALL)
_RULE: Final = re.compile(r"\s*([-*_])(?:[ \t]*\1){2,}\s*")
_FENCE: Final = re.compile(r"(?:`{3,}|~{3,})[^`]*")
_FENCED: Final = (
    r"^[ \t]*(?:[-*+][ \t]+)?(?P<mark>`{3,}+|~{3,}+)[ \t]*+(?P<info>%s)\n"
    r"(?P<code>(?:(?![ \t]*(?:[-*+][ \t]+)?(?:```|~~~)).*\n)*+)[ \t]*(?P=mark)[`~]*[ \t]*$"
)
_MARKDOWN: Final = re.compile(_FENCED % r"(?:markdown|md)[ \t]*", re.MULTILINE | re.IGNORECASE)
_OPAQUE: Final = re.compile(
    r"(?P<fence>" + _FENCED % r"[^`\n]*+" + r")"
    r"|(?P<span>(?P<ticks>`{1,3})[^`\n]*(?P=ticks))"
    r"|(?P<front>\A---[ \t]*\n(?=[\w-]{1,99}[ \t]*:(?:\s|\Z))(?:(?!---|\.\.\.).*\n)*+(?:---|\.\.\.)[ \t]*$)"
    r"|(?P<block>^[ \t]*<!--(?:(?!<!--|-->)[\s\S])*+-->)"
    r"|(?P<inline><!--(?:(?!<!--|-->|\n[ \t]*(?:\n|[-*+#]|[0-9]{1,9}[.)]))[\s\S])*+-->)",
    re.MULTILINE,
)
"""Text in which no Markdown is read, and code spans, in which no comment is. A comment behind words ends with them."""

_UNDERLINED: Final = re.compile(r"(?:(?<=\n\n)|\A)([^\W\d_][^\n]{0,99})\n(?=(?:={2,}|-{2,})[ \t]*$)", re.MULTILINE)
"""A paragraph of its own above a rule: a heading, as in CommonMark, if it names a section."""

_SHELLS: Final = ("sh", "bash", "zsh", "shell", "console")
_SECTION: Final = re.compile(r"[\W\d_]*(?:(timestamp|quick|hourly|daily|note)s?|(urgent)\s+flags)\b", re.IGNORECASE)
_TAB_COLUMNS: Final = 4


class LineKind(Enum):
    """What a line is.

    `ROW` is a table's line that names a command, `CODE` a line of a fence, its markers included, `BLANK` also a line of
    a comment, of front matter, and a fence that is never closed.
    """

    BLANK = auto()
    HEADING = auto()
    ITEM = auto()
    ROW = auto()
    TEXT = auto()
    RULE = auto()
    CODE = auto()


class MarkdownLine(NamedTuple):
    """One line as it shows.

    `text` is what it says (a heading's title, an item without marker and box), `shown` the line without comments and
    with a shell's command in backticks; `checked` is None where an item has no box; `level` counts a heading's `#`.
    """

    kind: LineKind
    text: str = ""
    shown: str = ""
    checked: bool | None = None
    level: int = 0

    @property
    def indent(self) -> int:
        """The column it starts in; a tab goes to the next multiple of four."""
        start = self.shown[: len(self.shown) - len(self.shown.lstrip())]
        return len(start.expandtabs(_TAB_COLUMNS))


class PlaybookSection(StrEnum):
    """What a heading's section is for; those of the tiers are called as the tiers are."""

    TIMESTAMPS = "timestamps"
    FLAGS = "urgent"
    QUICK = "quick"
    HOURLY = "hourly"
    DAILY = "daily"
    NOTES = "notes"
    OTHER = "other"


def section_of(title: str) -> PlaybookSection | None:
    """Return the section a heading opens, by how it begins; marks and emoji before it do not count.

    Flags stand under exactly the words Urgent Flags: a list of what would be urgent is none of flags.

    >>> section_of("QUICK tasks (every heartbeat)"), section_of("⚡ Daily"), section_of("Quickstart")
    (<PlaybookSection.QUICK: 'quick'>, <PlaybookSection.DAILY: 'daily'>, None)
    >>> section_of("Urgent flags: none"), section_of("Urgent (notify immediately)")
    (<PlaybookSection.FLAGS: 'urgent'>, None)
    """
    found = _SECTION.match(title)
    if found is None:
        return None
    name = (found[1] or found[2]).lower()
    return PlaybookSection(f"{name}s" if name in ("timestamp", "note") else name)


def sections(lines: Sequence[MarkdownLine]) -> tuple[PlaybookSection, ...]:
    """Return for each line the section it is in; a heading is in the one it opens."""
    found, current, level = [], PlaybookSection.OTHER, 0
    for line in lines:
        if line.kind is LineKind.HEADING:
            named = section_of(line.text)
            if named or line.level <= level:
                current, level = named or PlaybookSection.OTHER, line.level
        found.append(current)
    return tuple(found)


def scan_lines(text: str) -> tuple[MarkdownLine, ...]:
    """Return what each line is; they end with a newline each.

    >>> [line.kind.name for line in scan_lines("# Quick\\n- [x] look\\n```\\n# no heading\\n```\\n<!--\\n- x -->")]
    ['HEADING', 'ITEM', 'CODE', 'CODE', 'CODE', 'BLANK', 'BLANK']
    """
    text = _MARKDOWN.sub(r"\n\g<code>", text)
    text = _UNDERLINED.sub(lambda found: f"## {found[0]}" if section_of(found[1]) else found[0], text)
    shown: list[str] = []
    inside: dict[int, LineKind] = {}
    at = number = 0
    for found in _OPAQUE.finditer(text):
        before, size = text[at : found.start()], found[0].count("\n")
        at, number = found.end(), number + before.count("\n")
        if found["span"]:
            shown += [before, found[0]]
        elif found["fence"]:
            shown += [before, "\n".join(_code(found[0].split("\n"), found["info"]))]
            first = number + (ITEM.match(found[0]) is not None)
            inside.update(dict.fromkeys(range(first, number + size + 1), LineKind.CODE))
        else:
            shown += [before, "\n" * size]
            if found["inline"]:
                inside.update(dict.fromkeys(range(number + 1, number + size + 1), LineKind.TEXT))
        number += size
    lines = "".join([*shown, text[at:]]).split("\n")
    return tuple(_classified(line, inside.get(number)) for number, line in enumerate(lines))


def _code(lines: Sequence[str], info: str) -> Iterator[str]:
    """Yield a block's lines; of a shell's the commands stand in backticks, of a session what follows the prompt."""
    is_session = any(line.lstrip().startswith("$ ") for line in lines)
    is_script = info.strip().casefold() in _SHELLS and not is_session
    for number, line in enumerate(lines):
        said = line.strip()
        is_command = said.startswith("$ ") or (is_script and said and 0 < number < len(lines) - 1)
        yield f"{line[: len(line) - len(line.lstrip())]}`{said}`" if is_command and "`" not in said else line


def _classified(shown: str, inside: LineKind | None) -> MarkdownLine:
    said = shown.strip()
    if inside:
        return MarkdownLine(inside, "" if _FENCE.fullmatch(said) else said, shown)
    if not said or _FENCE.fullmatch(said):
        return MarkdownLine(LineKind.BLANK)
    if heading := _HEADING.fullmatch(shown):
        title = (heading[2] or "").strip().rstrip("#").strip()
        return MarkdownLine(LineKind.HEADING, title, shown, level=len(heading[1]))
    if _RULE.fullmatch(shown):
        return MarkdownLine(LineKind.RULE, "", shown)
    if item := ITEM.match(shown):
        said = shown[item.end() :].strip()
        checked = None if item[2] is None else item[2] in ("x", "X")
        return MarkdownLine(LineKind.ITEM, "" if _FENCE.fullmatch(said) else said, shown, checked)
    is_row = said.startswith("|") and commands_in([said])
    return MarkdownLine(LineKind.ROW if is_row else LineKind.TEXT, said, shown)
