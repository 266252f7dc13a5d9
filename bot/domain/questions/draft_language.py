"""In which language a draft is, and how it sounds: sure of itself, doubtful, or like a machine. Pure.

The words of the eight languages the bot answers in stand in draft_tone.yml. Only the draft's own sentences are judged:
code and quotations are somebody else's words. A language is told by script first (a Chinese text has no kana), then, in
Latin letters, by its commonest small words. A text too short or too mixed to tell is neither right nor wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from bot.domain.tables import Pattern, WordSet, read_table

CODE: Final = "‹code›"
"""Stands for a piece of inline code in `own_sentences`."""

_MIN_REPEATED_CHARS: Final = 12

_MIN_LETTERS: Final = 12
_MIN_SMALL_WORDS: Final = 4

_UNSPACED: Final = frozenset({"ja", "zh"})
_NEGATED: Final = (
    r"(?<!not )(?<!n't )(?<!never )(?<!no )(?<!cannot )(?<!nicht )(?<!keine )(?<!no está )(?<!no se )(?<!não )"
    r"(?<!não é )(?<!no es )(?<!pas )(?<!tidak )(?<!belum )(?<!bukan )(?<!tidak bisa )"
    r"(?<!不能)(?<!不)(?<!没有)(?<!无法)(?<!并不)"
)

_SENTENCE_END: Final = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?]{1,40}(?=\s|$)|[。！？]+|\n+")
_BLOCK: Final = re.compile(r"^(```|~~~).*?(?:^\1[^\n]*|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED_LINE: Final = re.compile(r"^ {0,3}>.*$", re.MULTILINE)
_INLINE: Final = re.compile(r"(?<!`)(`++)[^\n]*?(?<!`)\1(?!`)")


class _LanguageTable(NamedTuple):
    scripts: dict[str, Pattern]
    scripts_of: dict[str, WordSet]
    small_words: dict[str, WordSet]


_LISTS: Final = read_table(__file__, "language.yml", _LanguageTable)


class _DraftToneTable(NamedTuple):
    certain: dict[str, list[str]]
    doubtful: dict[str, list[str]]
    smells: dict[str, list[str]]


TONE_LISTS: Final = read_table(__file__, "draft_tone.yml", _DraftToneTable)
"""The words of each kind by language."""


def _of(words: dict[str, list[str]], *, whole: bool) -> str:
    """Return the alternatives of the languages with blanks between words, or of those without."""
    return "|".join(word for code, each in words.items() if (code not in _UNSPACED) is whole for word in each)


def _tone(words: dict[str, list[str]], before: str = "") -> re.Pattern[str]:
    spaced, unspaced = _of(words, whole=True), _of(words, whole=False)
    return re.compile(rf"{before}(?:(?<!\w)(?:{spaced})(?!\w)|(?:{unspaced}))", re.IGNORECASE)


_SURE: Final = _tone(TONE_LISTS.certain, _NEGATED)
_UNSURE: Final = _tone(TONE_LISTS.doubtful)
_SMELL: Final = re.compile(
    rf"(?<!\w)(?:{_of(TONE_LISTS.smells, whole=True)})|(?:{_of(TONE_LISTS.smells, whole=False)})",
    re.IGNORECASE | re.MULTILINE,
)


def own_sentences(draft: str, quotes: Iterable[str] = ()) -> list[str]:
    """Return the draft's sentences without code blocks, quoted lines and evidence; inline code becomes `CODE`.

    >>> own_sentences("It is `x = 1`. See e.g. below.\\n> said somebody")
    ['It is ‹code›', 'See e.g. below']
    """
    text = without_quotes(draft, quotes).replace("’", "'")
    text = _INLINE.sub(CODE, _QUOTED_LINE.sub("", _BLOCK.sub("\n", text)))
    return sentences(text)


def without_quotes(draft: str, quotes: Iterable[str]) -> str:
    """Return a draft without the evidence it repeats word for word; a quote of a word or two stays."""
    for quote in sorted(map(str.strip, quotes), key=len, reverse=True):
        draft = draft.replace(quote, " ") if len(quote) >= _MIN_REPEATED_CHARS else draft
    return draft


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


def _found(pattern: re.Pattern[str], said: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(match[0].strip() for text in said for match in pattern.finditer(text)))


def is_in_language(text: str, language: str) -> bool | None:
    """Return whether `text` (prose, no code) is in `language` ("en", "pt-BR"); None where that cannot be told.

    >>> is_in_language("The queue is read by the worker, and it is safe.", "en"), is_in_language("ok", "en")
    (True, None)
    >>> is_in_language("Die Warteschlange wird von dem Worker gelesen und ist sicher, auch bei Fehlern.", "en")
    False
    """
    code = primary(language)
    counts = {name: len(script.findall(text)) for name, script in _LISTS.scripts.items()}
    unspaced = counts["kana"] + counts["han"] + counts["hangul"]
    if sum(counts.values()) + 2 * unspaced < _MIN_LETTERS:
        return None
    expected = _LISTS.scripts_of.get(code, {"latin"})
    share = sum(counts[name] for name in expected) / sum(counts.values())
    if code == "zh" and counts["kana"] > counts["han"] / 10:
        return False
    if "latin" not in expected:
        return None if code == "ja" and counts["han"] and not counts["kana"] else _by_share(share)
    return _by_small_words(text, code) if share > 0.5 else False


def primary(language: str) -> str:
    """Return the primary subtag of a language tag.

    >>> primary("pt-BR"), primary("EN_us")
    ('pt', 'en')
    """
    return re.split(r"[-_]", language.strip().lower())[0]


def _by_share(share: float) -> bool | None:
    """Names and code words in Latin letters are common in any technical text, so a third is enough."""
    return True if share >= 1 / 3 else False if share < 0.1 else None


def _by_small_words(text: str, code: str) -> bool | None:
    words = Counter(re.findall(r"[a-z\u00df-\u024f]+", text.lower()))
    hits = {name: sum(words[word] for word in small) for name, small in _LISTS.small_words.items()}
    best = max(hits.values())
    if code not in hits or best < _MIN_SMALL_WORDS:
        return None
    if hits[code] == best:
        return True
    return False if best >= 2 * hits[code] + 2 else None
