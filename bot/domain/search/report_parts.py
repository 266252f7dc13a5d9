"""The parts of a report of a fault: its title, its opening, names of code, error messages, and the rest.

Pure, and linear in the text. People paste logs, lists of packages and the questions of a form; what they say themselves
stands in the first sentences, and each part is searched for by itself, so that more text never hides it. The lines
that tell what went wrong stay where the rest of a long report is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from bot.domain.search.tokens import question_stems
from bot.domain.search.trace_lines import readable_text
from bot.domain.tables import Alternatives, read_table
from bot.domain.text.linear_patterns import LinearPattern

MIN_TITLE_STEMS: Final = 2
"""Fewer telling words, and the line is a greeting."""
MAX_TITLE_WORDS: Final = 40
OPENING_WORDS: Final = 100
REPORT_WORDS: Final = 80
"""More words than this, and a text is a report, whatever else it holds."""
MAX_WORDS: Final = 4_000
MAX_ERRORS: Final = 10
MAX_ERROR_CHARS: Final = 300

_FENCE: Final = "```"
_SPAN: Final = re.compile(r"(?<!`)`([^`\n]{1,200})`(?!`)")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。？])\s")


class _Lines(NamedTuple):
    error: Alternatives
    noise: Alternatives
    code: Alternatives


_LINES: Final = read_table(__file__, "report_parts.yml", _Lines)
_ERROR, _NOISE, _CODE = (LinearPattern(pattern) for pattern in _LINES)


class ReportParts(NamedTuple):
    """What a report says where; a part may be empty.

    `title` is its first telling sentence, `opening` the first OPENING_WORDS of what somebody wrote, `names` the code
    spans among that, `errors` the lines that name an error, `whole` all but what says nothing about the code.
    """

    title: str
    opening: str
    names: str
    errors: str
    whole: str
    is_report: bool
    """It is more than a question: long, or it holds code or a log."""


def parts_of(text: str) -> ReportParts:
    r"""Return the parts of a message.

    >>> parts_of("Cart total is wrong\n- [x] searched\n```\nValueError: bad\n```").title
    'Cart total is wrong'
    """
    prose: list[str] = []
    code: list[str] = []
    for line, is_code in _told_lines(_without_comments(readable_text(text))):
        (code if is_code else prose).append(line)
    words = " ".join(prose).split()[:MAX_WORDS]
    said = " ".join(words)
    errors = dict.fromkeys(line[:MAX_ERROR_CHARS].strip() for line in (*prose, *code) if names_error(line))
    return ReportParts(
        title=_title(prose),
        opening=" ".join(words[:OPENING_WORDS]),
        names=" ".join(dict.fromkeys(_SPAN.findall(said))),
        errors="\n".join(list(errors)[:MAX_ERRORS]),
        whole=" ".join([*words, *" ".join(code).split()][:MAX_WORDS]),
        is_report=len(words) > REPORT_WORDS or bool(code),
    )


def names_error(line: str) -> bool:
    """Whether a line of a log or a trace says what went wrong.

    >>> names_error("KeyError: 'total'"), names_error("  total = cart['total']")
    (True, False)
    """
    return _ERROR.is_in(line[:1_000])


def _told_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines that tell something, and whether each is code or a log."""
    for number, part in enumerate(text.split(_FENCE)):
        for line in part.split("\n"):
            if not line.strip() or _NOISE.is_in(line[:1_000]):
                continue
            is_code = number % 2 == 1 or _CODE.is_in(line[:1_000])
            yield line.strip() if is_code else line.strip().lstrip(">#* ").strip(), is_code


def _without_comments(text: str) -> str:
    """Return a text without the comments of HTML that a form leaves in a report."""
    kept = []
    for number, part in enumerate(text.split("<!--")):
        kept.append(part.partition("-->")[2] if number else part)
    return "".join(kept)


def _title(prose: list[str]) -> str:
    """Return the first sentence that says something."""
    sentences = (sentence for line in prose[:20] for sentence in _SENTENCE_END.split(line[:2_000]))
    telling = (one for one in sentences if len(question_stems(one)) >= MIN_TITLE_STEMS)
    return " ".join(next(telling, prose[0] if prose else "").split()[:MAX_TITLE_WORDS])


_TRACEBACK: Final = "Traceback (most recent call last)"
_CAUSES: Final = ("Caused by:", "[cause]:")


def error_lines(lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines that name an error, counted from 0, the most telling first.

    What a trace ends with and what it was caused by come before other lines that name an error; later ones, which are
    nearer to the cause or to what was raised at last, before earlier ones. Indented lines are frames or their source.

    >>> error_lines(["ERROR: no reply", "Traceback (most recent call last):", "  raise Gone()", "app.Gone: cart 7"])
    [3, 0]
    """
    ends = {*_ends_of_tracebacks(lines)}
    causes = {number for number, line in enumerate(lines) if line.lstrip().startswith(_CAUSES)}
    named = {number for number, line in enumerate(lines) if line[:1].strip() and names_error(line)}
    first = ends | causes
    return [*sorted(first, reverse=True), *sorted(named - first, reverse=True)]


def _ends_of_tracebacks(lines: Sequence[str]) -> Iterator[int]:
    """Yield the line below the frames of each of Python's tracebacks: the error and its message."""
    margin: str | None = None
    for number, line in enumerate(lines):
        before, found, _ = line.partition(_TRACEBACK)
        if found:
            margin = before if not before.strip(" |+-") else ""
        elif margin is not None and not line.removeprefix(margin).startswith((" ", "\t")):
            if line.strip():
                yield number
            margin = None
