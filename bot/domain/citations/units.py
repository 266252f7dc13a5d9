"""Numbers with their units, as a sentence says them and as lines of code or text show them. Pure and linear.

A number of a line has a unit where the text behind it, the identifier before it or the rest of the line names one, or
where it is a product of the unit's factors (`3600 * 24`). Where an identifier names only the quantity (`timeout = 30`),
the number counts in the base unit of the file's language, if no line close by names another one. All other numbers have
no unit, and back a sentence only without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from typing import Annotated, Final, NamedTuple

from pydantic import BeforeValidator

from bot.domain.tables import Words, WordSet, read_table

_NEAR_LINES: Final = 3
"""Lines before and behind an identifier in which its unit may be named."""

_WRAPPED: Final = 120
MAX_NUMBERS: Final = 4_000
"""So many numbers of the lines are read."""

_MAX_EXPONENT: Final = 64
_MAX_BASE: Final = 1_024
_DIGIT: Final = re.compile(r"\d")


class _Unit(NamedTuple):
    """One unit of a dimension; `factor` holds several where one name is used for several sizes."""

    factor: Annotated[tuple[Fraction, ...], BeforeValidator(lambda text: [Fraction(one) for one in str(text).split()])]
    symbols: Words
    words: Words
    code: Words


class _Table(NamedTuple):
    """units.yml."""

    units: dict[str, list[_Unit]]
    implied: dict[str, WordSet]
    last: WordSet
    millis: WordSet
    line: WordSet
    numbers: list[Words]


class Unit(NamedTuple):
    """A dimension ("time", "bytes", …), and what its numbers are multiplied with; several where a name is used so."""

    dimension: str
    factors: tuple[Fraction, ...] = (Fraction(1),)


_TABLE: Final = read_table(__file__, "units.yml", _Table)
_ALL: Final = [(Unit(name, unit.factor), unit) for name, units in _TABLE.units.items() for unit in units]
_SYMBOLS: Final = {symbol: unit for unit, row in _ALL for symbol in row.symbols}
_WORDS: Final = {word.replace("~", " "): unit for unit, row in _ALL for word in row.words}
_CODE: Final = {word: unit for unit, row in _ALL for word in row.code}
_LONG_CODE: Final = {word: unit for word, unit in _CODE.items() if word not in _TABLE.last}
_VALUES: Final = {word: value for value, words in enumerate(_TABLE.numbers) for word in words}
_IMPLIED: Final = {word: Unit(name) for name, words in _TABLE.implied.items() for word in words}
_MILLIS: Final = _CODE["ms"]


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _is_spaced(word: str) -> bool:
    return word[0] < "\u3000" and word[0].isalpha()


_NO_LETTER: Final = r"(?![A-Za-zÀ-ÿ0-9_])"
_SYMBOL: Final = (
    rf"(?P<symbol>(?:{_any_of(filter(_is_spaced, _SYMBOLS))}){_NO_LETTER}"
    rf"|{_any_of(word for word in _SYMBOLS if not _is_spaced(word))})"
)
_WORD: Final = (
    rf"(?i:(?P<word>{_any_of(filter(_is_spaced, _WORDS))})(?:s|n|en|e|es)?{_NO_LETTER})"
    rf"|(?P<cjk>{_any_of(word for word in _WORDS if not _is_spaced(word))})"
)
_UNIT: Final = rf"[\s\u00a0\u202f(-]{{0,4}}(?:{_SYMBOL}|{_WORD})"
_NUMBER: Final = (
    r"0[xX][0-9a-fA-F_]{1,32}|0[oO][0-7_]{1,32}|0[bB][01_]{1,64}"
    r"|\d{1,30}(?:(?:[.,'’_]|[\u00a0\u202f](?=\d{3}(?!\d)))\d{1,12}){0,9}(?:[eE][+-]?\d{1,2}(?![A-Za-z0-9_]))?"
)
_SPOKEN: Final = re.compile(
    rf"(?P<money>(?:US)?[$€£]\s?)?(?<![A-Za-z0-9_])(?P<sign>(?<![\w)\]])[-−])?v?(?P<number>{_NUMBER})"
    rf"(?:{_UNIT})?"
)
_SPACED_THOUSANDS: Final = re.compile(rf"(?<![\w.,])\d{{1,3}}(?: \d{{3}}){{1,4}}(?={_UNIT})")
_SPOKEN_WORD: Final = re.compile(
    rf"(?:(?i:(?<![\w-])(?P<number>{_any_of(filter(_is_spaced, _VALUES))})(?!\w))"
    rf"|(?P<cjk_number>{_any_of(word for word in _VALUES if not _is_spaced(word))}))"
    rf"(?:{_UNIT}|(?P<end>\s{{0,2}}(?:[.,;:!)]|$)))"
)
_LINE_NUMBER: Final = re.compile(rf"(?<![A-Za-z0-9])v?(?P<number>{_NUMBER})")
_PRODUCT: Final = re.compile(
    r"(?<![A-Za-z0-9.])\d{1,12}(?:[_.]\d{1,6}){0,4}(?:\s{0,2}(?:\*\*?|<<|×)\s{0,2}\d{1,12}(?:[_.]\d{1,6}){0,4}){1,7}"
)
_FACTOR: Final = re.compile(r"(\*\*|<<|\*|×)?\s{0,2}(\d[\d_.]{0,40})")
_UNIT_BEHIND: Final = (
    rf"(?:[\s_]?{_SYMBOL}|[LlfFuU]?[\s*._-]{{0,4}}(?:,\s{{0,2}})?(?:[A-Za-z]{{1,20}}\.){{0,2}}(?:{_WORD}))"
)
_BEHIND: Final = re.compile(_UNIT_BEHIND)
_WITH_UNIT: Final = re.compile(rf"(?<![A-Za-z0-9])(?>{_NUMBER}){_UNIT_BEHIND}")
_PLURAL: Final = re.compile(r"[a-z]+[^s]s")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[%$€£]")


class Spoken(NamedTuple):
    """A number of a sentence: where it stands, what it may mean, and its unit; `version` has several points."""

    start: int
    end: int
    values: frozenset[Fraction]
    unit: Unit | None
    version: str = ""


def readings(text: str) -> frozenset[Fraction]:
    """Return what a number may mean, by the ways to write thousands and decimals; none for a version.

    >>> sorted(map(int, readings("30_000") | readings("30.000") | readings("1,234.0") | readings("0x10")))
    [16, 1234, 30000]
    >>> readings("1,5") == readings("1.5"), readings("1.2.3")
    (True, frozenset())
    """
    text = re.sub(r"['’_\u00a0\u202f]", "", text)
    if text[:2].lower() in {"0x", "0o", "0b"}:
        as_written = _fractions(text[2:]) if text[1] in "oO" else frozenset()
        return as_written | {Fraction(int(text, 0))} if len(text) > 2 else frozenset()
    separators = re.sub(r"[^.,]", "", text)
    if len(set(separators)) > 1:
        whole, _, rest = text.rpartition(separators[-1])
        return _fractions(re.sub(r"[.,]", "", whole) + "." + rest)
    parts = re.split(r"[.,]", text)
    is_grouped = all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3 and parts[0] != "0"
    grouped = _fractions("".join(parts)) if is_grouped else frozenset()
    if len(parts) > 2 or (grouped and parts[1:] == ["000"]):
        return grouped
    return grouped | _fractions(text.replace(",", "."))


def _fractions(text: str) -> frozenset[Fraction]:
    try:
        return frozenset({Fraction(text)})
    except ValueError:
        return frozenset()


def _numbers_in_words(text: str) -> Iterator[Spoken]:
    for found in _SPOKEN_WORD.finditer(text):
        word = (found["number"] or found["cjk_number"]).lower()
        unit = _unit_of(found)
        if unit or (found["number"] and _VALUES[word] != 1):
            end = found.end() if unit else found.start("end")
            yield Spoken(found.start(), end, frozenset({Fraction(_VALUES[word])}), unit)


def spoken_numbers(text: str) -> Iterator[Spoken]:
    """Yield the numbers of a sentence, in digits with or without a unit, in words where a unit or a pause follows.

    >>> [(int(min(each.values)), each.unit and each.unit.dimension) for each in spoken_numbers("three times, for 30 s")]
    [(3, 'count'), (30, 'time')]
    """
    yield from _numbers_in_words(text)
    text = _SPACED_THOUSANDS.sub(lambda found: found[0].replace(" ", "\u202f"), text)
    yield from map(_in_digits, _SPOKEN.finditer(text))


def _in_digits(found: re.Match[str]) -> Spoken:
    number, unit = found["number"], _unit_of(found)
    if found["money"]:
        unit = _SYMBOLS[found["money"].strip()[-1]]
    values = readings(number)
    if found["sign"]:
        values = frozenset(-value for value in values)
    end = found.end() if unit else found.end("number")
    return Spoken(found.start(), end, values, unit, "" if values else number)


def _unit_of(found: re.Match[str]) -> Unit | None:
    if found["symbol"]:
        return _SYMBOLS[found["symbol"]]
    word = found["word"] or found["cjk"]
    return _WORDS[word.lower()] if word else None


def is_unit(word: str) -> bool:
    """Whether a word is a unit as it is written, such as MiB.

    >>> is_unit("MiB"), is_unit("FooBar")
    (True, False)
    """
    return word in _SYMBOLS or word.lower() in _WORDS


def is_line_word(word: str) -> bool:
    """Whether a word before or behind a number says that it is the number of a line."""
    return word.lower() in _TABLE.line


class Quantities:
    """The numbers of lines, with the units that the lines give them.

    >>> quantities = Quantities(["WAIT_MS = 30_000", "DAY = 24 * 60 * 60"])
    >>> [quantities.back(said) for said in spoken_numbers("30 s, 30 h, 1 day, 86400")]
    [True, False, True, True]
    """

    def __init__(self, lines: Sequence[str], endings: Iterable[str] = ()) -> None:
        endings = set(endings)
        self._is_millis = bool(endings) and endings <= _TABLE.millis
        self._lines = lines
        self._room = MAX_NUMBERS
        self._bare: set[Fraction] = set()
        self._amounts: set[tuple[str, Fraction]] = set()
        self._versions: set[str] = set()
        self._named = [_loose_units(line) for line in lines]
        for at, line in enumerate(lines):
            self._read_line(line, at)

    def back(self, said: Spoken) -> bool:
        """Whether a number of a sentence stands there with its unit, or with another one of the same amount."""
        if said.version:
            return said.version in self._versions
        if said.unit is None:
            return not self._bare.isdisjoint(said.values)
        name, factors = said.unit
        amounts = {value * factor for value in said.values for factor in factors}
        if 1 in said.values and any(said.unit in named for named in self._named):
            return True  # one second, where the lines say `time.Second`
        is_share = name == "percent" and any(amount in self._bare for amount in amounts if 0 < amount < 1)
        return is_share or any((name, amount) in self._amounts for amount in amounts)

    def _read_line(self, line: str, at: int) -> None:
        numbers = list(islice(_LINE_NUMBER.finditer(line), self._room))
        self._room -= len(numbers)
        products = {found.start(): found for found in islice(_PRODUCT.finditer(line), len(numbers))}
        behind = 0
        for found in numbers:
            start = found.start("number")
            values = self._keep(found["number"], line[max(0, start - 2) : start].rstrip().endswith("-"))
            if start < behind:  # a factor of a product
                continue
            product = products.get(start)
            argument = self._argument(line[behind:start], at, is_first=behind == 0)
            behind = product.end() if product else found.end()
            units = self._units_at(line, argument, behind, at, is_only=len(numbers) == 1)
            if product:
                self._add_product(_factors(product[0]), units)
            else:
                self._add(values, units)
        for said in islice(_numbers_in_words(line), self._room):
            self._room -= 1
            self._bare |= said.values
            self._add(said.values, [said.unit] if said.unit else [])

    def _argument(self, before: str, at: int, *, is_first: bool) -> str:
        """Return the text that names what a number is: in code since the last comma, in prose with the line before."""
        if re.search(r"[=:(\[{]", before):
            return _last_argument(before)
        is_wrapped = is_first and at > 0 and not _DIGIT.search(self._lines[at - 1])
        return f"{self._lines[at - 1][-_WRAPPED:]} {before}" if is_wrapped else before

    def _keep(self, number: str, is_negative: bool) -> set[Fraction]:
        """Remember the bare values of a number, and return them."""
        values = set(readings(number))
        if not values:
            self._versions.add(number)
            head = number.split(".")
            self._versions.update(".".join(head[:count]) for count in range(3, len(head)))
            values |= readings(".".join(head[:2]))
        for part in re.split(r"[,'’]", number):
            values |= _fractions(part.replace("_", ""))
        if is_negative:
            values |= {-value for value in values}
        self._bare |= values
        return values

    def _add(self, values: Iterable[Fraction], units: Sequence[Unit]) -> None:
        known = units or [Unit("count")]
        self._amounts |= {
            (unit.dimension, value * factor) for value in values for unit in known for factor in unit.factors
        }

    def _units_at(self, line: str, argument: str, end: int, at: int, *, is_only: bool) -> list[Unit]:
        """Return the units of the number that ends at `end`; the closest that are named count alone."""
        behind = _BEHIND.match(line, end)
        if behind and (unit := _unit_of(behind)):
            return [unit]
        if argument[-1:] == "-" and argument[-2:-1].isalpha():  # a name such as utf-8
            return []
        parts = _parts(argument)
        known = [(last, part) for last, part in pairwise(["", *parts]) if part in _LONG_CODE]
        named = [_CODE[part] for last, part in known if last not in {"to", "per"}]
        if parts and parts[-1] in _TABLE.last:
            named.append(_CODE[parts[-1]])
        if named:
            return named[-1:]  # SECONDS.toMillis(5) are five seconds
        if known and "per" in parts:  # a rate
            return []
        implied = [_IMPLIED[part] for part in parts if part in _IMPLIED]
        if implied and (parts[-1] in _IMPLIED or not _PLURAL.fullmatch(parts[-1])):  # keepalive_connections is no time
            return self._implied(implied[-1], at)
        return list(self._named[at]) if is_only else []

    def _implied(self, quantity: Unit, at: int) -> list[Unit]:
        base = [_MILLIS] if quantity.dimension == "time" and self._is_millis else [quantity]
        before = [self._named[at], *reversed(self._loose(at - _NEAR_LINES, at))]
        told = (kept for units in before if (kept := [unit for unit in units if unit.dimension == quantity.dimension]))
        behind = {unit for units in self._loose(at + 1, at + 1 + _NEAR_LINES) for unit in units}
        return [*next(told, base), *(unit for unit in behind if unit.dimension == quantity.dimension)]

    def _loose(self, start: int, end: int) -> list[set[Unit]]:
        """Return the units that lines without a number name."""
        lines = range(max(0, start), min(len(self._lines), end))
        return [self._named[at] for at in lines if not _DIGIT.search(self._lines[at])]

    def _add_product(self, factors: Sequence[Fraction], units: list[Unit]) -> None:
        product = Fraction(1)
        for factor in factors:
            product *= factor
        self._bare.add(product)
        if 1024 in factors:  # `1024 * 16` may be entries as well as bytes
            self._add([product], [])
        shown = _unit_of_product(factors, {unit.dimension for unit in units})
        is_plain = len(factors) == 2 and {60, 1024}.intersection(factors)  # 5 * 60 may be minutes, if a name says so
        self._add([product], [shown] if shown and not (units and is_plain) else units)


def _loose_units(line: str) -> set[Unit]:
    """Return the units that a line names, but for those of its numbers."""
    rest = _WITH_UNIT.sub(" ", line)
    return {_LONG_CODE[part] for part in _parts(rest) if part in _LONG_CODE}


def _parts(text: str) -> list[str]:
    return [part.lower() for part in _PART.findall(text)]


def _last_argument(before: str) -> str:
    """Return the text since the last comma; all of it where no name stands there."""
    argument = re.split(r"[,;{]", before)[-1]
    return argument if any(map(str.isalpha, argument)) else before


def _factors(product: str) -> list[Fraction]:
    factors: list[Fraction] = []
    for sign, number in _FACTOR.findall(product):
        value = next(iter(_fractions(number.replace("_", ""))), Fraction(1))
        if sign == "<<":
            value, sign = Fraction(2) ** min(int(value), _MAX_EXPONENT), "*"
        if sign == "**" and factors:
            base = factors.pop()
            value = base ** min(int(value), _MAX_EXPONENT) if base <= _MAX_BASE else base
        factors.append(value)
    return factors


def _unit_of_product(factors: Sequence[Fraction], dimensions: set[str]) -> Unit | None:
    """Return the unit that the factors of a product show: 60, 3600 and 86400 a time, powers of 1024 bytes."""
    sixties = sum({60: 1, 3600: 2, 86400: 2}.get(int(factor), 0) for factor in factors)
    if sixties or (1000 in factors and "time" in dimensions):
        base = Fraction(60) if sixties == 1 and 24 in factors else Fraction(1)
        scale = next((factor for factor in factors if factor in {1000, 1_000_000}), Fraction(1))
        return Unit("time", (base / scale,))
    is_binary = any(factor in {1024, 1 << 20, 1 << 30} for factor in factors)
    return Unit("bytes") if is_binary else None
