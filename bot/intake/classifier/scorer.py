"""The learned part of Tier 0: how likely a message wants an answer, from the weights of its n-grams.

A message counts as its word n-grams, beginnings of words and its length: code, quoted lines, links and mentions become
one placeholder each, numbers `0`; in scripts written without spaces every character is a word. The weights of its
n-grams are added, divided by the square root of their number, and turned into a probability. Reads weights.json beside
this file; pure but for that, so the same text gives the same number on every machine.

Extracts the writer's own words from a message: without code, quoted lines, links, mentions and channels.

Pure functions over Slack's mrkdwn. Every pattern is linear, also on 40,000 hostile characters.
Source: Slack escapes & < > as entities and writes <@U1>, <#C1|name>, <!here>, <https://…|label>.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from bot.domain.text.linear_patterns import LinearPattern

# Blocks that hold all of Unicode's Extended_Pictographic, plus flags; over-wide only where no letter or digit lives.
_EMOJI: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff\U0001fc00-\U0001fffd"
)
MARKS: Final = "?？؟\u037e⁇⁈‽"
PICTURE: Final = rf"(?:[{_EMOJI}]|[0-9#*]\x{{20e3}}|:[^\s:]{{1,100}}:|[:;=][-']?[()DdPp3/|]|<3)"
"""An emoji, a shortcode or a smiley, for RE2 too."""

GAP: Final = rf"(?:[\s,.!~…、。！，;:&()/*_`}}\]」』】）》>\"'“”‘’«»‹›-]|{PICTURE})"
"""A character or picture that may stand around words that make a whole message, or behind a question mark; for RE2."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]+"
)
_NOISE = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)"
    r"|(?P<quote>^[ \t]*+(?:(?:>|&gt;){3}.*|(?:>|&gt;)[^\n]*))"
    r"|(?P<at><(?:@(?P<user>[UW][A-Z0-9]+)(?:\|[^<>\n]*)?|[@#!][^<>\n]*)>)"
    r"|(?P<link><[a-zA-Z][a-zA-Z0-9+.-]{0,20}:[^<>\n]*>|[a-zA-Z]{2,12}://[^\s<>\u3000-\u9fff\uff00-\uffef]+)",
    re.DOTALL | re.MULTILINE,
)
_PLAIN: Final = str.maketrans({"’": "'", "\u00a0": " ", "\u3000": " "})
_BLANKS = re.compile(r"[^\S\n]+")
_NAMES = re.compile(r"<[@#!][^<>\n]*>")
_CHANNEL = re.compile(r"<#\w+(?:\|([^<>|\n]*))?>")
_TECHNICAL = re.compile(r"[`<>{}=\\/_@]|\w[.:]\w|[a-z][A-Z]|\w\(|--\w")
_ONLY_PICTURES = LinearPattern(rf"^(?:\s|{PICTURE})+$")


def visible_text(content: str) -> str:
    """Return the content without zero-width characters and skin tones, with plain apostrophes and blanks.

    >>> visible_text("how\u200b do I, it’s")
    "how do I, it's"
    """
    if content.isascii():
        return content
    return _INVISIBLE.sub("", content).translate(_PLAIN)


def own_words(text: str, *, is_marked: bool = False) -> str:
    """Return visible text, lower-cased, without code, quoted lines, links and mentions; runs of blanks are one.

    `is_marked`: with `<code>`, `<quote>`, `<link>` or `<at>` in place of each.

    >>> own_words("Why <@U1>? See <https://x.io/?a|docs> or `f?`")
    'why ? see or '
    >>> own_words("Why <@U1>? See https://x.io/?a or `f?`", is_marked=True)
    'why <at> ? see <link> or <code> '
    """
    if "<" in text or "`" in text or "&" in text or ">" in text or "://" in text:
        text = unescape(_NOISE.sub(_mark if is_marked else " ", text))
    return _BLANKS.sub(" ", text).lower()


def _mark(noise: re.Match[str]) -> str:
    return f" <{noise.lastgroup}> "


def mentioned_ids(text: str) -> tuple[str, ...]:
    """Return the people whom a text mentions in its writer's own words, each once.

    >>> mentioned_ids("<@U1> and <@U1|ann>\\n> Ann: <@U2> see `<@U3>`")
    ('U1',)
    """
    return tuple(dict.fromkeys(noise["user"] for noise in _NOISE.finditer(text) if noise["user"]))


def unescape(text: str) -> str:
    """Undo Slack's three escapes, `&amp;` last."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def without_names(text: str) -> str:
    """Return the text with mentions of people, groups and channels blanked out, unescaped and trimmed."""
    return unescape(_NAMES.sub(" ", text)).strip()


def chatted(content: str) -> str | None:
    """Return content in small letters, channels named; None if it holds code, a link, a path, an identifier or a name.

    >>> chatted("who broke `main`?"), chatted("is app.py ok?"), chatted("Rename <#C1|random>?")
    (None, None, 'rename #random?')
    """
    said = _CHANNEL.sub(r"#\1", content)
    return None if _TECHNICAL.search(said) else said.lower()


def is_only_emoji(text: str) -> bool:
    """Tell whether trimmed text is nothing but emoji, shortcodes and smileys.

    >>> is_only_emoji(":+1::skin-tone-2: 🎉"), is_only_emoji("ok 🎉"), is_only_emoji("")
    (True, False, False)
    """
    return _ONLY_PICTURES.is_in(text)


MAX_WORDS: Final = 240
_TAIL_WORDS: Final = 80
_STEM_CHARS: Final = 4
_LENGTHS: Final = (3, 6, 10, 15, 25, 40, 70)
_LONGER_THAN: Final = [[f">{least}" for least in _LENGTHS if length > least] for length in range(_LENGTHS[-1] + 2)]

_UNSPACED_END: Final = "\ud7af"
_UNSPACED: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_MARKS: Final = {**dict.fromkeys(MARKS, "?"), "!": "!", "！": "!"}
# A character of a script without blanks, letters with no digit behind them, then runs in which there is one.
_LETTER: Final = rf"[^\W\d_{_UNSPACED}]"
_WORD = re.compile(
    rf"[{_UNSPACED}]|{_LETTER}++(?:'{_LETTER}++(?!\d))?(?!\d)|[^\W_{_UNSPACED}]++"
    rf"|<[a-z]+>|[{re.escape(MARKS)}]+|[!！]+|[^\w\s]"
)
_ASCII_WORD = re.compile(r"[a-z]++(?:'[a-z]++(?![0-9]))?(?![0-9])|[a-z0-9]++|<[a-z]+>|\?+|!+|[^\w\s]")
_SIGNS: Final = frozenset(".,:;-/()'\"")  # most of what is no word; one of them stands for itself
_AT = re.compile(r"(?<!\w)@[\w-]+")

SHIPPED: Final = Path(__file__).with_name("weights.json")
WHY_COUNT: Final = 5
_ENDS: Final = ("^", "$")


def features(words: Sequence[str]) -> set[str]:
    """Return the n-grams of a message, of one to three words.

    `^` and `$` stand for its ends, `work*` for a word that begins so, `>6` for a message of more than six words.

    >>> sorted(features(["does", "<code>", "work", "?"]))[:6]
    ['$', '<code>', '<code> work', '<code> work ?', '>3', '?']
    """
    text = ["^", *words, "$"]
    seconds = text[1:]
    found = {*text, *_LONGER_THAN[min(_length(words), _LENGTHS[-1] + 1)]}
    found.update(map(" ".join, zip(text, seconds, strict=False)))
    found.update(map(" ".join, zip(text, seconds, text[2:], strict=False)))
    found.update([word[:_STEM_CHARS] + "*" for word in words if len(word) > _STEM_CHARS and word[0] != "<"])
    return found


def _length(words: Sequence[str]) -> int:
    """Return how many words these are; two characters of a script without blanks are one."""
    if "".join(words).isascii():
        return len(words)
    return len(words) - sum([_UNSPACED[0] <= word <= _UNSPACED_END for word in words]) // 2


def words_of(content: str) -> list[str]:
    """Return the words of visible text in small letters, with placeholders for what is not its writer's.

    >>> words_of("<@U1> Does `f()` work 100%??")
    ['<at>', 'does', '<code>', 'work', '0', '%', '?']
    """
    text = _AT.sub(" <at> ", own_words(content, is_marked=True))
    pattern = _ASCII_WORD if text.isascii() else _WORD  # the same in a third of the time
    words = [word if word.isalpha() or word in _SIGNS else _named(word) for word in pattern.findall(text)]
    return words if len(words) <= MAX_WORDS else [*words[: MAX_WORDS - _TAIL_WORDS], *words[-_TAIL_WORDS:]]


def _named(word: str) -> str:
    """Return `0` for a number, `<id>` for digits among letters, one mark for many, any other word as it is."""
    if not word.isalnum():
        return _MARKS.get(word[0], word)
    if word.isdecimal():
        return "0"
    if any(map(str.isdecimal, word)):
        return "<id>"
    return "0" if word.isdigit() else word


@dataclass(frozen=True, slots=True)
class Contribution:
    """An n-gram of a message and what it adds to the score; above 0 it speaks for a question.

    >>> str(Contribution("not able", 0.412))
    '“not able” +0.41'
    """

    ngram: str
    weight: float

    def __str__(self) -> str:
        return f"“{self.ngram}” {self.weight:+.2f}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Weights:
    """A trained model.

    Attributes:
        threshold: the probability from which on a message counts as a question.
        bias: what is added to every score.
        table: the weight of each n-gram; one that is absent weighs nothing.
    """

    threshold: float
    bias: float
    table: Mapping[str, float]

    @cached_property
    def version(self) -> str:
        """What names these weights: a model has the same version before it is written and once it is read again."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:8]

    def probability(self, ngrams: Set[str]) -> float:
        """Return how likely a message of these n-grams wants an answer.

        >>> Weights(threshold=0.5, bias=0.0, table={"help": 2.0}).probability(frozenset(["help"]))
        0.8807970779778823
        """
        # math.fsum does not depend on the order of a set, which differs from run to run.
        total = math.fsum([*filter(None, map(self.table.get, ngrams))])
        return sigmoid(self.bias + total / math.sqrt(len(ngrams) or 1))

    def why(self, ngrams: Set[str], count: int = WHY_COUNT) -> list[Contribution]:
        """Return the n-grams that move the score most, the weightiest first; the ends, which all have, left out."""
        scale = 1 / math.sqrt(len(ngrams) or 1)
        known = [ngram for ngram in ngrams if ngram in self.table and ngram not in _ENDS]
        found = [Contribution(ngram, round(self.table[ngram] * scale, 3)) for ngram in known]
        return sorted(found, key=lambda each: (-abs(each.weight), each.ngram))[:count]

    def to_json(self) -> str:
        """Return the model as a file, the same for the same model."""
        fields = {"threshold": self.threshold, "bias": self.bias, "weights": dict(sorted(self.table.items()))}
        return (
            json.dumps(fields, ensure_ascii=False, separators=(",", ":")).replace(',"weights"', ',\n"weights"') + "\n"
        )


def sigmoid(score: float) -> float:
    """Return a score as a probability.

    >>> sigmoid(0.0), sigmoid(-1000.0)
    (0.5, 0.0)
    """
    return 1 / (1 + math.exp(-score)) if score > -700 else 0.0


def read_weights(path: Path) -> Weights:
    """Return the weights of a file that `python -m training` wrote."""
    found = json.loads(path.read_bytes())
    return Weights(threshold=found["threshold"], bias=found["bias"], table=found["weights"])


@cache
def shipped_weights() -> Weights:
    """Return the weights that ship with the classifier."""
    return read_weights(SHIPPED)
