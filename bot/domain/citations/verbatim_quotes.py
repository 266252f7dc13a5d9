"""When a quotation counts as verbatim: it stands there, whole words of it, and nothing that turns its sense is cut off.

Pure. White space at line ends does not count, all other characters do. A quote begins and ends between tokens, never
inside a word, a number or an operator, nor right behind a negation, nor beside an operator that joins it to more.
Comments and prose are quoted by whole lines, a text that YAML spreads over several lines as a whole. A quote
holds at least one whole line, or MIN_CHARS characters that tell.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from bot.domain.citations.joined_operators import NEGATED, NEGATIONS, leaves_out_operator
from bot.domain.citations.prose_spans import Span, Spans

MIN_CHARS: Final = 12
"""How many characters, white space aside and repeated signs counted once, a quote of less than a line holds."""

MIN_LINE_CHARS: Final = 3
MAX_OCCURRENCES: Final = 500
_LOOK_BACK: Final = 200

_NEGATION: Final = re.compile(rf"(?<!\w)(?:{NEGATIONS})(?![\w'’])|n['’]t\b|不|没|勿|未|ない", re.IGNORECASE)
_CLAUSE_END: Final = re.compile(r"[.,;:!?()](?=\s|$)")
_SIGNS: Final = re.compile(r"[\W_]{0,200}")
_NEGATION_REACH: Final = 3
"""How many words before the end of a line a negation may stand and still turn the next line round."""

_NEGATED_AFTER: Final = re.compile(
    r"[ \t)\]\"'`]{0,8}(?:not|never|nicht|niemals|pas|jamais|nunca|tidak)(?!\w)", re.IGNORECASE
)
_BEFORE_PROSE: Final = re.compile(r"(?:[\s#*/;%+.:\"'`|<>=–—•·!()_,\\-]|\d{1,3}[.)]\s|(?<!\w)(?:REM|dnl|rem)\s)*")
# A sign set off by a blank closes a comment, a heading or a row; "without #." and "5 %" go on in words.
_AFTER_PROSE: Final = re.compile(r"[#*/.:;,\"'`|<>=)_\\%}-]*(?:\s+[#*/\"'`|<>=_\\}-]+)*\s*")
_STRING_EDGE: Final = re.compile(r"[\s\"'`]*")
_OPERATORS: Final = frozenset("=!<>+-*/%&|^~:?")
_SIGILS: Final = frozenset("@$#")
_ARITHMETIC: Final = re.compile(r"[ \t]*(?:\*\*?|//?|[-+%^]|<<|>>)(?=[ \t]*[\w(.-])")
_ARITHMETIC_BEFORE: Final = re.compile(r"[\w)](?:[ \t]*(?:\*|/|[-+%^]|<<|>>))[ \t]*$")
_STRING_PREFIX: Final = re.compile(r"(?<!\w)[rbufRBUF]{1,2}$")
_GOES_ON_AFTER: Final = re.compile(r"[\w)\]](?:\?\.|!\.|\.|->|::)(?=[A-Za-z_])|[(\[{][ \t]*[\w\"'(\[{]")
"""A name or what a bracket opens goes on behind a quotation: `order.customer` is not `order.customer.is_late()`."""

_NAME_AT_END: Final = re.compile(
    r"(?:(?P<joined>(?:^|[^\w.@$])(?:[A-Za-z_]\w{0,80}(?:\?\.|!\.|\.|->)){1,8})|(?:(?:^|[^\w@$])"
    r"(?:return|yield|await|if|while|elif|assert|and|or|in|is|not)|[=,(\[+*/%<>&|?:!-])\s{0,8})[A-Za-z_]\w{0,80}$"
)
_HANDS_ON: Final = re.compile(r"(?<![\w.])(?:return|yield|await|raise|throw)$")
_DEFINES: Final = re.compile(
    r"(?<!\w)(?:def|class|func|function|fn|fun|sub|proc|macro|interface|struct|record|enum|trait|impl|module|raise"
    r"|throw|except|new|import|export|void|public|private|protected|static)(?!\w)"
)
_ASKS: Final = re.compile(r"(?<![\w.])(?:if|elif|elsif|while|until|unless|assert|when|switch)[\s(!]*$")
_CONDITION: Final = re.compile(
    r"(?<![=!<>-])(?:===?|!==?|<=|>=)(?![=>])|\s[<>]\s|&&|\|\||(?<![\w.])(?:and|or|in|is|instanceof)(?!\w)|^\s*(?:not\s|!)"
)
_STATES: Final = re.compile(
    r"\s*(?:(?:el)?if|elsif|while|until|unless|assert|return|yield|when|switch|for|raise|throw|del|with|case|lambda)(?!\w)"
)
_DOES: Final = re.compile(r"(?<![\w.])(?:return|raise|throw|yield|break|continue)(?!\w)")
"""What is done under a condition, so that it is quoted with its statement."""

_ASSIGNS: Final = re.compile(r"(?<![=!<>])=(?![=>~])|=>")
_BRACKET: Final = re.compile(r"[()\[\]{}]")
_CLOSES: Final = {")": "(", "]": "[", "}": "{"}
_KEYWORDS: Final = frozenset(
    ("if", "while", "for", "switch", "function", "async", "catch", "return", "not", "and", "or")
)
_REPEATED: Final = re.compile(r"([^\w\s])\1+")


class Flaw(StrEnum):
    """What is wrong with a quotation; the value is said to whoever has to mend it."""

    ABSENT = "does not stand there; quote verbatim"
    SHORT = "is too short to prove anything; quote a whole line"
    CUT = "begins or ends inside a word, a number or an operator; quote whole lines"
    PARTIAL = "is part of a line of prose, of a comment or of a string; quote that line whole"
    NEGATED = "leaves out the negation beside it; quote the whole line"
    BARE = "is a condition without its statement; quote the whole line"
    JOINED = "leaves out an operator that joins it to what stands beside it; quote the whole expression"


def flaw_of(quote: str, lines: Sequence[str], spans: Spans, *, start: int = 1, end: int | None = None) -> Flaw | None:
    r"""Return what is wrong with a quotation of the lines `start` to `end` (from 1, inclusive); None if it holds.

    `spans` are those of the whole text, `plain_text(lines)`.

    >>> from bot.domain.citations.prose_spans import spans_of
    >>> lines = ["if not limit == 1:", "    wait_for(10.5)  # never more"]
    >>> code = spans_of("a.py", plain_text(lines))
    >>> [str(flaw_of(quote, lines, code))[:10] for quote in ("wait_for(10.5)", "limit == 1:", "5)", "more", "x")]
    ['None', 'leaves out', 'begins or ', 'is part of', 'does not s']
    """
    wanted = plain_text(quote.replace("\r\n", "\n").split("\n")).strip("\n")
    text = plain_text(lines)
    begin = len(plain_text(lines[: start - 1])) + (start > 1)
    until = len(text) if end is None else len(plain_text(lines[:end]))
    flaws = [_flaw_at(text, *place, spans) for place in _places(wanted, text, begin, until)]
    return None if None in flaws else next((flaw for flaw in flaws if flaw), Flaw.ABSENT)


def plain_text(lines: Sequence[str]) -> str:
    """Return lines as one text, white space at their ends left out."""
    return "\n".join(line.rstrip() for line in lines)


def _places(wanted: str, text: str, begin: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield where in a text the quotation stands, without the white space around it."""
    inner = wanted.strip()
    if not inner:
        return
    indent = wanted.index(inner)
    at = text.find(wanted, begin, until)
    for _ in range(MAX_OCCURRENCES):
        if at < 0:
            return
        yield at + indent, at + indent + len(inner)
        at = text.find(wanted, at + 1, until)


def _flaw_at(text: str, start: int, end: int, spans: Spans) -> Flaw | None:
    if _is_cut(text, start) or _is_cut(text, end):
        return Flaw.CUT
    first, last = spans.at(start), spans.at(end - 1)
    if _is_partial(text, start, end, first, last) or _is_part_of_value(text, start, end, spans):
        return Flaw.PARTIAL
    if first is not None and first.is_prose and not _BEFORE_PROSE.fullmatch(_line_before(text, start)):
        return Flaw.PARTIAL
    if _is_negated(text, start, end, first, last):
        return Flaw.NEGATED
    if _is_bare_condition(text, start, end, spans):
        return Flaw.BARE
    if _number_goes_on(text, start, end, spans) or (last is None and _GOES_ON_AFTER.match(text, end - 1)):
        return Flaw.CUT
    if last is None and (_leaves_out_call(text, start, end) or _leaves_bracket_open(text, start, end, spans)):
        return Flaw.CUT
    if leaves_out_operator(text, start, end, spans):
        return Flaw.JOINED
    return None if _says_enough(text, start, end, spans) else Flaw.SHORT


def _leaves_out_call(text: str, start: int, end: int) -> bool:
    """Whether the name at the end is used without the call behind it: `x = order.total` of `x = order.total()`."""
    if text[end : end + 1] != "(":
        return False
    quoted = text[max(start, text.rfind("\n", 0, end) + 1, end - _LOOK_BACK) : end]
    found = _NAME_AT_END.search(quoted)
    if found is None or _DEFINES.search(quoted) or re.split(r"\W", quoted)[-1] in _KEYWORDS:
        return False
    return found["joined"] is None or text.startswith("()", end)


def _leaves_bracket_open(text: str, start: int, end: int, spans: Spans) -> bool:
    """Whether its last line goes on behind it inside a bracket or behind a `return`: `f(a` of `f(a, b)`."""
    stop = text.find("\n", end, end + _LOOK_BACK)
    after = text[end : stop if stop >= 0 else end + _LOOK_BACK]
    place = end + len(after) - len(after.lstrip())
    if not after.strip() or _is_prose_at(spans, place):
        return False
    begin = max(start, text.rfind("\n", 0, end) + 1, end - _LOOK_BACK)
    code = "".join(char for at, char in enumerate(text[begin:end], begin) if char in "()[]" and spans.at(at) is None)
    while (inner := code.replace("()", "").replace("[]", "")) != code:
        code = inner
    return ("(" in code or "[" in code) or bool(_HANDS_ON.search(text, begin, end))


def _is_part_of_value(text: str, start: int, end: int, spans: Spans) -> bool:
    """Whether part of a value that is one text over several lines is left out."""
    before, after = spans.value_at(start), spans.value_at(end - 1)
    is_cut = before is not None and bool(text[before.start : start].strip())
    return is_cut or (after is not None and bool(text[end : after.end].strip()))


def _is_partial(text: str, start: int, end: int, first: Span | None, last: Span | None) -> bool:
    """Whether part of a line of prose, of a string or of a setting's value is left out before or behind it."""
    if first is not None:
        before = _BEFORE_PROSE if first.is_prose else _STRING_EDGE
        if not before.fullmatch(text, first.start, start):
            return True
    after = _AFTER_PROSE if last is not None and last.is_prose else _STRING_EDGE
    return last is not None and not after.fullmatch(text, end, last.end)


def _line_before(text: str, start: int) -> str:
    return text[max(text.rfind("\n", 0, start) + 1, start - _LOOK_BACK) : start]


def _is_bare_condition(text: str, start: int, end: int, spans: Spans) -> bool:
    """Whether it says what is asked and not what follows from it: `(amount > limit)` of `if (amount > limit):`."""
    before, quoted = _line_before(text, start), text[start:end]
    if not before.strip() or "\n" in quoted or not spans.is_code_at(start) or _is_prose_at(spans, start):
        return False
    code = "".join(char if spans.at(at) is None else "_" for at, char in enumerate(quoted, start))
    if _DOES.search(code):
        return False
    if _ASKS.search(before):
        return True
    code = _without_groups(_without_parentheses(code))
    return not (_STATES.match(code) or _ASSIGNS.search(code)) and _CONDITION.search(code) is not None


def _without_parentheses(code: str) -> str:
    """Return code without those around all of it, but for the innermost."""
    signs = [place for place, char in enumerate(code) if not char.isspace()]
    first, last = 0, len(signs) - 1
    while first < last and code[signs[first]] == "(" and code[signs[last]] == ")":
        if not _BRACKET.search(code, signs[first] + 1, signs[last]):
            break
        first, last = first + 1, last - 1
    return code[signs[first] : signs[last] + 1] if first <= last else ""


def _without_groups(code: str) -> str:
    """Return code with `_` for each group in brackets, in one pass."""
    shown: list[str] = []
    opened: list[int] = []
    for char in code:
        if char in _CLOSES:
            if opened and shown[opened[-1]] == _CLOSES[char]:
                del shown[opened.pop() :]
                char = "_"
            else:
                opened.clear()
        elif char in "([{":
            opened.append(len(shown))
        shown.append(char)
    return "".join(shown)


def _is_negated(text: str, start: int, end: int, first: Span | None, last: Span | None) -> bool:
    line = text.rfind("\n", 0, start) + 1
    if first is not None and first.is_prose:
        return _line_before_negates(text, line)
    before = text[max(line, start - _LOOK_BACK) : start]
    if NEGATED.search(before) or (first is not None and _NEGATION.search(text, first.start, start)):
        return True
    return (last is None or not last.is_prose) and bool(_NEGATED_AFTER.match(text, end))


def _line_before_negates(text: str, line: int) -> bool:
    """Whether the line above ends in a negation, or a word or two behind one: the sentence goes on in the quotation."""
    above = text[max(text.rfind("\n", 0, max(line - 1, 0)) + 1, line - _LOOK_BACK) : max(line - 1, 0)]
    said = text[line : line + _LOOK_BACK].partition("\n")[0]
    reach = _NEGATION_REACH if _goes_on(above, said) else 1
    return any(map(_NEGATION.fullmatch, _CLAUSE_END.split(above)[-1].split()[-reach:]))


def _goes_on(above: str, line: str) -> bool:
    """Whether a sentence runs from one line of prose to the next: the same signs before it, and a small letter."""
    signs, before = _SIGNS.match(line), _SIGNS.match(above)
    assert signs is not None
    assert before is not None
    is_same = signs[0].strip() in {"", "*", before[0].strip()}
    return is_same and line[signs.end() : signs.end() + 1].islower()


def _is_cut(text: str, at: int) -> bool:
    """Whether a place lies inside a word, a number, an escape or an operator."""
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if left.isspace() or right.isspace():
        return False
    if _is_word(left) or _is_word(right):
        return _is_cut_word(text, at, left, right)
    return (left in _OPERATORS and right in _OPERATORS) or (left == right and left in "\"'`.&|")


def _is_cut_word(text: str, at: int, left: str, right: str) -> bool:
    if _is_word(left) and _is_word(right):
        return True
    if _is_word(left):  # a word ends here: does it go on behind a sign?
        is_unit = right in "%‰°" or unicodedata.category(right) == "Sc"
        return _joins(text, at) or (left.isdigit() and is_unit)
    if left in "!~¬\\-−" or left in _SIGILS:
        return True
    if right.isdigit() and (left in "+." or unicodedata.category(left) == "Sc"):
        return True
    return _joins(text, at - 1)


def _joins(text: str, at: int) -> bool:
    """Whether the sign at `at` stands inside a number, a name with hyphens or a contraction."""
    left, sign, right = text[at - 1] if at else " ", text[at], text[at + 1] if at + 1 < len(text) else " "
    if left.isdigit() and right.isdigit():
        return sign in ".,:/'’-−_" if sign != "," else bool(re.match(r",\d{3}(?!\d)", text[at : at + 5]))
    if not (_is_word(left) and _is_word(right)):
        return False
    if sign in "'’":
        return not _STRING_PREFIX.search(text, max(0, at - 3), at)
    return sign in "-‐‑"


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_" or unicodedata.category(char) in ("Mn", "Mc", "Me", "Pc") or char == "\u200d"


def _number_goes_on(text: str, start: int, end: int, spans: Spans) -> bool:
    """Whether the quotation cuts a sum in two: "WAIT = 30" of "WAIT = 30 * 60"."""
    after = _ARITHMETIC.match(text, end) if text[end - 1].isdigit() else None
    if after is not None and spans.at(after.end() - 1) is None:
        return True
    line = text.rfind("\n", 0, start) + 1
    return text[start].isdigit() and bool(_ARITHMETIC_BEFORE.search(text[max(line, start - _LOOK_BACK) : start]))


def _says_enough(text: str, start: int, end: int, spans: Spans) -> bool:
    """Whether a place holds a whole line that says something, or enough of one."""
    quote = text[start:end]
    tells = len(_REPEATED.sub(r"\1", "".join(quote.split())))
    if not any(map(str.isalnum, quote)):
        return False
    return tells >= MIN_CHARS or (tells >= MIN_LINE_CHARS and _holds_line(text, start, end, spans))


def _holds_line(text: str, start: int, end: int, spans: Spans) -> bool:
    """Whether a place holds one line from its beginning to its end, the signs around prose aside."""
    head = text[text.rfind("\n", 0, start) + 1 : start]
    stop = text.find("\n", end)
    tail = text[end : stop if stop >= 0 else len(text)]
    begins = not head.strip() or (_is_prose_at(spans, start) and bool(_BEFORE_PROSE.fullmatch(head)))
    ends = not tail.strip() or (_is_prose_at(spans, end - 1) and bool(_AFTER_PROSE.fullmatch(tail)))
    breaks = text.count("\n", start, end)
    return breaks > 1 or (begins and ends) or (breaks > 0 and (begins or ends))


def _is_prose_at(spans: Spans, place: int) -> bool:
    span = spans.at(place)
    return span is not None and span.is_prose
