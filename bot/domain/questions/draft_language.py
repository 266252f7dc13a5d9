"""How a draft sounds: its sentences, sure of itself, doubtful, or like a machine. Pure.

Only the draft's own sentences are judged: code and quotations are somebody else's words. The words are English and
stand in draft_tone.yml; what else a draft sounds like, and whether it is in the right language, both models say in
fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from bot.domain.tables import Alternatives, read_table

CODE: Final = "‹code›"
"""Stands for a piece of inline code in `own_sentences`."""

CODE_SEGMENT: Final = re.compile(
    r"^[ \t]{0,12}(?:```|~~~)[\s\S]*?(?:^[ \t]{0,12}(?:```|~~~)[^\n]*|\Z)|`[^`\n]+`", re.MULTILINE
)
"""A fenced block or a span of code, with its marks."""

_SENTENCE_END: Final = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?]{1,40}(?=\s|$)|[。！？]+|\n+")
_BLOCK: Final = re.compile(r"^(```|~~~).*?(?:^\1[^\n]*|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED_LINE: Final = re.compile(r"^ {0,3}>.*$", re.MULTILINE)
_INLINE: Final = re.compile(r"(?<!`)(`++)[^\n]*?(?<!`)\1(?!`)")
_NEGATED: Final = r"(?<!not )(?<!n't )(?<!never )(?<!no )(?<!cannot )"


class _ToneTable(NamedTuple):
    certain: Alternatives
    doubtful: Alternatives
    smells: Alternatives


_TONE: Final = read_table(__file__, "draft_tone.yml", _ToneTable)
_SURE: Final = re.compile(rf"{_NEGATED}(?<!\w)(?:{_TONE.certain})(?!\w)", re.IGNORECASE)
_UNSURE: Final = re.compile(rf"(?<!\w)(?:{_TONE.doubtful})(?!\w)", re.IGNORECASE)
_SMELL: Final = re.compile(rf"(?<!\w)(?:{_TONE.smells})", re.IGNORECASE | re.MULTILINE)


def own_sentences(draft: str) -> list[str]:
    """Return the draft's sentences without code blocks and quoted lines; inline code becomes `CODE`.

    >>> own_sentences("It is `x = 1`. See e.g. below.\\n> said somebody")
    ['It is ‹code›', 'See e.g. below']
    """
    text = _BLOCK.sub("\n", draft.replace("’", "'"))
    return sentences(_INLINE.sub(CODE, _QUOTED_LINE.sub("", text)))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without their end marks; a line end ends a sentence too.

    >>> sentences("One, v1.2 of it. Two!")
    ['One, v1.2 of it', 'Two']
    """
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip(" \t*_-•.")]


def word_count(text: str) -> int:
    """Return how many words a text has; two characters of an unspaced script count as one.

    >>> word_count("three short words"), word_count("検索する")
    (3, 2)
    """
    unspaced = len(re.findall(r"[\u3040-\u30ff\u3400-\u9fff]", text))
    spaced = re.sub(r"[\u3040-\u30ff\u3400-\u9fff]+", " ", text).split() if unspaced else text.split()
    return len(spaced) + (unspaced + 1) // 2


def overclaims(said: Iterable[str]) -> list[str]:
    """Return the words of certainty in some sentences, negated ones aside.

    >>> overclaims(["This is definitely it", "order is not guaranteed"])
    ['definitely']
    """
    return _found(_SURE, said)


def hedges(said: Iterable[str]) -> list[str]:
    """Return the words of doubt in some sentences."""
    return _found(_UNSURE, said)


def tone_faults(said: Iterable[str]) -> list[str]:
    """Return what smells of a machine: stock phrases, and two doubts in one sentence.

    >>> tone_faults(["Great question", "It might possibly work"])
    ['“Great question”', 'hedged twice: “It might possibly work”']
    """
    said = list(said)
    stacked = [sentence for sentence in said if len(_UNSURE.findall(sentence)) > 1]
    return [f"“{phrase}”" for phrase in _found(_SMELL, said)] + [f"hedged twice: “{text[:80]}”" for text in stacked]


def primary(language: str) -> str:
    """Return the primary subtag of a language tag.

    >>> primary("pt-BR"), primary("EN_us")
    ('pt', 'en')
    """
    return re.split(r"[-_]", language.strip().lower())[0]


def _found(pattern: re.Pattern[str], said: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(match[0].strip() for text in said for match in pattern.finditer(text)))
