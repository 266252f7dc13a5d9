"""The parts of a report of a fault: its title, its opening, error messages, and the rest.

Pure, and linear in the text. People paste logs, lists of packages and the questions of a form; what they say themselves
stands in the first sentences, and each part is searched for by itself, so that more text never hides it. The lines
that tell what went wrong stay where the rest of a long report is cut. Also a message as it was typed, and a trace in it
as it was printed: Slack writes links and entities; logs put a trace into one line; terminals and mail break a frame
over two lines, and copying may join all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from bot.domain.search.tokens import question_stems
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
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。？])\s")


MAX_TEXT_CHARS: Final = 200_000

LEAST_WIDTH: Final = 60
"""Narrower than this is no terminal that broke its lines."""

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

_BEGINS: Final = re.compile(r'(?:[ \t>|]{0,4}(?:\t|  )|File "|(?:at|from) |#\d|Caused by: |Traceback |goroutine |$)')
"""How a line begins that no terminal broke off: frames are of one length, too, where a function calls itself."""

_IS_WHOLE: Final = re.compile(r"""(?:\)|:\d{1,7}|line \d{1,7}|, in \S{1,200}|\+0x[0-9a-f]{1,16}|['"`’])$""")
"""How frames end."""


class _Lines(NamedTuple):
    error: Alternatives
    noise: Alternatives
    code: Alternatives


_LINES: Final = read_table(__file__, "report_parts.yml", _Lines)
_ERROR, _NOISE, _CODE = (LinearPattern(pattern) for pattern in _LINES)


class ReportParts(NamedTuple):
    """What a report says where; a part may be empty.

    `title` is its first telling sentence, `opening` the first OPENING_WORDS of what somebody wrote, `errors` the lines
    that name an error, `whole` all but what says nothing about the code.
    """

    title: str
    opening: str
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
    errors = dict.fromkeys(line[:MAX_ERROR_CHARS].strip() for line in (*prose, *code) if names_error(line))
    return ReportParts(
        title=_title(prose),
        opening=" ".join(words[:OPENING_WORDS]),
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
    before, *others = text.split("<!--")
    return "".join((before, *(part.partition("-->")[2] for part in others)))


def _title(prose: list[str]) -> str:
    """Return the first sentence that says something."""
    sentences = (sentence for line in prose[:20] for sentence in _SENTENCE_END.split(line[:2_000]))
    telling = (one for one in sentences if len(question_stems(one)) >= MIN_TITLE_STEMS)
    return " ".join(next(telling, prose[0] if prose else "").split()[:MAX_TITLE_WORDS])


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
    lines = _JOINED_HEAD.sub("\n", _WRITTEN_END.sub("\n", _unfolded(readable_text(text))))
    for broken, whole in _BROKEN:
        lines = broken.sub(whole, lines)
    return lines


def _unfolded(text: str) -> str:
    """Return a text as it was before a terminal broke it: several lines are as long as the longest."""
    lines = text.split("\n")
    width = max(map(len, lines))
    full = [len(line) == width and not _BEGINS.match(after) for line, after in pairwise([*lines, ""])]
    is_folded = any(is_full and not _IS_WHOLE.search(line) for line, is_full in zip(lines, full, strict=True))
    if width < LEAST_WIDTH or sum(full) < 2 or not is_folded:
        return text
    return "".join(line if is_full else f"{line}\n" for line, is_full in zip(lines, full, strict=True)).removesuffix(
        "\n"
    )
