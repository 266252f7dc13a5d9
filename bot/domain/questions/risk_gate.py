"""Finds advice that breaks things when it is wrong: code changes, rollbacks, deletions, one customer's affairs.

Pure, English; the words stand in risk_gate.yml. To explain that a job deletes rows is no risk; to tell somebody to
delete them is. So a risky word counts only in a sentence that advises, and a dangerous command only where it is not a
quotation of the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from bot.domain.questions.draft_tone import CODE, own_sentences, without_quotes
from bot.domain.tables import Alternatives, Parts, fill, read_table


class _Lists(NamedTuple):
    parts: Parts
    advises: Alternatives
    imperative: str
    remedy: str
    risks: dict[str, Alternatives]
    commands: dict[str, Alternatives]


_LISTS: Final = read_table(__file__, "risk_gate.yml", _Lists)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fill(pattern, {"CODE": CODE, **_LISTS.parts}), re.IGNORECASE)


_ADVISES: Final = _compiled(rf"\b(?:{_LISTS.advises})\b")
_IMPERATIVE: Final = _compiled(_LISTS.imperative)
_REMEDY: Final = _compiled(_LISTS.remedy)
_PATTERNS: Final = {kind: _compiled(pattern) for kind, pattern in _LISTS.risks.items()}
_COMMAND_PATTERNS: Final = {kind: re.compile(pattern) for kind, pattern in _LISTS.commands.items()}
_CLAUSE: Final = re.compile(r"[,;:—–]\s+|\bthen\s+")
_CODE_SEGMENT: Final = re.compile(r"^```.*?(?:^```|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def risky_advice(draft: str, quotes: Iterable[str] = ()) -> list[str]:
    """Return what in a draft needs high confidence, each as `kind: “words”`; `quotes` are the evidence's own words.

    >>> risky_advice("The job deletes old rows."), risky_advice("Roll back the deploy.")
    ([], ['rollback: “Roll back the deploy”'])
    """
    quotes = list(quotes)
    said = [text for text in own_sentences(draft, quotes) if _advises(text)]
    found = [(kind, text) for text in said for kind, pattern in _PATTERNS.items() if pattern.search(text)]
    for segment in _unquoted_code(draft, quotes):
        found += [(kind, match[0]) for kind, pattern in _COMMAND_PATTERNS.items() if (match := pattern.search(segment))]
    return list(dict.fromkeys(f"{kind}: “{' '.join(text.split())[:80]}”" for kind, text in found))


def _advises(sentence: str) -> bool:
    """Whether a sentence tells somebody to do something."""
    return bool(_ADVISES.search(sentence)) or any(
        _IMPERATIVE.match(clause) or _REMEDY.match(clause) for clause in _CLAUSE.split(sentence)
    )


def _unquoted_code(draft: str, quotes: Iterable[str]) -> list[str]:
    """Return the pieces of code in a draft that no citation vouches for."""
    known = [" ".join(quote.split()) for quote in quotes]
    segments = [match[0] for match in _CODE_SEGMENT.finditer(without_quotes(draft, quotes))]
    bare = [(segment, " ".join(re.sub(r"^```\w*|`", "", segment).split())) for segment in segments]
    return [segment for segment, words in bare if not any(words in quote for quote in known)]
