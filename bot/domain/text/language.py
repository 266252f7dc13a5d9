"""Whether a text is in the language it is said to be in.

Pure. First by script (a Chinese text has no kana), then, for languages in Latin letters, by their commonest small
words. A text too short or too mixed to tell is neither right nor wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

_SCRIPTS: Final = {
    "kana": r"[\u3040-\u30ff]",
    "han": r"[\u3400-\u4dbf\u4e00-\u9fff]",
    "hangul": r"[\uac00-\ud7af]",
    "cyrillic": r"[\u0400-\u04ff]",
    "greek": r"[\u0370-\u03ff]",
    "hebrew": r"[\u0590-\u05ff]",
    "arabic": r"[\u0600-\u06ff]",
    "devanagari": r"[\u0900-\u097f]",
    "thai": r"[\u0e00-\u0e7f]",
    "latin": r"[A-Za-z\u00c0-\u024f]",
}
_SCRIPTS_OF: Final = {
    "ja": {"kana", "han"},
    "zh": {"han"},
    "ko": {"hangul", "han"},
    "el": {"greek"},
    "he": {"hebrew"},
    "ar": {"arabic"},
    "fa": {"arabic"},
    "hi": {"devanagari"},
    "th": {"thai"},
    "ru": {"cyrillic"},
    "uk": {"cyrillic"},
    "bg": {"cyrillic"},
    "sr": {"cyrillic", "latin"},
}
_SMALL_WORDS: Final = {
    "en": "the and is are of to in it that this with for not be on as from by which when if then there has have was",
    "es": "el la los las y es son del que una con para no se por como pero está cuando si hay esta este más lo",
    "pt": "o os as e é são do da dos das que uma com para não se por como mas está quando há este mais também em",
    "de": "der die das und ist sind von zu im es dass mit für nicht auf als wenn dann ein eine den dem wird auch bei",
    "fr": "le la les et est sont de du des que une avec pour ne pas se par comme mais dans quand cette ce plus aussi",
    "id": "yang dan di ke dari ini itu dengan untuk tidak pada adalah akan oleh atau jika juga ada dalam bisa saat",
}
_SETS: Final = {code: frozenset(words.split()) for code, words in _SMALL_WORDS.items()}
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
    counts = {name: len(re.findall(pattern, text)) for name, pattern in _SCRIPTS.items()}
    unspaced = counts["kana"] + counts["han"] + counts["hangul"]
    if sum(counts.values()) + 2 * unspaced < _MIN_LETTERS:
        return None
    expected = _SCRIPTS_OF.get(code, {"latin"})
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
    hits = {name: sum(words[word] for word in small) for name, small in _SETS.items()}
    best = max(hits.values())
    if code not in hits or best < _MIN_SMALL_WORDS:
        return None
    if hits[code] == best:
        return True
    return False if best >= 2 * hits[code] + 2 else None
