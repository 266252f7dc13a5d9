"""Numbers with their units, as a sentence says them and as lines of code or text show them. Pure and linear.

A number of a line has a unit where the text behind it, the identifier before it or the rest of the line names one, or
where it is a product of the unit's factors (`3600 * 24`). Where an identifier names only the quantity (`timeout = 30`),
the number counts in the base unit of the file's language, if no line close above names another one. All other numbers
have no unit, and back a sentence only without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from math import prod
from typing import Annotated, Final, NamedTuple

from pydantic import BeforeValidator

from bot.domain.languages.packs import LANGUAGES, pack
from bot.domain.tables import Words, WordSet, read_table

MAX_NUMBERS: Final = 4_000
"""So many numbers of the lines are read."""

_NEAR_LINES: Final = 3
"""Lines before an identifier in which its unit may be named."""

_WRAPPED_CHARS: Final = 120
_MAX_FACTORS: Final = 8
_MAX_EXPONENT: Final = 64
_MAX_BASE: Final = 1_024


class _Row(NamedTuple):
    """One unit of a dimension; `factor` holds several where one name is used for several sizes."""

    factor: Annotated[tuple[Fraction, ...], BeforeValidator(lambda text: [Fraction(one) for one in str(text).split()])]
    symbols: Words
    words: Words
    code: Words


class _Table(NamedTuple):
    """units.yml."""

    units: dict[str, list[_Row]]
    implied: dict[str, WordSet]
    millis: WordSet
    line: Words


class Unit(NamedTuple):
    """A dimension ("time", "bytes", …), and what its numbers are multiplied with; several where a name is used so."""

    dimension: str
    factors: tuple[Fraction, ...] = (Fraction(1),)


_TABLE: Final = read_table(__file__, "units.yml", _Table)
_ALL: Final = [(Unit(name, row.factor), row) for name, rows in _TABLE.units.items() for row in rows]
_SYMBOLS: Final = {symbol: unit for unit, row in _ALL for symbol in row.symbols}
_WORDS: Final = {word.replace("~", " "): unit for unit, row in _ALL for word in row.words}
_CODE: Final = {word: unit for unit, row in _ALL for word in row.code}
_IMPLIED: Final = {word: Unit(name) for name, words in _TABLE.implied.items() for word in words}
_VALUES: Final = {
    word: Fraction(value)
    for language in LANGUAGES
    for value, words in enumerate(pack(language).numbers)
    for word in words.split()
}


def _any_of(words: Iterable[str], *, is_spaced: bool) -> str:
    """Return a pattern for words that are written with blanks between, or for signs and all others."""
    kept = [word for word in words if (word[0] < "\u3000" and word[0].isalpha()) is is_spaced]
    return "|".join(re.escape(word) for word in sorted(kept, key=len, reverse=True))


LINE_WORDS: Final = _any_of(_TABLE.line, is_spaced=True)
"""A pattern for what says before a number that it is the one of a line."""

_END: Final = r"(?![A-Za-zÀ-ÿ0-9_])"
_UNIT: Final = (
    rf"[*`]{{0,2}}[\s_(-]{{0,2}}"
    rf"(?P<symbol>(?:{_any_of(_SYMBOLS, is_spaced=True)}){_END}|{_any_of(_SYMBOLS, is_spaced=False)})"
    r"|[LlfFuU]?[\s*`_(-]{0,4}(?:\.|,?\s{0,2}(?:[A-Za-z]{1,20}\.){1,2})?"
    rf"(?:(?i:(?P<word>{_any_of(_WORDS, is_spaced=True)})(?:s|n|en|e|es)?{_END})"
    rf"|(?P<cjk>{_any_of(_WORDS, is_spaced=False)}))"
)
"""What stands behind a number: `s`, ` seconds`, `** seconds`, `.seconds`, ` * time.Second`, `L, TimeUnit.SECONDS`."""

_NUMBER: Final = re.compile(
    r"(?:(?P<money>(?:US)?[$€£])\s?)?(?:(?<![A-Za-z0-9])(?P<sign>(?<![\w)\]\0])[-−])?v?(?P<number>"
    r"(?P<spaced>(?<![\w.,])\d{1,3}(?: \d{3}){1,4})|0[xX][0-9a-fA-F_]{1,32}|0[oO][0-7_]{1,32}|0[bB][01_]{1,64}"
    r"|\d{1,30}(?:(?:[.,'’_]|[\u00a0\u202f](?=\d{3}(?!\d)))\d{1,12}){0,9}(?:[eE][+-]?\d{1,2}(?![A-Za-z0-9_]))?)"
    rf"|(?<![\w-])(?i:(?P<spoken>{_any_of(_VALUES, is_spaced=True)}))(?!\w)"
    rf"|(?P<sino>{_any_of(_VALUES, is_spaced=False)}))"
    rf"(?:{_UNIT}|(?(spaced)(?!))(?(sino)(?!))(?(spoken)(?=\s{{0,2}}(?:[.,;:!)]|$))))"
)
_PLURAL: Final = re.compile(r"[a-z]+[^s]s")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|(?<!to)(?<!\w['’])[A-Z]?[a-z]+|[%$€£]")


class Spoken(NamedTuple):
    """A number of a text: where it stands, what it may mean, and its unit; `written` are its digits."""

    start: int
    end: int
    written: str
    values: frozenset[Fraction]
    unit: Unit | None


def readings(text: str) -> frozenset[Fraction]:
    """Return what a number may mean, by the ways to write thousands and decimals; none for a version.

    >>> sorted(map(int, readings("30_000") | readings("30.000") | readings("1,234.0") | readings("0x10")))
    [16, 1234, 30000]
    >>> readings("1,5") == readings("1.5"), readings("1.2.3")
    (True, frozenset())
    """
    text = re.sub(r"['’_\s]", "", text)
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


def spoken_numbers(text: str) -> Iterator[Spoken]:
    """Yield the numbers of a text, in digits with or without a unit, in words where a unit or a pause follows.

    >>> [(int(min(each.values)), each.unit and each.unit.dimension) for each in spoken_numbers("three times, for 30 s")]
    [(3, 'count'), (30, 'time')]
    """
    for found in _NUMBER.finditer(text):
        symbol, name = found["money"] or found["symbol"] or "", found["word"] or found["cjk"] or ""
        unit = _SYMBOLS.get(symbol) or _WORDS.get(name.lower())
        word = (found["spoken"] or found["sino"] or "").lower()
        values = frozenset({_VALUES[word]}) if word else readings(found["number"])
        if found["sign"]:
            values = frozenset(-value for value in values)
        if unit or _VALUES.get(word) != 1:  # "one" alone is a pronoun
            end = found.end() if unit else found.end("number" if found["number"] else "spoken")
            yield Spoken(found.start(), end, found["number"] or "", values, unit)


def is_unit(word: str) -> bool:
    """Whether a word is a unit as it is written, such as MiB.

    >>> is_unit("MiB"), is_unit("FooBar")
    (True, False)
    """
    return word in _SYMBOLS or word.lower() in _WORDS


class _Product(NamedTuple):
    """Numbers of a line that are multiplied, mostly one alone; of `a ** b` and `a << b` the factors hold the power."""

    numbers: list[Spoken]
    factors: list[Fraction]


class Quantities:
    """The numbers of lines, with the units that the lines give them.

    >>> quantities = Quantities(["WAIT_MS = 30_000", "DAY = 24 * 60 * 60"])
    >>> [quantities.back(said) for said in spoken_numbers("30 s, 30 h, 1 day, 86400")]
    [True, False, True, True]
    """

    def __init__(self, lines: Sequence[str], endings: Sequence[str] = ()) -> None:
        self._base_time = _CODE["ms"] if endings and _TABLE.millis.issuperset(endings) else Unit("time")
        self._bare: set[Fraction] = set()
        self._amounts: set[tuple[str, Fraction]] = set()
        self._versions: set[str] = set()
        numbers: list[list[Spoken]] = [[] for _ in lines]
        every = ((at, number) for at, line in enumerate(lines) for number in spoken_numbers(line))
        for at, number in islice(every, MAX_NUMBERS):
            numbers[at].append(number)
        self._named = [_named(_NUMBER.sub("\n", line)) for line in lines]
        self._alone = [[] if found else named for found, named in zip(numbers, self._named, strict=True)]
        self._names = {unit for named in self._named for unit in named}
        for at, line in enumerate(lines):
            before = f"{lines[at - 1][-_WRAPPED_CHARS:]}\n" if at and not numbers[at - 1] else ""
            end = 0
            for product in _products(line, numbers[at]):
                before += line[end : product.numbers[0].start]
                self._add(product, self._units(product, before, at, is_only=product.numbers == numbers[at]))
                before, end = "", product.numbers[-1].end

    def back(self, said: Spoken) -> bool:
        """Whether a number of a sentence stands there with its unit, or with another one of the same amount."""
        if not said.values:
            return said.written in self._versions
        if said.unit is None:
            return not self._bare.isdisjoint(said.values)
        name, factors = said.unit
        amounts = {value * factor for value in said.values for factor in factors}
        is_share = name == "percent" and any(amount in self._bare for amount in amounts if 0 < amount < 1)
        is_name = 1 in said.values and said.unit in self._names  # one second: `time.Second`
        return is_share or is_name or any((name, amount) in self._amounts for amount in amounts)

    def _units(self, product: _Product, before: str, at: int, *, is_only: bool) -> list[Unit]:
        """Return the units of a product; the closest that are named count alone."""
        if behind := product.numbers[-1].unit:
            return [behind]
        is_code = re.search(r"[=:(\[]", before.rpartition("\n")[2])
        argument = re.split(r"[,;{\n]", before.rstrip(" ,;{(['\""))[-1] if is_code else before
        parts = _parts(argument)
        if "per" in parts:  # a rate
            return []
        if named := _named(argument):
            return named[-1:]  # SECONDS.toMillis(5) are five seconds
        implied = [_IMPLIED[part] for part in parts if part in _IMPLIED]
        if not implied or (parts[-1] not in _IMPLIED and _PLURAL.fullmatch(parts[-1])):  # keepalive_connections
            return self._named[at] if is_only else []
        base = self._base_time if implied[-1].dimension == "time" else implied[-1]
        near = [self._named[at], *reversed(self._alone[max(0, at - _NEAR_LINES) : at])]
        return [unit for named in near for unit in named if unit.dimension == base.dimension][:1] or [base]

    def _add(self, product: _Product, units: list[Unit]) -> None:
        for number in product.numbers:
            parts = number.written.split(".")
            self._versions |= {".".join(parts[:count]) for count in range(3, len(parts) + 1)}
            values = number.values or readings(".".join(parts[:2]))
            pieces = [_fractions(part.replace("_", "")) for part in re.split(r"[,'’]", number.written)]
            values = values.union(map(abs, values), *pieces)
            self._bare |= values
        if len(product.numbers) > 1:
            values = frozenset({prod(product.factors, start=Fraction(1))})
            self._bare |= values
            is_plain = len(product.factors) == 2 and not {60, 1024}.isdisjoint(product.factors)  # 5 * 60 may be minutes
            units = units if units and is_plain else [*units, *_shown_by(product.factors)]
        for unit in units or [Unit("count")]:
            self._amounts |= {(unit.dimension, value * factor) for value in values for factor in unit.factors}


def _named(text: str) -> list[Unit]:
    """Return the units that names and words of a text tell, in their order."""
    return [_CODE[part] for part in _parts(text) if part in _CODE]


def _parts(text: str) -> list[str]:
    return [part.lower() for part in _PART.findall(text)]


def _products(line: str, numbers: Iterable[Spoken]) -> list[_Product]:
    """Return the numbers of a line, those together that signs make one product of."""
    products: list[_Product] = []
    end = 0
    for number in numbers:
        sign, end = line[end : number.start].strip(), number.end
        value = min(number.values, default=Fraction(1))
        power = min(abs(int(value)), _MAX_EXPONENT)
        if not products or sign not in {"*", "×", "**", "<<"} or len(products[-1].numbers) == _MAX_FACTORS:
            products.append(_Product([], []))
        elif sign == "<<":
            value = Fraction(2) ** power
        elif sign == "**":
            value = min(abs(products[-1].factors.pop()), Fraction(_MAX_BASE)) ** power
        products[-1].numbers.append(number)
        products[-1].factors.append(value)
    return products


def _shown_by(factors: Sequence[Fraction]) -> list[Unit]:
    """Return the unit that the factors of a product show: 60, 3600 and 86400 a time, powers of 1024 bytes."""
    if not {60, 3600, 86400}.isdisjoint(factors):
        scale = next((factor for factor in factors if factor in {1000, 1_000_000}), Fraction(1))
        return [Unit("time", (1 / scale,))]
    return [] if {1024, 1 << 20, 1 << 30}.isdisjoint(factors) else [Unit("bytes"), Unit("count")]
