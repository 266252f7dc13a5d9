"""A message as it was typed, and a trace in it as it was printed. Pure, and linear in the text.

Slack writes links and entities; logs put a trace into one line; terminals and mail break a frame over two lines, and
copying may join all of them.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

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
