"""Language packs: the few phrases of eight languages that rules read, one YAML file a language, and what finds them.

Entries are lower-case patterns in RE2's syntax: `thanks`, `acks` and `smalltalk` make a whole message; `questions` and
`alarms` count where a clause starts, perhaps behind some `openers`; `greetings` stand before a name. `{SERVICE}` and
`{STATE}` in an alarm stand for any entry of `services` and `states`. `numbers` are the words for 0 to 12, left empty
where the word is an article too. A test holds a pack to 60 entries of 70 characters, beside its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple, get_args

from bot.domain.table_files import fill, load_table
from bot.domain.text.linear_patterns import LinearPattern

Language = Literal["en", "es", "pt", "de", "fr", "id", "ja", "zh"]
"""A language with a pack."""

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

_UNSPACED: Final = "\u2e80"  # from here on characters of scripts that put no blanks between words
_EDGE: Final = r"(?:^|$|[^[:word:]\x80-\x{10ffff}]|[。！？、，；：…（）¿¡])"
_CLAUSE_START: Final = r"(?:^|[\n.!?,;:()…¿¡—。！？、，；：（）]|\s[-–]+\s)[\s*_~]*"
_NOTHING: Final = r"[^\x00-\x{10ffff}]"
_NO_NUMBER: Final = r"\s*(?:$|[^\s0-9])"
"""An alarm tells of a state, not of a measure: "payments are down 5%" is none."""


class Pack(NamedTuple):
    """The entries of one language, see above."""

    greetings: Sequence[str]
    openers: Sequence[str]
    thanks: Sequence[str]
    acks: Sequence[str]
    questions: Sequence[str]
    smalltalk: Sequence[str]
    services: Sequence[str]
    states: Sequence[str]
    alarms: Sequence[str]
    numbers: Sequence[str]


@cache
def pack(language: str) -> Pack:
    """Return the pack of one of LANGUAGES."""
    return Pack(**load_table(__file__, f"{language}.yml"))


def entries(kind: str, languages: Iterable[str]) -> list[str]:
    """Return the entries of a kind in some languages.

    >>> entries("greetings", ["en", "zh"])[:3]
    ['hey|hi|hello|yo', '(?:good )?morning', '你好']
    """
    return [entry for language in languages for entry in getattr(pack(language), kind)]


def either(patterns: Iterable[str]) -> str:
    r"""Return a pattern for any of some; for none where there are none.

    >>> either(["a", "b+"]), either([])
    ('(?:a|b+)', '(?:[^\\x00-\\x{10ffff}])')
    """
    return f"(?:{'|'.join(patterns) or _NOTHING})"


def whole_words(pattern: str) -> str:
    """Return a pattern that does not begin or end inside a word, in scripts that have blanks between words."""
    return pattern if _is_unspaced(pattern) else f"{_EDGE}(?:{pattern}){_EDGE}"


def at_clause_start(patterns: Iterable[str], languages: Sequence[str], ending: str = "") -> str:
    """Return a pattern for some where a clause starts, so that "if prod is down" holds no "prod is down".

    >>> LinearPattern(at_clause_start(["any idea"], ["en"])).is_in("hey team, any idea?")
    True
    """
    ended = [f"(?:{each}){'' if _is_unspaced(each) else _EDGE}{ending}" for each in patterns]
    opening = either([*entries("greetings", languages), *entries("openers", languages)])
    return rf"{_CLAUSE_START}(?:{opening}[\s,:、，]*){{0,3}}{either(ended)}"


def _is_unspaced(pattern: str) -> bool:
    return max(pattern, default="") >= _UNSPACED


def alarm_pattern(languages: Sequence[str]) -> str:
    """Return a pattern for the alarms of some languages, for lower-case text."""
    filled = [
        fill(entry, {"SERVICE": either(words.services), "STATE": either(words.states)})
        for words in map(pack, languages)
        for entry in words.alarms
    ]
    return at_clause_start(filled, languages, _NO_NUMBER)


_ALARMS: Final = LinearPattern(alarm_pattern(LANGUAGES))


def tells_of_alarm(text: str) -> bool:
    """Whether a text says, in any language, that something people depend on has failed.

    >>> tells_of_alarm("Hey all, checkout is DOWN"), tells_of_alarm("If checkout is down, call us.")
    (True, False)
    """
    return _ALARMS.is_in(text.lower())
