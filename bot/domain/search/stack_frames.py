"""Stack frames in a text that people or logs wrote: which file, which line, which function, in which order.

Pure. Patterns stand in stack_frames.yml and are run by RE2, so that no text makes them slow. A frame is an address and
no proof: its path is the one of the machine where the error was raised, and its line that of the version which ran.

A message as it was typed, and a trace in it as it was printed. Pure, and linear in the text.

Slack writes links and entities; logs put a trace into one line; terminals and mail break a frame over two lines, and
copying may join all of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, NamedTuple

from bot.domain.tables import Parts, WordSet, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

MAX_TEXT_CHARS: Final = 200_000

_LINK: Final = re.compile(r"<(?:https?|mailto):[^\s<>|]{1,2000}\|([^<>|\n]{1,300})>")
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))

_WRITTEN_END: Final = re.compile(
    r"(?:\\r)?\\n(?:\\t|(?= {2,16}|at |#\d|[\w./*()@-]{1,300}\\n\\t"
    r"|Caused by: |Suppressed: |Traceback |The above exception |During handling |Next |goroutine ))"
)
"""The end of a line in the one line of a log, written as two characters; not the middle of a path of Windows."""

_JOINED_HEAD: Final = re.compile(
    r"(?<=\S)[ \t]{1,40}(?=Caused by: |Suppressed: |Traceback \(most |During handling of the |The above exception was )"
)

_BREAK: Final = r"\n[ \t>|]{0,40}"
"""A line end inside a frame, and the signs of quotation behind it."""

_CALL: Final = r"^[ \t>|]{0,40}at [^\n()]{1,300}"

_BROKEN: Final = (
    (re.compile(rf'(",(?: line)?){_BREAK}(?=(?:line )?\d)'), r"\1 "),
    (re.compile(rf'(File "[^"\n]{{1,400}}){_BREAK}(?=[^"\n]{{1,400}}", line \d)'), r"\1"),
    (re.compile(rf"({_CALL}){_BREAK}(?=\([^\n()]{{1,300}}\d\))", re.MULTILINE), r"\1 "),
    (re.compile(rf"({_CALL}\([^\n()]{{0,300}}){_BREAK}(?!at )(?=[^\n()]{{0,300}}\d\))", re.MULTILINE), r"\1"),
    (re.compile(rf"({_CALL}\([^\n()]{{0,300}}\) in){_BREAK}(?=[^\n]{{1,300}}:line \d)", re.MULTILINE), r"\1 "),
)
"""Frames of Python, of Java and JavaScript, and of C#, broken over two lines; what stands between the two halves."""


def readable_text(text: str) -> str:
    """Return the beginning of a message with Slack's links and entities as they were typed."""
    shown = _LINK.sub(r"\1", text[:MAX_TEXT_CHARS])
    for entity, sign in _ENTITIES:
        shown = shown.replace(entity, sign)
    return shown


def trace_text(text: str) -> str:
    r"""Return a message with each frame on one line and each head of a trace at the start of one.

    >>> trace_text('File "/srv/pay.py",\n> line 7, in charge')
    'File "/srv/pay.py", line 7, in charge'
    """
    lines = _JOINED_HEAD.sub("\n", _WRITTEN_END.sub("\n", readable_text(text)))
    for broken, whole in _BROKEN:
        lines = broken.sub(whole, lines)
    return lines


MAX_FRAMES: Final = 1_000
MAX_GAP_LINES: Final = 8
"""Lines between two frames of one trace; more, and the frames belong to different ones."""

MIN_OWN_PARTS: Final = 3
MAX_FUNCTION_LINES: Final = 200
"""So far below the line that defines a function may its own lines stand."""

_SCHEME: Final = re.compile(r"^(?:[a-z-]{2,30}:/{0,3}(?:\([a-z-]{2,20}\)/)?|\(?[a-z-]{2,20}\)/)(?=\S)")
_HOST: Final = re.compile(r"^https?://[^/\s]{1,250}/")
_DRIVE: Final = re.compile(r"^[A-Za-z]:(?=/)")
_MADE_OF: Final = re.compile(r"\blambda\$(\w{1,100}?)\$\d|<(\w{1,100})>[db]_")
"""What Java's and C#'s compilers make of the function that is named inside."""

_MADE: Final = re.compile(r"(?:::h[0-9a-f]{16}|\.func\d[\d.]*|<[^<>]{0,100}>|(?:::)?\{\{?closure\}?\})$")
_SEPARATOR: Final = re.compile(r"::|[.#$/]|->|\s")
_RUNTIME: Final = re.compile(r"(?:python|jdk|jre)-?[\d.]{1,20}")
_MAX_CALL_CHARS: Final = 1_500
_GO_NAME: Final = re.compile(r"[\w./*()@-]{1,400}\.\w{1,200}")
"""A function as packages that keep traces in errors write it: without arguments, alone on its line."""

_TIME: Final = re.compile(r"[\dT:.Z+-]{1,40}")
"""What reads like a file and its line: "at 10:30:22"."""

_GO_RECOVERED: Final = re.compile(r"\s*([\w.*()]{1,200}): (\S.*)")
"""The line below a place in what gin writes of a panic: function and code."""


class _FrameForm(NamedTuple):
    language: str
    pattern: str


class _Tables(NamedTuple):
    parts: Parts
    patterns: tuple[_FrameForm, ...]
    heads: str
    cause_first: str
    innermost_last: WordSet
    libraries: WordSet
    go_packages: WordSet
    plain_functions: WordSet


_TABLES: Final = read_table(__file__, "stack_frames.yml", _Tables)
_FORMS: Final = [(one.language, LinearPattern(fill(one.pattern, _TABLES.parts))) for one in _TABLES.patterns]
_HEADS: Final = LinearPattern(f"(?m){_TABLES.heads}")
_CAUSE_FIRST: Final = LinearPattern(f"(?m){_TABLES.cause_first}")


@dataclass(frozen=True, kw_only=True, slots=True)
class StackFrame:
    """One frame; `path` has forward slashes and neither drive, scheme nor host.

    `function` is the last part of its name, `source` the line of code that Python prints below a frame; both may be
    empty.
    """

    path: str
    line: int
    function: str = ""
    language: str = "other"
    source: str = ""

    @property
    def tail(self) -> str:
        """The path inside its package where it lies in a folder of libraries, else the whole path."""
        parts = self.path.split("/")
        at = max((number for number in range(len(parts)) if _ends_library(parts, number)), default=-1)
        return "/".join(parts[at + 1 :]) or self.path

    @property
    def is_of_library(self) -> bool:
        """Whether it lies in a folder of other people's code, wherever the program ran."""
        return self.tail != self.path

    @property
    def is_named(self) -> bool:
        """Whether its function has a name that tells something."""
        return len(self.function) > 3 and self.function.lower() not in _TABLES.plain_functions


def frames_in(text: str) -> list[StackFrame]:
    r"""Return the frames of a text, each once: the last trace first, in each the innermost frame first.

    A cause stands before what it caused.

    Of goroutines the first stands first: it is the one that failed.

    >>> [(one.path, one.line, one.function) for one in frames_in('  File "/srv/app/pay.py", line 7, in charge\n')]
    [('/srv/app/pay.py', 7, 'charge')]
    """
    readable = trace_text(text)
    starts = [0, *(match.start() + 1 for match in re.finditer("\n", readable))]
    heads = [bisect_right(starts, start) for start, _ in _HEADS.spans(readable)]
    results = [bisect_right(starts, start) for start, _ in _CAUSE_FIRST.spans(readable)]
    traces: list[list[StackFrame]] = []
    before: tuple[int, str] | None = None
    for at, frame in _found(readable, starts):
        line = bisect_right(starts, at)
        is_new = before is None or before[1] != frame.language or line - before[0] > MAX_GAP_LINES
        if is_new or (before and any(before[0] < head <= line for head in heads)):
            current: list[StackFrame] = []
            is_result = before is not None and any(before[0] < result <= line for result in results)
            traces.insert(len(traces) - is_result, current)
        current.append(frame)
        before = line, frame.language
    ordered = (
        [_without_caller(one) for one in traces] if any(one[0].language == "go" for one in traces) else traces[::-1]
    )
    inner = (trace[::-1] if trace[0].language in _TABLES.innermost_last else trace for trace in ordered)
    return list(dict.fromkeys(frame for trace in inner for frame in trace))


def _without_caller(trace: list[StackFrame]) -> list[StackFrame]:
    """Return a trace with the place that wrote the line of a log last: it has no function, unlike the frames."""
    first, *others = trace
    return [*others, first] if not first.function and any(one.function for one in others) else trace


def _found(text: str, starts: Sequence[int]) -> Iterator[tuple[int, StackFrame]]:
    """Yield the frames with their places, in the order of the text."""
    taken: list[tuple[int, int, StackFrame]] = []
    for language, pattern in _FORMS:
        for start, end, groups in pattern.matches(text):
            if len(taken) >= MAX_FRAMES:
                break
            at = bisect_right(taken, start, key=itemgetter(0))
            is_free = (not at or taken[at - 1][1] <= start) and (at == len(taken) or end <= taken[at][0])
            if is_free and (frame := _frame(language, groups, text, starts, start)):
                taken.insert(at, (start, end, frame))
    yield from ((start, frame) for start, _, frame in taken)


def _frame(language: str, groups: dict[str, str], text: str, starts: Sequence[int], start: int) -> StackFrame | None:
    path = _plain_path(groups["path"])
    line = int(groups["line"])
    if not path or path.endswith("/") or not line or _TIME.fullmatch(path):
        return None
    function = groups.get("function") or ""
    number = bisect_right(starts, start)
    if language == "java":
        # the file lies below the folders of its package: com.acme.Pay$Line.run in Pay.java is com/acme/Pay.java
        path = "/".join([*(part for part in function.split(".")[:-1] if part[:1].islower()), path])
    elif language in ("go", "rust") and not function and number > 1:
        function = _called(text[starts[number - 2] : starts[number - 1]], language)
    source = ""
    if language == "python":
        below = _line_at(text, starts, number + 1, prefix=text[starts[number - 1] : start])
        source = "" if below.startswith(("File ", "Traceback")) else below
    elif language == "go" and not function and (said := _GO_RECOVERED.fullmatch(_line_at(text, starts, number + 1))):
        function, source = said[1], said[2]
    return StackFrame(path=path, line=line, function=_last_name(function), language=language, source=source)


def _line_at(text: str, starts: Sequence[int], number: int, *, prefix: str = "") -> str:
    """Return a line without signs of quotation; of a log, without as many characters as stood before a frame."""
    if number > len(starts):
        return ""
    end = starts[number] - 1 if number < len(starts) else len(text)
    start = starts[number - 1] + (len(prefix) if prefix.strip("> |+-\t") else 0)
    return text[start:end].lstrip("> |\t").removeprefix("INTERNALERROR>").strip()[:300]


def _plain_path(written: str) -> str:
    """Return a path with forward slashes, without what a program, a browser or a bundler puts around it."""
    path = written.replace("\\\\", "/").replace("\\", "/").strip()
    path = _HOST.sub("/", path).partition("?")[0].partition("#")[0]
    path = _SCHEME.sub("", path) if not _DRIVE.match(path) else path[2:]
    return "/".join(part for part in path.split("/") if part not in (".", "..")).removeprefix("-/")


def _called(line: str, language: str) -> str:
    """Return the function that Go and Rust name on the line above the place."""
    said = line.strip()
    if language == "go":
        said = said.rpartition('"')[2]
        if _GO_NAME.fullmatch(said):
            return said
        words = said[-_MAX_CALL_CHARS:].rpartition("(")[0].split() if said.endswith(")") else []
        return words[-1] if words and words[-1].count("(") == words[-1].count(")") else ""
    return said.partition(": ")[2] if said[:1].isdigit() else ""


def _last_name(function: str) -> str:
    """Return the name of a function without its types, its numbers and what is built around it."""
    if made := _MADE_OF.search(function):
        return made[1] or made[2]
    name = _MADE.sub("", function)
    return name if name.startswith("<") else _SEPARATOR.split(name.rstrip(":.$"))[-1].strip("()*&`'\"")


def _ends_library(parts: Sequence[str], number: int) -> bool:
    """Whether what follows a part of a path is the path inside somebody else's package.

    As behind `site-packages`, `python3.11`, `requests-2.3.0-py2.7.egg`.
    """
    before = parts[max(0, number - 2) : number]
    is_of_go = parts[number] == "src" and any(part.startswith("go") or part == "x64" for part in before)
    if is_of_go and number + 1 < len(parts) and parts[number + 1] in _TABLES.go_packages:
        return True
    part = parts[number]
    is_of_ruby = before[-1:] == ["ruby"] and part[:1].isdigit()
    return is_of_ruby or part in _TABLES.libraries or part.endswith(".egg") or _RUNTIME.fullmatch(part) is not None


def best_path(frame: StackFrame, paths: Sequence[str]) -> str | None:
    """Return the file of the codebase that a frame lies in; None if none fits.

    The ends of both paths must agree: all of a frame's own path or all of a file's, else at least two parts of them;
    of Java the whole package, for its folders are the package's. A program installed as a library (`gems/shop-1.2/`) is
    known by MIN_OWN_PARTS parts.

    Args:
        frame: The frame.
        paths: Files with the frame's file name.

    >>> frame = StackFrame(path="/usr/lib/python3/site-packages/shop/models.py", line=3)
    >>> best_path(frame, ["src/shop/models.py", "src/stock/models.py"]), best_path(frame, ["src/stock/models.py"])
    ('src/shop/models.py', None)
    """
    tail = frame.tail.strip("/").split("/")
    fitting = []
    for path in paths:
        parts = path.split("/")
        same = _common_end(tail, parts)
        is_whole = same == len(tail) or (same == len(parts) and same >= (MIN_OWN_PARTS if frame.is_of_library else 1))
        may_differ = not frame.is_of_library and not path.endswith(".java")
        if same and (is_whole or (same > 1 and may_differ)):
            fitting.append((-same, len(parts), path))
    return min(fitting)[2] if fitting else None


def _common_end(some: Sequence[str], others: Sequence[str]) -> int:
    pairs = zip(reversed(some), reversed(others), strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(some), len(others)))


def line_of(frame: StackFrame, lines: Sequence[str], defined_at: Sequence[int] = ()) -> int | None:
    """Return the line (from 1) of a file as it is now that a frame means; None where it cannot be told.

    Args:
        frame: The frame; its `source` is looked for near its line, then everywhere.
        lines: The file's lines.
        defined_at: The lines that define the frame's function in this file.
    """
    if frame.source:
        same = [at for at, text in enumerate(lines, 1) if text.strip() == frame.source]
        inside = [at for at in same if any(0 <= at - start < MAX_FUNCTION_LINES for start in defined_at)]
        if same:
            return min(inside or same, key=lambda at: abs(at - frame.line))
    nearest = max((at for at in defined_at if at <= frame.line), default=None)
    if frame.line <= len(lines) and (nearest is not None or not defined_at):
        return frame.line
    return min(defined_at, key=lambda at: abs(at - frame.line), default=None)
