"""Tools that a model may call: their types, the form of what they return, and the codebase as one run sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.agent.git.git_repo import EntryKind, GitRepo, TreeEntry
from bot.agent.ledger import Ledger
from bot.domain.search.files import file_lines, is_secret_file
from bot.domain.secrets import redact_lines
from bot.domain.text.humanize import spelled_alike
from bot.errors import TriageError

MAX_PATH_CHARS: Final = 1_000
MAX_TEXT_CHARS: Final = 500

LineNumber = Annotated[int, Field(ge=1, le=10_000_000)]

MAX_LINE_CHARS: Final = 1_000
MAX_CHARS: Final = 24_000
"""The most one answer holds; about 6,000 tokens."""


class ToolProblem(TriageError):
    """The call cannot be answered; the message tells the model why and what to try instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """One tool.

    `arguments` validates the model's input, or is None where the schema comes from outside (MCP), in which case
    `schema` is sent as it is and `call` gets the raw mapping.
    """

    name: str
    description: str
    call: Callable[[Any], str]
    arguments: type[BaseModel] | None = None
    schema: dict[str, Any] | None = None


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _sayable(text: str) -> str:
    """Refuse what no program can be told: NUL, and characters that are none."""
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode") from None
    return text


def _one_line(text: str) -> str:
    if "\n" in text:
        raise ValueError("must be one line")
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Path = Annotated[str, Field(max_length=MAX_PATH_CHARS), AfterValidator(_sayable)]
"""A path from the top of the repository, with forward slashes."""

Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS), AfterValidator(_sayable)]
"""A question or a search, which may span lines."""

Line = Annotated[Text, AfterValidator(_one_line)]
"""A text of one line that is searched as it stands."""


def number(line: str, at: int) -> str:
    """Return one line of a file as it is shown.

    >>> number("x = 1", 12)
    '12| x = 1'
    """
    return f"{at}| {_cut(line)}"


def quote_line(line: str) -> str:
    """Return one line of a message, a diff or a note as it is shown.

    >>> quote_line("+ x = 1")
    '> + x = 1'
    """
    return f"> {_cut(line)}"


def _cut(line: str) -> str:
    more = len(line) - MAX_LINE_CHARS
    return line if more <= 0 else f"{line[:MAX_LINE_CHARS]} [line cut: {more} more characters]"


def fitting(lines: Sequence[str], *, max_lines: int, max_chars: int = MAX_CHARS) -> list[str]:
    """Return as many of the first lines as fit, at least one."""
    kept: list[str] = []
    chars = 0
    for line in lines[:max_lines]:
        chars += len(line) + 1
        if kept and chars > max_chars:
            break
        kept.append(line)
    return kept


def truncated(shown: int, total: int, what: str, how: str, *, complete: bool = True) -> list[str]:
    """Return the line that owns up to what is missing, or none.

    >>> truncated(400, 1832, "lines", "start/end"), truncated(3, 3, "lines", "start/end")
    (['truncated: 400 of 1832 lines shown; narrow with start/end'], [])
    """
    if complete and shown >= total:
        return []
    return [f"truncated: {shown} of {'' if complete else 'more than '}{total} {what} shown; narrow with {how}"]


def path_text(path: str) -> str:
    r"""Return a path that keeps to its line: control and undecodable characters are escaped.

    >>> path_text("bot/größe.py"), path_text("a\n1| b")
    ('bot/größe.py', "'a\\n1| b'")
    """
    return path if path.isprintable() else ascii(path)


MAX_FILE_BYTES: Final = 2_000_000
MAX_KEPT_FILES: Final = 32


class Content(NamedTuple):
    """A file's lines as committed, and as they may be shown: as many, with credentials blacked out."""

    lines: list[str]
    shown: list[str]


class Snapshot:
    """Files of `repo` at `commit`; `prefix`, such as `shop:`, stands before their paths in ledger and headings."""

    def __init__(
        self, repo: GitRepo, commit: str, ledger: Ledger, known_secrets: Collection[str] = (), *, prefix: str = ""
    ) -> None:
        self.repo = repo
        self.prefix = prefix
        self.commit = commit
        self.ledger = ledger
        self.known_secrets = known_secrets
        self._kept: dict[str, Content] = {}
        self._tree: list[TreeEntry] | None = None

    def name(self, path: str) -> str:
        """Return a path as it is cited, on one line."""
        return f"{self.prefix}{path_text(path)}"

    @property
    def tree(self) -> list[TreeEntry]:
        """Every regular file of the commit."""
        if self._tree is None:
            self._tree = self.repo.tree(self.commit)
        return self._tree

    def content(self, path: str) -> Content:
        """Return the lines of a file; raises ToolProblem when it must not, or cannot, be read."""
        path = clean_path(path)
        if path not in self._kept:
            lines = self._read(path)
            if len(self._kept) >= MAX_KEPT_FILES:
                del self._kept[next(iter(self._kept))]
            self._kept[path] = Content(lines, redact_lines(lines, self.known_secrets))
        return self._kept[path]

    def show(self, path: str, start: int, end: int, *, max_lines: int, max_chars: int) -> list[str]:
        """Return the lines `start`..`end`, numbered, as many as fit."""
        shown = self.content(path).shown
        numbered = [number(line, start + i) for i, line in enumerate(shown[start - 1 : end])]
        return fitting(numbered, max_lines=max_lines, max_chars=max_chars)

    def read(self, path: str, start: int, end: int, *, max_lines: int, max_chars: int) -> list[str]:
        """Return what `show` does, and note in the ledger the lines shown whole: they were read."""
        kept = self.show(path, start, end, max_lines=max_lines, max_chars=max_chars)
        lines, shown = self.content(path)
        last = start - 1 + len(kept)
        self._note(clean_path(path), start, lines[start - 1 : last], shown[start - 1 : last])
        return kept

    def _note(self, path: str, start: int, lines: Sequence[str], shown: Sequence[str]) -> None:
        whole = [line == seen and len(line) <= MAX_LINE_CHARS for line, seen in zip(lines, shown, strict=True)]
        for is_whole, run in groupby(range(len(lines)), key=whole.__getitem__):
            if is_whole:
                places = list(run)
                text = "\n".join(lines[places[0] : places[-1] + 1])
                self.ledger.record_read(
                    self.prefix + path, start + places[0], start + places[-1], commit=self.commit, text=text
                )

    def _read(self, path: str) -> list[str]:
        entry = self.repo.entry_at(self.commit, path)
        if entry is None:
            raise ToolProblem(f"there is no file {path_text(path)} at {self.commit[:12]}{self._nearest(path)}")
        if entry.kind is not EntryKind.FILE:
            raise ToolProblem(f"{path_text(path)} is a {entry.kind}; only files are read, and links are not followed")
        if entry.size > MAX_FILE_BYTES:
            raise ToolProblem(f"{path_text(path)} has {entry.size} bytes, too many to read; use search_code")
        lines = file_lines(self.repo.blob(entry.blob))
        if lines is None:
            raise ToolProblem(f"{path_text(path)} is a binary file of {entry.size} bytes; there are no lines to show")
        return lines

    def _nearest(self, path: str) -> str:
        """Return a hint at a file the path may have meant."""
        name = path.rpartition("/")[2]
        readable = [entry.path for entry in self.tree if not is_secret_file(entry.path)]
        same_name = [one for one in readable if one.rpartition("/")[2] == name]
        near = same_name or spelled_alike(path, readable[:20_000])
        return f"; did you mean {', '.join(map(path_text, near[:3]))}?" if near else "; see list_files"


def clean_path(text: str) -> str:
    """Return a path inside the repository that may be read, as git writes it.

    >>> clean_path("./bot/app.py")
    'bot/app.py'

    Raises:
        ToolProblem: it leads out, into .git, or to a file that holds secrets.
    """
    path = folder_path(text)
    if not path:
        raise ToolProblem("the path is empty; give one from the top of the repository, as list_files shows")
    if is_secret_file(path):
        raise ToolProblem(f"{path_text(path)} may hold secrets, so it is never shown")
    return path


def folder_path(text: str) -> str:
    """Return a path or a folder inside the repository, the top being empty; raises ToolProblem if it leads out."""
    path = text.removeprefix("./").rstrip("/") if text not in {".", "./"} else ""
    parts = path.split("/") if path else []
    if text.startswith("/") or "\\" in text or not {"", ".", ".."}.isdisjoint(parts):
        raise ToolProblem(f"{path_text(text)} leads out of the repository; give a path from its top, like bot/app.py")
    if any(part.lower() == ".git" for part in parts):
        raise ToolProblem(".git is not part of the codebase; use git_log, git_show and git_blame")
    return path
