"""How a draft sounds: sure of itself, doubtful, or like a machine.

Pure; the words of the eight languages the bot answers in. Only the draft's own sentences are judged: code and
quotations are somebody else's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

CODE: Final = "‹code›"
"""Stands for a piece of inline code in `own_sentences`."""
_MIN_REPEATED_CHARS: Final = 12

_CERTAIN: Final = (
    "definitely|certainly|guaranteed|undoubtedly|without (?:a )?doubt|beyond doubt|100 ?% (?:sure|certain)|for sure"
    "|absolutely (?:sure|certain)|definitivamente|sin duda|con certeza|garantizad[oa]|com certeza|sem d[uú]vida"
    "|garantid[oa]|definitiv|zweifellos|garantiert|mit sicherheit|auf jeden fall|certainement|sans aucun doute"
    "|assur[eé]ment|à coup s[uû]r|pasti|dijamin|tanpa ragu"
)
_CERTAIN_UNSPACED: Final = "間違いなく|絶対に|肯定是|绝对|毫无疑问|百分之百"
_DOUBTFUL: Final = (
    "might|maybe|perhaps|possibly|probably|presumably|not (?:entirely |completely |quite )?(?:sure|certain)|unsure"
    "|i (?:think|believe|guess|suspect|assume)|it seems|seems to|appears to|unclear|quiz[aá]s?|tal vez|probablemente"
    "|posiblemente|no estoy segur[oa]|creo que|talvez|provavelmente|possivelmente|não tenho certeza|acho que|parece que"
    "|vielleicht|wahrscheinlich|möglicherweise|vermutlich|nicht sicher|ich glaube|anscheinend|peut-être|probablement"
    "|sans doute|pas s[uû]re?|je (?:crois|pense)|il semble|apparemment|mungkin|barangkali|sepertinya|tidak yakin"
)
_DOUBTFUL_UNSPACED: Final = (
    "かもしれ|たぶん|多分|おそらく|恐らく|と思います|だと思う|也许|或许|大概|不确定|我觉得|似乎|可能是"
)
_NEGATED: Final = r"(?<!not )(?<!n't )(?<!never )(?<!no )(?<!nicht )(?<!no está )(?<!pas )"
_SMELLS: Final = (
    r"i(?:'d| would) be (?:happy|glad|delighted) to|(?:happy|glad) to (?:help|assist)|(?:great|good|excellent) question"
    r"|as an ai\b|as a (?:large )?language model|i(?:'m| am) (?:just |only )?an? (?:ai|assistant|bot|language model)"
    r"|hope (?:this|that|it) helps|let me know if you (?:have|need|want|would)|feel free to|(?:do not|don't) hesitate"
    r"|please note that|it(?:'s| is) (?:important|worth) (?:to note|noting|to remember)|i (?:cannot|can't) guarantee"
    r"|for informational purposes|consult (?:a|an|your|with) \w+|your mileage may vary|i apologi[sz]e"
    r"|thank(?:s| you) for (?:asking|reaching out|your (?:question|patience))|i understand your|rest assured|delve into"
    r"|^(?:certainly|of course|sure|absolutely)(?:[!,]|$)|espero que (?:esto )?(?:te )?(?:ajude|ayude)|buena pregunta"
    r"|boa pergunta|gute frage|ich hoffe,? das hilft|bonne question|j'espère que cela|pertanyaan (?:yang )?bagus"
    r"|semoga (?:ini )?membantu|良い質問|いい質問|お役に立て|好问题|希望(?:这|对你|能)"
)

_SURE: Final = re.compile(rf"{_NEGATED}(?<!\w)(?:{_CERTAIN})(?!\w)|{_CERTAIN_UNSPACED}", re.IGNORECASE)
_UNSURE: Final = re.compile(rf"(?<!\w)(?:{_DOUBTFUL})(?!\w)|{_DOUBTFUL_UNSPACED}", re.IGNORECASE)
_SMELL: Final = re.compile(rf"(?<!\w)(?:{_SMELLS})", re.IGNORECASE | re.MULTILINE)
_SENTENCE_END: Final = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?]+(?=\s|$)|[。！？]+|\n+")
_BLOCK: Final = re.compile(r"^(```|~~~).*?(?:^\1[^\n]*|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED_LINE: Final = re.compile(r"^ {0,3}>.*$", re.MULTILINE)
_INLINE: Final = re.compile(r"(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")


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
