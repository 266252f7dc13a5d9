"""Whether a heartbeat's remark measures trouble, in the eight languages: no word of it is trouble, its numbers are.

"40,000 waiting", "twice as long as last week", "p95 went from 200 ms to 1.8 s", "good for 2 more days", "9,800 of
10,000 calls used", "the last backup is from October". Pure, in linear time; the words are in alarm_measures.yml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Final, NamedTuple

from bot.domain.tables import Alternatives, Parts, Words, fill, read_table

WAITING_AT_LEAST: Final = 100
"""So many waiting are worth a look, unless the remark says that they are usual."""

WORSE_BY: Final = 1.25
"""A measure that moved less, up or down, did not change."""

FULL_FROM: Final = 0.9
"""What is used to this share is nearly used up."""

LIMIT_AT_LEAST: Final = 20
"""A smaller limit is none: "3 of 3 seats used"."""

_PART_END: Final = re.compile(r"[;!?…\n\r。！？；]|\.(?=\s|$)|,(?=\s)|、|，")
_GROUPED: Final = r"\d{1,3}(?:[.,\u202f ]\d{3}){1,4}"
_AMOUNT: Final = rf"({_GROUPED}|\d{{1,9}}(?:[.,]\d{{1,3}})?) ?({{MANY}}?)"
_MEASURED: Final = rf"{_AMOUNT} ?({{UNIT}}?)"
_BEGINS: Final = "(?<![a-z0-9.,])"
_ENDS: Final = "(?![a-z]|[.,]?[0-9])"
_NO_NUMBER_OF: Final = "".join(
    rf"(?<!{word} )" for word in (r"\bpr", r"\bmr", "issue", "ticket", "build", "job", "run", "version")
)
_FACTORS: Final = dict.fromkeys(("k", "thousand", "tausend", "tsd", "mil", "mille", "ribu", "rb", "千"), 1_000) | {
    "万": 10_000
}
_MILLION: Final = 1_000_000
_SECONDS: Final = {
    "MILLISECONDS": 0.001,
    "SECONDS": 1.0,
    "MINUTES": 60.0,
    "HOURS": 3600.0,
    "LONG_DAYS": 86_400.0,
    "WEEKS": 604_800.0,
}
"""How many seconds one of the units is whose spellings are the part of that name."""

_KILOBYTES: Final = {"k": 1.0, "m": 1e3, "g": 1e6, "t": 1e9}


class _MeasuresTable(NamedTuple):
    waiting: Alternatives
    usual: Alternatives
    high: Alternatives
    low: Alternatives
    better: Alternatives
    times: Alternatives
    compared: Alternatives
    used: Alternatives
    shared: Alternatives
    no_users: Alternatives
    before: Alternatives
    leased: Alternatives
    soon: Alternatives
    copies: Alternatives
    bygone: Alternatives
    kept: Alternatives
    numerals: tuple[Words, ...]
    parts: Parts


class _Measures(_MeasuresTable):
    """The lists of alarm_measures.yml, and the patterns made of them."""

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        return re.compile(fill(pattern, self.parts))

    @cached_property
    def words(self) -> dict[str, re.Pattern[str]]:
        """Each list by its name, as whole words."""
        lists = {name: words for name, words in self._asdict().items() if isinstance(words, str)}
        return {name: self._compiled(rf"(?<![a-z0-9])(?:{words})(?![a-z])") for name, words in lists.items()}

    @cached_property
    def improvement(self) -> re.Pattern[str]:
        """A multiple of something good: "twice as fast", "快两倍"."""
        gap = r"[ の了]?(?:[\w']{1,8} ){0,3}"
        ahead = rf"(?:快|速|好|短|便宜)了?(?:{self.times})"
        return self._compiled(rf"(?<![a-z0-9])(?:(?:{self.times}){gap}(?:{self.better})|{ahead})(?![a-z])")

    @cached_property
    def number(self) -> re.Pattern[str]:
        """A number of things, not the number of one."""
        return self._compiled(rf"(?<![a-z0-9_.,#]){_NO_NUMBER_OF}{_AMOUNT}(?![a-z0-9]| ?{{UNIT}}(?![a-z]))")

    @cached_property
    def move(self) -> re.Pattern[str]:
        """From an amount to another."""
        return self._compiled(rf"{_BEGINS}[$€£]?{_MEASURED} ?{{TO}} ?[$€£]?{_MEASURED}{_ENDS}")

    @cached_property
    def was(self) -> re.Pattern[str]:
        """An amount and what it was before: "takes 50 minutes now, it was 5"."""
        between = rf"(?: {{NOW}})?[,，、 ]{{1,2}}(?:{self.before}) ?(?:only |nur |solo )?"
        return self._compiled(f"{_BEGINS}{_MEASURED}{between}{_MEASURED}{_ENDS}")

    @cached_property
    def times_of(self) -> dict[float, re.Pattern[str]]:
        """The spellings of each unit of time, by its seconds."""
        return {seconds: self._compiled(f"{{{name}}}") for name, seconds in _SECONDS.items()}

    @cached_property
    def share(self) -> re.Pattern[str]:
        """So many of so many."""
        of = r"(?: [a-z-]{1,12}){0,2} ?(?:of|von|de|sur|dari|/)(?: the| los| os)? ?"
        return self._compiled(rf"{_BEGINS}{_AMOUNT}{of}{_AMOUNT}{_ENDS}")

    @cached_property
    def numbers(self) -> dict[str, int]:
        """What the words of numbers mean."""
        return {word: number for number, words in enumerate(self.numerals, 1) for word in words}

    @cached_property
    def provided(self) -> re.Pattern[str]:
        """So many of what each needs one of, for so many: "3 licences for 9 people"."""
        count = rf"(?<![a-z0-9.,])([0-9]{{1,5}}|{'|'.join(self.numbers)})"
        many = "(?:our |the |unsere |los |las |les |nos |os |as )?"
        use = "(?:for|fur|para|pour|untuk|used by|genutzt von|dipakai|usad[oa]s por|utilises par)"
        return self._compiled(
            rf"{count} (?:[a-z]{{1,20}} ){{0,2}}?(?:{self.shared}) {use} {many}{count}"
            rf"(?![a-z0-9.,:%]| ?(?:{self.no_users})(?![a-z]))"
            rf"|{count}(?:个|张|台|份|把|つの|個の|台の)?[^，。、0-9]{{1,8}}?(?:给|供|を){count}(?:个|名|位)?人"
        )

    @cached_property
    def share_behind(self) -> re.Pattern[str]:
        """Of so many so many, as Chinese and Japanese have it."""
        return self._compiled(rf"{_AMOUNT}[^0-9。，,、]{{1,12}}?(?:のうち|已经?用了?|用了|中){_AMOUNT}")


@cache
def _measures() -> _Measures:
    return read_table(__file__, "alarm_measures.yml", _Measures)


def without_improvements(said: str) -> str:
    """Return a prepared remark without its comparisons to the better, whose words are those of a rise.

    >>> without_improvements("search is twice as fast as before")
    'search is   as before'
    """
    return _measures().improvement.sub(" ", said)


def measures_trouble(said: str) -> bool:
    """Whether a prepared remark (lower case, no accents) measures trouble.

    >>> measures_trouble("the mail queue has 40,000 waiting"), measures_trouble("the mail queue has 3 waiting")
    (True, False)
    >>> measures_trouble("p95 went from 200 ms to 1.8 s"), measures_trouble("p95 went from 1.8 s to 200 ms")
    (True, False)
    >>> measures_trouble("latency went from 50 seconds to 2 minutes"), measures_trouble("load time: 2 min to 50 sec")
    (True, False)
    >>> measures_trouble("バッチの時間は90秒から2時間"), measures_trouble("バッチの時間は2時間から90秒")
    (True, False)
    >>> measures_trouble("takes 2 hours now, it was 50 minutes"), measures_trouble("takes 50 min now, it was 2 hours")
    (True, False)
    """
    parts = _PART_END.split(said)
    if not _says(said, "usual") and any(_many_wait(part) or _is_multiple(part) for part in parts):
        return True
    return _takes_longer(said) or any(
        _got_worse(part) or _is_used_up(part) or _is_too_few(part) or _ends_soon(part) or _is_old(part)
        for part in parts
    )


def _says(part: str, kind: str) -> bool:
    """Whether a part holds a word of the list of that name."""
    return _measures().words[kind].search(part) is not None


def _many_wait(part: str) -> bool:
    return _says(part, "waiting") and any(
        _amount(found[1], found[2]) >= WAITING_AT_LEAST for found in _measures().number.finditer(part)
    )


def _is_multiple(part: str) -> bool:
    return _says(part, "times") and _says(part, "compared")


def _got_worse(part: str) -> bool:
    """Whether a measure moved to the worse: "from 200 ms to 1.8 s"."""
    for before, after, _ in _pairs(_measures().move, part):
        rose, fell = after > WORSE_BY * before, before > WORSE_BY * after
        if (rose and _says(part, "high")) or (fell and _says(part, "low")):
            return True
    return False


def _takes_longer(said: str) -> bool:
    """Whether what lasts so long lasted less before."""
    return any(is_time and now > WORSE_BY * before for now, before, is_time in _pairs(_measures().was, said))


def _pairs(pattern: re.Pattern[str], said: str) -> Iterator[tuple[float, float, bool]]:
    """Yield two amounts of one kind in the same unit, and whether they are times.

    An amount without a unit has that of the other.
    """
    for found in pattern.finditer(said):
        (first, kind), (second, other) = (_scale(found[at] or found[9 - at]) for at in (3, 6))
        if kind == other:
            yield _amount(found[1], found[2]) * first, _amount(found[4], found[5]) * second, kind == "time"


def _scale(unit: str) -> tuple[float, str]:
    """Return how much of the smallest unit of its kind one is, and the kind.

    >>> [_scale(unit)[0] for unit in ("ms", "seconds", "minuten", "jam", "時間", "gb", "%", "")]
    [0.001, 1.0, 60.0, 3600.0, 3600.0, 1000000.0, 1.0, 1.0]
    """
    for seconds, spellings in _measures().times_of.items():
        if spellings.fullmatch(unit):
            return seconds, "time"
    if unit.endswith("b"):
        return _KILOBYTES[unit[0]], "size"
    return 1.0, unit


def _is_used_up(part: str) -> bool:
    """Whether nearly all of a limit is used: "9,800 of 10,000 calls"."""
    if not _says(part, "used"):
        return False
    of = _measures()
    shares = [(_amount(found[1], found[2]), _amount(found[3], found[4])) for found in of.share.finditer(part)]
    shares += [(_amount(found[3], found[4]), _amount(found[1], found[2])) for found in of.share_behind.finditer(part)]
    return any(FULL_FROM * limit <= used <= limit and limit >= LIMIT_AT_LEAST for used, limit in shares)


def _is_too_few(part: str) -> bool:
    """Whether more need one than there are."""
    numbers = _measures().numbers
    for found in _measures().provided.finditer(part):
        there, needed = (numbers.get(each) or int(each) for each in found.groups() if each)
        if there < needed:
            return True
    return False


def _ends_soon(part: str) -> bool:
    """Whether a certificate or a licence holds for a few days only."""
    return _says(part, "leased") and _says(part, "soon") and not _says(part, "kept")


def _is_old(part: str) -> bool:
    """Whether a backup or another copy is of a month gone by."""
    return _says(part, "copies") and _says(part, "bygone") and not _says(part, "kept")


def _amount(digits: str, many: str) -> float:
    """Return a number as people write it: "40,000", "1.8", "40 mil"."""
    grouped = re.fullmatch(_GROUPED, digits)
    number = float(re.sub(r"\D", "", digits) if grouped else digits.replace(",", "."))
    return number * (_FACTORS.get(many, _MILLION) if many else 1)
