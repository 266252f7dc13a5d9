"""Whether a text is in the language it is said to be in.

Pure. First by script (a Chinese text has no kana), then, for languages in Latin letters, by their commonest small
words. A text too short or too mixed to tell is neither right nor wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from bot.domain.tables import Pattern, WordSet, read_table


class _LanguageTable(NamedTuple):
    scripts: dict[str, Pattern]
    scripts_of: dict[str, WordSet]
    small_words: dict[str, WordSet]


_LISTS: Final = read_table(__file__, "language.yml", _LanguageTable)
_MIN_LETTERS: Final = 12
_MIN_SMALL_WORDS: Final = 4


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
