"""What a playbook says: its lines as Markdown, their sections, its entries and their ids. Pure; linear in the text.

As much of CommonMark as a checklist needs, with one deliberate difference: a comment, a fence or front matter that is
never closed, or that another of its kind follows before it is closed, hides nothing, so that a slip of the keyboard
cannot silence the tasks below it. A fence that says `markdown` is read as if it were not there.
A section runs to the next heading that names another, or to an unknown one that is not deeper.
An entry is a list item with its sub-items, continuation lines and code, or a paragraph. Items are tasks; a paragraph is
none, nor is an item that is only a link.
Source: CommonMark 0.31 §4.1-4.6, §5.2; front matter as Jekyll has it.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum, auto
from functools import cached_property
from typing import Final, NamedTuple

from bot.domain.heartbeats.allowed_commands import commands_in
from bot.domain.text.sanitize import strip_hidden
from bot.domain.tiers import Tier
from bot.errors import InputError

ITEM: Final = re.compile(r"(\s*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$|(?=\[[ xX]?\])))(?:\[([ xX]?)\](?=\s|$))?")
"""A list marker (group 1, with what is around it) and, if there is one, the mark in its box (group 2)."""

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:\s+(.*))?", re.DOTALL)
_RULE: Final = re.compile(r"\s*([-*_])(?:[ \t]*\1){2,}\s*")
_FENCE: Final = re.compile(r"(?:`{3,}|~{3,})[^`]*")
_FENCED: Final = (
    r"^[ \t]*(?:[-*+][ \t]+)?(?P<mark>`{3,}+|~{3,}+)[ \t]*+(?P<info>%s)\n"
    r"(?P<code>(?>(?:(?![ \t]*(?:[-*+][ \t]+)?(?:```|~~~)).*\n)*))[ \t]*(?P=mark)[`~]*[ \t]*$"
)
_MARKDOWN: Final = re.compile(_FENCED % r"(?:markdown|md)[ \t]*", re.MULTILINE | re.IGNORECASE)
_OPAQUE: Final = re.compile(
    r"(?P<fence>" + _FENCED % r"[^`\n]*+" + r")"
    r"|(?P<span>(?P<ticks>`{1,3})[^`\n]*(?P=ticks))"
    r"|(?P<front>\A---[ \t]*\n(?=[\w-]{1,99}[ \t]*:(?:\s|\Z))(?>(?:(?!---|\.\.\.).*\n)*)(?:---|\.\.\.)[ \t]*$)"
    r"|(?P<block>^[ \t]*<!--(?>(?:(?!<!--|-->)[\s\S])*)-->)"
    r"|(?P<inline><!--(?>(?:(?!<!--|-->|\n[ \t]*(?:\n|[-*+#]|[0-9]{1,9}[.)]))[\s\S])*)-->)",
    re.MULTILINE,
)
"""Text in which no Markdown is read, and code spans, in which no comment is. A comment behind words ends with them."""

_SHELLS: Final = ("sh", "bash", "zsh", "shell", "console")
_SECTION: Final = re.compile(r"[\W\d_]*(timestamp|quick|hourly|daily|note|urgent(?=\s+flags\b))s?\b", re.IGNORECASE)
_TAB_COLUMNS: Final = 4


class PlaybookSection(StrEnum):
    """What a heading's section is for; those of the tiers are called as the tiers are."""

    TIMESTAMPS = "timestamps"
    FLAGS = "urgent"
    QUICK = "quick"
    HOURLY = "hourly"
    DAILY = "daily"
    NOTES = "notes"
    OTHER = "other"


class LineKind(Enum):
    """What a line is.

    `CODE` is a line of a fence, its markers included, `BLANK` also a line of
    a comment, of front matter, and a fence that is never closed.
    """

    BLANK = auto()
    HEADING = auto()
    ITEM = auto()
    TEXT = auto()
    RULE = auto()
    CODE = auto()


class MarkdownLine(NamedTuple):
    """One line as it shows.

    `text` is what it says (a heading's title, an item without marker and box), `shown` the line without comments and
    with a shell's command in backticks; `checked` is None where an item has no box; `level` counts a heading's `#`.
    `section` is the one it stands in; a heading is in the one it opens.
    """

    kind: LineKind
    text: str = ""
    shown: str = ""
    checked: bool | None = None
    level: int = 0
    section: PlaybookSection = PlaybookSection.OTHER

    @property
    def indent(self) -> int:
        """The column it starts in; a tab goes to the next multiple of four."""
        start = self.shown[: len(self.shown) - len(self.shown.lstrip())]
        return len(start.expandtabs(_TAB_COLUMNS))


def section_of(title: str) -> PlaybookSection | None:
    """Return the section a heading opens, by how it begins; marks and emoji before it do not count.

    Flags stand under exactly the words Urgent Flags: a list of what would be urgent is none of flags.

    >>> section_of("QUICK tasks (every heartbeat)"), section_of("⚡ Daily"), section_of("Quickstart")
    (<PlaybookSection.QUICK: 'quick'>, <PlaybookSection.DAILY: 'daily'>, None)
    >>> section_of("Urgent flags: none"), section_of("Urgent (notify immediately)")
    (<PlaybookSection.FLAGS: 'urgent'>, None)
    """
    found = _SECTION.match(title)
    return next((each for each in PlaybookSection if found and each.startswith(found[1].lower())), None)


def scan_lines(text: str) -> tuple[MarkdownLine, ...]:
    """Return what each line is; they end with a newline each, and hold no CR.

    >>> [line.kind.name for line in scan_lines("# Quick\\n- [x] look\\n```\\n# no heading\\n```\\n<!--\\n- x -->")]
    ['HEADING', 'ITEM', 'CODE', 'CODE', 'CODE', 'BLANK', 'BLANK']
    """
    text = _MARKDOWN.sub(r"\n\g<code>", text)
    found, section, level = list[MarkdownLine](), PlaybookSection.OTHER, 0
    for line in map(_classified, _OPAQUE.sub(_marked, text).split("\n")):
        named = section_of(line.text) if line.kind is LineKind.HEADING else None
        if named or 0 < line.level <= level:
            section, level = named or PlaybookSection.OTHER, line.level
        found.append(line._replace(section=section))
    return tuple(found)


def _marked(found: re.Match[str]) -> str:
    """Return hidden text without its words, and each line of code behind a CR, of what follows a comment behind two."""
    if found["span"]:
        return found[0]
    if found["fence"]:
        first, *others = _code(found[0].split("\n"), found["info"])
        return "\n".join([first if ITEM.match(first) else f"\r{first}", *(f"\r{line}" for line in others)])
    return ("\n\r\r" if found["inline"] else "\n") * found[0].count("\n")


def _code(lines: Sequence[str], info: str) -> Iterator[str]:
    """Yield a block's lines; of a shell's the commands stand in backticks, of a session what follows the prompt."""
    is_session = any(line.lstrip().startswith("$ ") for line in lines)
    is_script = info.strip().casefold() in _SHELLS and not is_session
    for number, line in enumerate(lines):
        said = line.strip()
        is_command = said.startswith("$ ") or (is_script and said and 0 < number < len(lines) - 1)
        yield f"{line[: len(line) - len(line.lstrip())]}`{said}`" if is_command and "`" not in said else line


def _classified(line: str) -> MarkdownLine:
    shown = line.lstrip("\r")
    said = shown.strip()
    if shown != line:
        kind = LineKind.TEXT if line.startswith("\r\r") else LineKind.CODE
        return MarkdownLine(kind, "" if _FENCE.fullmatch(said) else said, shown)
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
    return MarkdownLine(LineKind.TEXT, said, shown)


MAX_TEXT_CHARS: Final = 300

_SUB_ITEM_COLUMNS: Final = 2
_URGENT: Final = re.compile(r"\s*(?:\[[ xX]?\])?[!\uff01]+(?!\[)\s*")
"""The mark before a task that is to page, also right behind its box; `![` begins a picture."""

_LINK: Final = re.compile(r"!?\[[^\[\]]*\]\([^()]*\)|<?https?://[^\s<>]+>?")
_MARKUP: Final = " *_=`~-–—.…"
"""Signs that say nothing by themselves."""

_STRUCTURE: Final = re.compile(r"<!--|-->|```|~~~|^#{1,6}(?:\s|$)")


@dataclass(frozen=True)
class PlaybookEntry:
    """One task, flag, note or paragraph.

    `text` is its first line that says something, `details` the lines after it; it fills the playbook's lines `start`
    (0-based) up to, not including, `end`. `checked` is None where it has no box.
    """

    section: PlaybookSection
    text: str
    checked: bool | None
    start: int
    end: int
    details: tuple[str, ...] = ()
    kind: LineKind = LineKind.ITEM

    @property
    def tier(self) -> Tier:
        """The tier of a task; raises ValueError for any other entry."""
        return Tier(self.section.value)

    @property
    def is_task(self) -> bool:
        """Whether it is a task where its section holds tasks: an item, and more than a link."""
        return self.kind is LineKind.ITEM and bool(not _is_link(self.text) or self.details or self.commands)

    @cached_property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The commands it names, in order; those of a flag or a note are its text."""
        is_text = self.section in (PlaybookSection.FLAGS, PlaybookSection.NOTES)
        return () if is_text else tuple(commands_in([self.text, *self.details]))

    @cached_property
    def checks(self) -> tuple[str, ...]:
        """The ids of its checks, its own first: each command is one, and so is a task that names none."""
        return tuple(task_id(" ".join(argv)) for argv in self.commands) or (task_id(self.text),)

    @property
    def id(self) -> str:
        """The id its receipts carry: of its first command, so that a new title makes no new task, else of its text."""
        return self.checks[0]


def task_of_line(text: str) -> PlaybookEntry:
    """Return the task that a playbook with this one line holds.

    A finding belongs to a check by its id, so it outlives a new title, another order and a move to another tier.

    >>> tree = task_id("git status")
    >>> [(task.id == tree, task.checks == (tree,)) for task in map(task_of_line, ("`git status`", "Ok? `git status`"))]
    [(True, True), (True, True)]
    """
    return PlaybookEntry(PlaybookSection.QUICK, text, None, 0, 1)


def is_marked_urgent(text: str) -> bool:
    """Whether a task or flag begins with `!`: what it finds pages.

    >>> is_marked_urgent("! Checkout answers"), is_marked_urgent("Checkout answers!"), is_marked_urgent("![x](y)")
    (True, False, False)
    """
    return _URGENT.match(text) is not None


def unmarked(text: str) -> str:
    """Return a task's text without the mark `!`.

    >>> unmarked("! Checkout answers"), unmarked("!"), unmarked("CI")
    ('Checkout answers', '!', 'CI')
    """
    return _URGENT.sub("", text, count=1) or text if is_marked_urgent(text) else text


def task_id(text: str) -> str:
    """Return a short id of a command or a task's text; case, spacing and the mark `!` make no difference.

    >>> task_id("Open PRs and their CI") == task_id(" open PRs  and their ci"), len(task_id("x"))
    (True, 8)
    """
    return hashlib.sha256(" ".join(unmarked(text).casefold().split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def is_placeholder(text: str) -> bool:
    """Whether a line says that a list holds nothing; it is no entry, whatever follows on it.

    >>> is_placeholder("(none)"), is_placeholder("*(None right now)*"), is_placeholder("None of the shops answers")
    (True, True, False)
    """
    return text.lstrip("*_ ").casefold().startswith("(none")


def entries(lines: Sequence[MarkdownLine], other: PlaybookSection) -> tuple[PlaybookEntry, ...]:
    """Return every entry that says something, in order; `other` is the section of tasks under no heading we know."""
    spans, is_open = list[range](), False
    for number, line in enumerate(lines):
        if line.kind in (LineKind.HEADING, LineKind.RULE):
            is_open = False
        elif is_open and _continues(lines[spans[-1].start], line, has_gap=number > spans[-1].stop):
            spans[-1] = range(spans[-1].start, number + 1)
        elif line.kind is not LineKind.BLANK:
            is_open = line.kind is not LineKind.CODE
            spans += [range(number, number + 1)] if is_open else []
    found = (_entry(lines[span.start : span.stop], span.start) for span in spans)
    return tuple(
        replace(each, section=other) if each.is_task and each.section is PlaybookSection.OTHER else each
        for each in found
        if each.text and not is_placeholder(each.text)
    )


def _continues(first: MarkdownLine, line: MarkdownLine, *, has_gap: bool) -> bool:
    """Whether a line belongs to the entry above it: indented under it, code, or text with no blank line between.

    Nothing but the rest of its parenthesis belongs to a placeholder: what stands below it says something.
    """
    if is_placeholder(first.text) and ")" in first.text:
        return False
    is_under = first.kind is LineKind.ITEM and line.indent >= first.indent + _SUB_ITEM_COLUMNS
    return line.kind is LineKind.CODE or is_under or (line.kind is LineKind.TEXT and not has_gap)


def _entry(lines: Sequence[MarkdownLine], start: int) -> PlaybookEntry:
    head = next((number for number, line in enumerate(lines) if line.text.strip(_MARKUP)), 0)
    rest = textwrap.dedent("\n".join(line.shown.rstrip() for line in lines[head + 1 :] if line.shown.strip()))
    return PlaybookEntry(
        section=lines[0].section,
        text=lines[head].text if lines[head].text.strip(_MARKUP) else "",
        checked=lines[0].checked,
        start=start,
        end=start + len(lines),
        details=tuple(rest.split("\n")) if rest else (),
        kind=lines[0].kind,
    )


def _is_link(text: str) -> bool:
    """Whether a text is nothing but links or pictures, one in the other included."""
    bare = _LINK.sub("", _LINK.sub("", text)) if "](" in text or "://" in text else text
    return bare != text and not any(map(str.isalnum, bare))


def plain_text(text: str) -> str:
    """Return what an entry may say: one line that cannot be taken for a heading, a fence, a comment or a list.

    Raises:
        InputError: it is empty, too long, or holds line ends, hidden characters or Markdown structure.

    >>> plain_text(" - [ ] Look at `git status` ")
    'Look at `git status`'
    """
    line = text.strip()
    said = ITEM.sub("", line if ITEM.match(line) else f"- {line}", count=1).strip()
    if not said or len(said) > MAX_TEXT_CHARS:
        raise InputError(f"Write between 1 and {MAX_TEXT_CHARS} characters; these are {len(said)}.")
    if len(said.splitlines()) > 1 or strip_hidden(said)[1]:
        raise InputError("Write one line, without control or hidden characters.")
    if _STRUCTURE.search(said) or is_placeholder(said):
        raise InputError("Write plain text: no heading, code fence or HTML comment, and not just (none).")
    return said
