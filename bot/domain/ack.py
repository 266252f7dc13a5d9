"""What a beat's last words mean: all is well, or something a human should read. Pure, in linear time.

The token counts at the very start or the very end, as a whole word in its own case, whatever markup is wrapped around
it; anywhere else it is text. A short remark beside it is suppressed, unless it stands in a paragraph of its own. Words
decide nothing: what somebody must read, a run reports as a finding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

_THOUGHTS: Final = re.compile(r"(?>(?:<(think|thinking)>(?:\s*\Z|.*?</\1>\s*))+)", re.DOTALL | re.IGNORECASE)
"""What some models think aloud before they answer."""

_TAG: Final = r"</?[A-Za-z][^<>]{0,99}>|&nbsp;"
_CLOSING: Final = r"</[A-Za-z][^<>]{0,99}>|&nbsp;|\s{0,9}-->|\s{0,9}`{3,}|[*_~`\"'”’»)\]|]|[.,!?;:…]"
_BEFORE_TEXT: Final = re.compile(rf"(?>(?:<!--|{_TAG}|`{{3,}}\w*|[\s*_~`\"'“”‘’«(\[>#|+•-])*)")
_AFTER_TEXT: Final = re.compile(rf"(?>(?:{_CLOSING}|{_TAG}|[\s。！？、，；：=–—-])*)")
_AFTER_TOKEN: Final = re.compile(
    rf"(?![\w/@\\=]|-{{1,99}}\w)(?:(?>(?:{_CLOSING})*)(?!\w)|(?>(?:{_CLOSING})*)[。！？、，；：])"
)
_BEFORE_TOKEN: Final = re.compile(
    r"(?>(?:<[A-Za-z][^<>]{0,99}>|<!--[ \t]*|`{3,}\w*\s*|^>[ \t]*|[*_~`\"'“‘«(\[|])*)\Z", re.MULTILINE
)
_WRAPPED_BEFORE: Final = 400
"""Markup before a token at the end is looked for in this many characters."""

_BLANK_LINE: Final = re.compile(
    r"(?:\r\n|\n|\r(?!\n))[ \t]{0,99}(?:[\r\n]|(?:-{3,99}|\*{3,99}|_{3,99}|={3,99})[ \t]{0,99}[\r\n])"
    r"|[\v\f\x1c-\x1e\x85\u2028\u2029]"
)
"""A line of nothing, a rule, or a character that ends more than a line."""

_BLOCK_TAG: Final = r"</?(?:p|div|li|ul|ol|h[1-6]|hr)\b[^<>]{0,99}>|(?:<br[ \t]{0,9}/?>\s{0,9}){2}"
_PARAGRAPH: Final = re.compile(f"{_BLANK_LINE.pattern}|{_BLOCK_TAG}", re.IGNORECASE)


@dataclass(frozen=True)
class Ack:
    """What the last words mean, and what they say: trimmed, without the token where it counted."""

    kind: Literal["alert", "ok-token", "ok-empty"]
    text: str


def read_ack(text: str | None, *, token: str = "HEARTBEAT_OK", max_chars: int = 300) -> Ack:  # noqa: S107
    r"""Return whether a beat's answer is an alert.

    Without a token it is one; with it, the rest is one when it is longer than `max_chars` or in a paragraph of its own.
    Blocks of `<think>` before the answer are no part of it; where there is nothing else, a token counts in them, too.

    >>> read_ack("All clear. **HEARTBEAT_OK**")
    Ack(kind='ok-token', text='All clear.')
    >>> read_ack("HEARTBEAT_OK\n\nBuild is red on main.")
    Ack(kind='alert', text='Build is red on main.')
    """
    answer = without_thoughts(text or "")
    rest, at_start, apart_below = _without_first(answer or (text or "").strip(), token)
    rest, at_end, apart_above = _without_last(rest, token)
    if not (at_start or at_end):
        return Ack("alert" if answer else "ok-empty", answer)
    apart = bool(rest) and (apart_below or apart_above or _BLANK_LINE.search(f"\n{rest}") is not None)
    return Ack("alert" if apart or len(rest) > max_chars else "ok-token", rest)


def without_thoughts(text: str) -> str:
    """Return an answer, trimmed, without what was thought aloud before it; nothing where there are thoughts alone.

    >>> without_thoughts("<think>Is it? No.</think> All clear. ")
    'All clear.'
    """
    said = text.strip()
    thoughts = _THOUGHTS.match(said)
    return said[thoughts.end() :] if thoughts else said


def _without_first(text: str, token: str) -> tuple[str, bool, bool]:
    """Return the text without a token at its start, whether there was one, and whether a new paragraph follows it."""
    before, found, after = text.partition(token)
    end = _AFTER_TOKEN.match(after)
    if not found or end is None or not _BEFORE_TEXT.fullmatch(before):
        return text, False, False
    rest = after[end.end() :].lstrip()
    if _AFTER_TEXT.fullmatch(rest):
        rest = ""  # the other half of what the token was wrapped in
    gap = after[: len(after) - len(rest)]
    return rest, True, _PARAGRAPH.search(gap) is not None or _PARAGRAPH.match(rest) is not None


def _without_last(text: str, token: str) -> tuple[str, bool, bool]:
    """Return the text without a token at its end, whether there was one, and whether a paragraph ends before it."""
    before, found, after = text.rpartition(token)
    if not found or not _AFTER_TEXT.fullmatch(after):
        return text, False, False
    tail = before[-_WRAPPED_BEFORE:]
    starts = (at for at in range(len(tail)) if _BEFORE_TOKEN.match(tail, at))
    wrapped = tail[next(starts, len(tail)) :]
    bare = before[: len(before) - len(wrapped)]
    if bare and (bare[-1].isalnum() or bare[-1] in "_/@\\=-"):
        return text, False, False
    rest = bare.rstrip()
    gap = before[len(rest) :]
    last_line = rest[rest.rfind("<") :] if rest.endswith(">") else ""
    return rest, True, _PARAGRAPH.search(gap) is not None or _PARAGRAPH.fullmatch(last_line) is not None
