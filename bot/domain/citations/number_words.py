"""Numbers that a text writes as words: "line eighty-eight", "Zeile zwölf", "the twelfth line", 第八十八行. Pure.

Other languages than English and the CJK ones stand in number_words.yml, for the numbers of lines up to 9,999.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from bot.domain.tables import read_table
from bot.domain.text.linear_patterns import folded

_ONES: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = tuple(f"{word}een" for word in ("thirt", "fourt", "fift", "sixt", "sevent", "eight", "ninet"))
_FROM_TEN: Final = ("ten", "eleven", "twelve", *_TEENS)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NTHS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_NTHS_FROM_TEN: Final = ("tenth", "eleventh", "twelfth", *(f"{word}th" for word in _TEENS))
_NTH_TENS: Final = tuple(f"{word[:-1]}ieth" for word in _TENS)
_VALUES: Final = {
    **{word: at for words in (_ONES, _NTHS) for at, word in enumerate(words, 1)},
    **{word: at for words in (_FROM_TEN, _NTHS_FROM_TEN) for at, word in enumerate(words, 10)},
    **{word: 10 * at for words in (_TENS, _NTH_TENS) for at, word in enumerate(words, 2)},
    "a": 1,
}
_MANY: Final = {"hundred": 100, "thousand": 1_000}
_CJK: Final = {digit: number for number, digit in enumerate("〇一二三四五六七八九")}
_CJK_MANY: Final = {"十": 10, "百": 100, "千": 1_000}

_SMALL: Final = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES)}))?|{'|'.join(_FROM_TEN)}|{'|'.join(_ONES)})"
_NUMBER: Final = rf"(?:(?:{'|'.join(_ONES)}|a)[\s-](?:hundred|thousand)(?:[\s-](?:and[\s-])?{_SMALL})?|{_SMALL})"
_COUNTED: Final = r"(?:times|(?:second|minute|hour|day|week|item)s?|of\sus|or\stwo|people|more|different|by\sone|at\sa)"
_LINES: Final = re.compile(
    rf"(?<![\w-])(?<!command\s)(?<!product\s)(?<!assembly\s)(?<!bottom\s)((?:lines?|rows?)\s(?:number\s)?)({_NUMBER})"
    rf"(?:(\s(?:to|through|until|and)\s|-to-)({_NUMBER}))?(?![\w-])(?!\s{_COUNTED}\b)",
    re.IGNORECASE,
)
_COUNT: Final = re.compile(rf"(?<!\w)((?:first|top|initial)\s)({_NUMBER})(?=\slines(?!\w))", re.IGNORECASE)
_NTH: Final = re.compile(
    rf"(?<![\w-])((?:{'|'.join(_TENS)})[\s-](?:{'|'.join(_NTHS)})"
    rf"|{'|'.join([*_NTHS[3:], *_NTHS_FROM_TEN, *_NTH_TENS])})(?=\sline(?!\w))",
    re.IGNORECASE,
)
_CJK_LINE: Final = re.compile(
    r"(第)([一二三四五六七八九十百千〇]{1,9})(?=\s?行)|()([一二三四五六七八九十百千]{1,9})(?=行目)"
)

_AND: Final = r"(?:\s(?:(?:e|y|et|und)\s)?|-|und)"

_ANY: Final = re.compile(rf"(?<![\w-]){_NUMBER}(?![\w-])", re.IGNORECASE)
_MEANT: Final = re.compile(
    r"\b(?:the|these|those|both|all|your|our|their|first|last|next|other|of|in|command|product)\s{1,2}$", re.IGNORECASE
)


class _Numbers(NamedTuple):
    line: str
    units: list[str]
    teens: list[str]
    tens: list[str]
    joins: list[str]
    others: dict[str, int]
    hundreds: dict[str, int]
    thousands: dict[str, int]


def _words_of(numbers: _Numbers) -> Iterator[tuple[str, int]]:
    """Yield each number below 100 as a language writes it."""
    yield from zip(numbers.units, range(1, 10), strict=True)
    yield from zip(numbers.teens, range(10, 20), strict=True)
    for ten, value in zip(numbers.tens, range(20, 100, 10), strict=True):
        yield ten, value
        for unit, more in zip(numbers.units, range(1, 10), strict=True):
            yield from ((join.format(T=ten, U=unit), value + more) for join in numbers.joins)
    yield from numbers.others.items()


_TABLES: Final = read_table(__file__, "number_words.yml", dict[str, _Numbers])
_OTHERS: Final = {word: value for numbers in _TABLES.values() for word, value in _words_of(numbers)}
_OTHERS.update({word.replace("ss", "s"): value for word, value in _OTHERS.items() if "ss" in word})  # of "ß"
_HUNDREDS: Final = {word: 100 * value for numbers in _TABLES.values() for word, value in numbers.hundreds.items()}
_THOUSANDS: Final = {word: 1_000 * value for numbers in _TABLES.values() for word, value in numbers.thousands.items()}


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_OTHER_NUMBER: Final = (
    rf"(?:(?:{_any_of(_THOUSANDS)}){_AND}?)?(?:(?:{_any_of(_HUNDREDS)}){_AND}?)?(?:{_any_of(_OTHERS)})?"
)
_OTHER_LINES: Final = re.compile(
    rf"(?<![\w-])(?:{'|'.join(numbers.line for numbers in _TABLES.values())})\s(?P<first>{_OTHER_NUMBER})"
    rf"(?:\s(?:bis|a|al|hasta|ate|sampai|hingga)\s(?P<last>{_OTHER_NUMBER}))?(?![\w-])"
)


def _other_lines(text: str) -> str:
    """Return a text with the line numbers of other languages in digits; `ß` counts as one `s`."""
    known = folded(text)
    if len(known) != len(text):
        known = "".join(folded(letter)[:1] or " " for letter in text)
    for found in reversed(list(_OTHER_LINES.finditer(known))):
        for name in ("last", "first"):
            start, end = found.span(name)
            if start < end:
                text = f"{text[:start]}{_other_number(found[name])}{text[end:]}"
    return text


def _other_number(words: str) -> int:
    """Return the value of a number of another language, its thousands and hundreds first."""
    total = 0
    for many in (_THOUSANDS, _HUNDREDS):
        head = max((word for word in many if words.startswith(word) and words not in _OTHERS), key=len, default="")
        total += many.get(head, 0)
        words = re.sub(rf"^{_AND}", "", words[len(head) :]) if head else words
    return total + _OTHERS.get(words, 0)


def with_digits(text: str) -> str:
    """Return a text with the numbers of its lines in digits; all other words stay.

    >>> with_digits("line eighty-eight, lines eighty to ninety, one line, the twelfth line, 第八十八行")
    'line 88, lines 80 to 90, one line, the 12th line, 第88行'
    """
    text = _other_lines(_LINES.sub(lambda found: _line(found), text))
    text = _COUNT.sub(lambda found: found[1] + str(_number(found[2])), text)
    text = _NTH.sub(lambda found: f"{_number(found[1])}th", text)
    return _CJK_LINE.sub(lambda found: (found[1] or "") + str(_cjk_number(found[2] or found[4])), text)


def counts_in_digits(text: str) -> str:
    """Return an English text with counted numbers in digits; "one" stays, and so do "the two" that were named before.

    >>> counts_in_digits("It tries five times in the two threads, for ninety-nine seconds; one is enough.")
    'It tries 5 times in the two threads, for 99 seconds; one is enough.'
    """

    def digits(found: re.Match[str]) -> str:
        is_count = _number(found[0]) > 1 and not _MEANT.search(text[max(0, found.start() - 12) : found.start()])
        return str(_number(found[0])) if is_count else found[0]

    return _ANY.sub(digits, text)


def numbers_in_words(text: str) -> set[int]:
    """Return the numbers that an English text writes as words; "a hundred" is 100.

    >>> sorted(numbers_in_words("the three retries, ninety-nine"))
    [3, 99]
    """
    return {_number(found[0]) for found in _ANY.finditer(text)}


def _line(found: re.Match[str]) -> str:
    first = f"{found[1]}{_number(found[2])}"
    return f"{first} {found[3].strip(' -')} {_number(found[4])}" if found[4] else first


def _number(words: str) -> int:
    total = 0
    for word in re.split(r"[\s-]+", words.lower()):
        total = max(total, 1) * _MANY[word] if word in _MANY else total + _VALUES.get(word, 0)
    return total


def _cjk_number(digits: str) -> int:
    total = last = 0
    for digit in digits:
        if digit in _CJK_MANY:
            total, last = total + max(last, 1) * _CJK_MANY[digit], 0
        else:
            last = last * 10 + _CJK[digit]
    return total + last
