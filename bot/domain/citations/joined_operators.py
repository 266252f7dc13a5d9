"""Whether a quotation of code leaves out an operator that joins it to its neighbour: `a == b` of `a == b and c`.

Pure. It looks at most WINDOW characters to each side, and at the lines above and below where the operator stands there.
It knows the operators of many languages and the grammar of none: where it errs it asks for a longer quotation.
"""

from __future__ import annotations

import re
from typing import Final

from bot.domain.citations.prose_spans import Spans

WINDOW: Final = 200
MAX_WIDENED: Final = 8
MAX_COMMENT_LINES: Final = 3

NEGATIONS: Final = (
    "not|never|no|non|nor|neither|without|unless|cannot|isn't|aren't|wasn't|don't|doesn't|didn't|won't|can't|mustn't"
    "|shouldn't|nicht|nie|niemals|kein|keine|keinen|keiner|ohne|pas|jamais|sans|nunca|jamás|sin|não|sem|nem|bukan|tidak"
    "|jangan|tanpa"
)
NEGATED: Final = re.compile(
    rf"(?:(?<!\w)(?:{NEGATIONS})|n['’]t|(?<!\w)[!~¬])[ \t(\[{{\"'`]*(?:[\w.]{{1,60}}\([(\[\"'` \t]*){{0,4}}$",
    re.IGNORECASE,
)
"""Ends in a negation; between it and the quotation stand brackets, quotes and names of calls: "not (", "not all("."""

_LOGIC: Final = r"&&|\|\||\?\?"
_COMPARES: Final = r"===?|!==?|<=>|<=|>=|<>|=~|!~|~="
_SUMS: Final = r"\*\*?|//?|<<|>>|[-+%^&|]"
_WORDS: Final = "and|or|xor|is|in|else|i?like|between|instanceof|eq|ne|lt|le|gt|ge|cmp|div|mod"
_EDGE: Final = r"(?<![\w.$@'\"-])"

_CHAIN_BEFORE: Final = re.compile(r"(?:[\w\])]{1,80}(?:\?\.|\.|->|::)){1,8}$")
_CHAIN_AFTER: Final = re.compile(r"[?!]?(?:\.|->|::)\w{1,80}")
_BEFORE: Final = re.compile(
    rf"{_EDGE}(?:{_WORDS})\s+$|(?:^|\s)(?:{_LOGIC}|{_COMPARES}|\?:?)\s+$|(?:^|\s)(?:not\s+in|is\s+not)\s+$"
    rf"|\S\s(?:{_SUMS}|[<>])\s+$|^\s*[*/%+^|]\s+$|(?:^|[\s(\[{{,=:])[-!~]$|\s-(?:eq|ne|lt|le|gt|ge)\s+$"
    rf"|[\w)\]\"'](?:{_LOGIC}|{_COMPARES}|\*\*?|[-+/%])$",
    re.IGNORECASE,
)
_ALL_COLUMNS: Final = re.compile(r"\b(?:select|import|export|distinct|yield)\s\*\s+$", re.IGNORECASE)
_LOOP: Final = re.compile(r"(?<!\w)(?:for|foreach|case|let|import)(?!\w).{0,200}\bin\s+$", re.IGNORECASE)
_OTHERWISE: Final = re.compile(r"\s\?\s.{0,200}\s:\s+$")

_AFTER: Final = re.compile(
    rf"\s+(?:{_WORDS}|not\s+in|is\s+not|if|unless)(?![\w.]|\s*=)|\s+(?:{_LOGIC}|{_COMPARES}|\?:?)(?:\s|$)"
    rf"|\s+(?:{_SUMS})(?=\s+\S)|\s+[-+*/%|](?=\s*$)|\s+[<>](?=\s+\S)|\s+-(?:eq|ne|lt|le|gt|ge)\s"
    r"|\?(?=[\w\"'(-]).{0,200}:",
    re.IGNORECASE,
)
_AFTER_GLUED: Final = re.compile(
    rf"(?:{_LOGIC}|{_COMPARES})|(?:\*\*?|[-+/%])(?=[\w(\"'])|[<>](?=\d)", re.IGNORECASE
)  # fmt: skip
_ELSE_AFTER: Final = re.compile(r"\s+:\s")
_LOOP_HEAD: Final = re.compile(r"(?<!\w)(?:for|foreach|case|let)\s[^\n]{0,200}$")

_LINE_ENDS: Final = re.compile(
    rf"(?:{_EDGE}(?:and|or|xor)|{_LOGIC}|\s\?|(?<![=!<>~])(?:===?|!==?)|(?<!=)[<>]=|\S\s[-+*/%])[ \t]*\\?$",
    re.IGNORECASE,
)
_CONTINUED_ENDS: Final = re.compile(rf"(?:{_EDGE}(?:{_WORDS})|\s(?:{_SUMS}|[<>]))[ \t]*\\$", re.IGNORECASE)
_LINE_STARTS: Final = re.compile(
    rf"\s*(?:(?:and|or|xor)(?=[\s(!\"'~-]|$)|(?:{_LOGIC})|\?\s|:\s|(?:{_COMPARES})\s|[-+*/%^]\s+\S"
    r"|else\s+(?!if\b)[^:{;\s][^:{;\n]*$)",
    re.IGNORECASE,
)
_IF_ELSE: Final = re.compile(r"\s*if\s[^\n]{1,200}\n\s*else\s(?!if\b)", re.IGNORECASE)
_CONTINUED_STARTS: Final = re.compile(rf"\s*(?:(?:{_WORDS}|if|not)\b|(?:{_SUMS}|[<>])\s)", re.IGNORECASE)
_STARTS: Final = re.compile(rf"(?:(?:{_WORDS})\b|{_LOGIC}|{_COMPARES}|\?\s|:\s|(?:{_SUMS})\s)", re.IGNORECASE)


def leaves_out_operator(text: str, start: int, end: int, spans: Spans) -> bool:
    """Whether an operator at either end of `text[start:end]` joins it to what the quotation does not hold.

    >>> from bot.domain.citations.prose_spans import spans_of
    >>> text = "ok = a == b and c"
    >>> code = spans_of("a.py", text)
    >>> leaves_out_operator(text, 0, 11, code), leaves_out_operator(text, 0, 17, code)
    (True, False)
    """
    first, last = _widened(text, start, end)
    before = spans.is_code_at(start) and not _is_prose(spans, start) and _is_joined_before(text, first, end, spans)
    return before or (
        spans.is_code_at(end - 1) and not _is_prose(spans, end - 1) and _is_joined_after(text, start, last, spans)
    )


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a place with the quotes, the brackets of its own, the names before and the calls behind it."""
    for _ in range(MAX_WIDENED):
        known = start, end
        if start and text[start - 1] in "\"'`" and text[end : end + 1] == text[start - 1]:
            start, end = start - 1, end + 1
        chain = _CHAIN_BEFORE.search(text, max(0, start - WINDOW), start)
        start = chain.start() if chain else start
        after = _CHAIN_AFTER.match(text, end)
        end = after.end() if after else _bracket_end(text, end)
        start, end = _with_brackets(text, start, end)
        if known == (start, end):
            break
    return start, end


def _bracket_end(text: str, end: int) -> int:
    """Return where the call or the index right behind a place ends; the place itself where there is none."""
    if text[end : end + 1] not in ("(", "[") or not (text[end - 1].isalnum() or text[end - 1] in "_)]"):
        return end
    depth = 0
    for at in range(end, min(len(text), end + WINDOW)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at + 1
    return end


def _with_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a place with the brackets around it, if they hold nothing else and are not those of a call."""
    before = text[max(0, start - WINDOW) : start].rstrip()
    after = text[end : end + WINDOW].lstrip()
    if not (before.endswith("(") and after.startswith(")")) or re.search(r"[\w\])]$", before[:-1]):
        return start, end
    opens = text.rfind("(", 0, start)
    return opens, text.find(")", end) + 1


def _is_joined_before(text: str, start: int, end: int, spans: Spans) -> bool:
    line = text.rfind("\n", 0, start) + 1
    before = text[max(line, start - WINDOW) : start]
    if before.strip():
        place = start - len(before) + len(before.rstrip()) - 1
        return spans.at(place) is None and _ends_in_operator(before)
    if "\n" not in text[start:end] and _LINE_ENDS.search(text, max(start, end - WINDOW), end):
        return False  # `a and` shows by itself that it is a part
    above = _code_above(text, line, spans)
    if NEGATED.search(above.removesuffix("\\").rstrip()) or _CONTINUED_ENDS.search(above):
        return True
    return bool(_LINE_ENDS.search(above)) and not _ALL_COLUMNS.search(f"{above} ")


def _ends_in_operator(before: str) -> bool:
    if NEGATED.search(before) or _OTHERWISE.search(before):
        return True
    return bool(_BEFORE.search(before)) and not _ALL_COLUMNS.search(before) and not _LOOP.search(before)


def _code_above(text: str, line: int, spans: Spans) -> str:
    """Return the end of the nearest line above that is more than a comment, without the comment behind it."""
    for _ in range(MAX_COMMENT_LINES):
        if line <= 0:
            return ""
        end, line = line - 1, text.rfind("\n", 0, line - 1) + 1
        if not spans.is_code_at(end - 1):
            return ""
        last = spans.at(end - 1)
        if last is not None and last.is_prose:
            end = max(last.start, line)
        above = text[max(line, end - WINDOW) : end].rstrip()
        if above or last is None:
            return above
    return ""


def _is_joined_after(text: str, start: int, end: int, spans: Spans) -> bool:
    stop = text.find("\n", end, end + WINDOW)
    after = text[end : stop if stop >= 0 else end + WINDOW]
    place = end + len(after) - len(after.lstrip())
    if after.strip() and after.strip() != "\\" and not _is_prose(spans, place):
        return spans.at(place) is None and _starts_with_operator(text, end, after)
    if _STARTS.match(text, start) and "\n" not in text[start:end]:
        return False  # `and c` shows by itself that it is a part
    if stop >= 0 and _IF_ELSE.match(text, stop + 1, stop + 1 + 2 * WINDOW):
        return True
    below = _code_below(text, stop + 1, spans) if stop >= 0 else ""
    quoted = text[max(start, end - WINDOW) : end].rstrip()
    if quoted.endswith((";", "{", "}", ",", "(", "[")) or (quoted.endswith(":") and " ? " not in quoted):
        return False
    if quoted.endswith("\\"):
        return bool(_LINE_STARTS.match(below)) and not below.lstrip().startswith(("&&", "||"))
    return bool(_LINE_STARTS.match(below) or (after.strip() == "\\" and _CONTINUED_STARTS.match(below)))


def _starts_with_operator(text: str, end: int, after: str) -> bool:
    found = _AFTER.match(after)
    line = max(text.rfind("\n", 0, end) + 1, end - WINDOW)
    if found is None and (text[end - 1].isalnum() or text[end - 1] in "_)]\"'"):
        found = _AFTER_GLUED.match(after)
    if found is None:
        return bool(_ELSE_AFTER.match(after)) and bool(re.search(r"\s\?\s", text[line:end]))
    return not (found[0].strip().lower() == "in" and _LOOP_HEAD.search(text, line, end))


def _code_below(text: str, line: int, spans: Spans) -> str:
    """Return the beginning of the nearest line below that is more than a comment."""
    for _ in range(MAX_COMMENT_LINES):
        stop = text.find("\n", line)
        below = text[line : min(stop if stop >= 0 else len(text), line + WINDOW)]
        place = line + len(below) - len(below.lstrip())
        if not below.strip() or not _is_prose(spans, place):
            return below if spans.is_code_at(place) else ""
        line = stop + 1
        if stop < 0:
            break
    return ""


def _is_prose(spans: Spans, place: int) -> bool:
    span = spans.at(place)
    return span is not None and span.is_prose
