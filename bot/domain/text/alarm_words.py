"""Whether a heartbeat's remark tells of trouble, in the eight languages of the team. Pure, in linear time.

A remark is trouble if it names loss, failure, inability, danger or a request that is not negated, or if it negates
health: "3 errors", "cannot log in", "not healthy", against "0 errors", "nothing failed", "no longer failing". A verb
that is denied is trouble unless it is known to be harmless, because a needless message costs a glance and a swallowed
one an outage. The words are in alarm_lexicon.yml, Chinese and Japanese in alarm_words_cjk.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from bot.domain.text.alarm_lexicon import WordForms, lexicon
from bot.domain.text.alarm_measures import measures_trouble, without_improvements
from bot.domain.text.alarm_words_cjk import tells_of_trouble as cjk_tells_of_trouble

_SIGNS: Final = re.compile("[🚨🔴🔥❌❗‼⚠🆘⛔💥☠💀🧨📉🛑⁉❓❔🟥]")
_QUESTION: Final = re.compile(r"[?？]")
_ADDRESS: Final = re.compile(r"\b(?:https?|ssh|git)://\S{1,2000}")
_CLAUSE_END: Final = re.compile(r"[;!?…\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029()\[\]|]|\.(?=\s|$)|\s[-–—]+\s|[–—]")
_TOKEN: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[^\W\d_]+(?:'[^\W\d_]+)?|[,:]")
_MARKS: Final = re.compile("[\u0300-\u036f]")
_NO: Final = re.compile(r"\b(?:no|none|kein\w{0,2}|sin|sem|aucune?|tidak|ningun\w?|nenhum\w?|not|nicht)\b")
_FEW_PERCENT: Final = re.compile(
    r"(?<![0-9.,])(?:[0-9]|1[0-5])(?:[.,][0-9]{1,2})? ?(?:%|percent|prozent|por ciento|pour cent|por cento|persen)"
)
_PARTING: Final = frozenset(",:")
_SINCE: Final = "since"
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SPANISH_END: Final = re.compile(r"\b[^\W\d_]{2,20}(?:os|aron|ieron|ado|ada|cion|dad)\b")
_CLAUSE_WORDS: Final = 60
"""A clause that is longer is read in parts."""

_REACH: Final = 6
"""Words a negation reaches over."""


def has_alarm_word(text: str) -> bool:
    """Whether a remark sounds as if somebody should look.

    >>> has_alarm_word("3 urgent emails."), has_alarm_word("All clear: no new errors or merge conflicts.")
    (True, False)
    >>> has_alarm_word("Kunden können sich nicht anmelden"), has_alarm_word("keine Fehler")
    (True, False)
    """
    said = without_improvements(_ADDRESS.sub(" ", _plain_text(text)))
    if (
        _SIGNS.search(said)
        or _QUESTION.search(said)
        or lexicon().full.search(said)
        or cjk_tells_of_trouble(said)
        or _shows_a_secret(said)
        or _has_little_left(said)
        or measures_trouble(said)
    ):
        return True
    return any(_Clause(words).tells_of_trouble for words in _clauses(said))


def _plain_text(text: str) -> str:
    """Return a text as the tables of words expect it: lower case, no accents of Latin letters, no hidden characters.

    >>> _plain_text("Größe\u200b: ＯＫ")
    'grosse: ok'
    """
    plain = "".join(
        char for char in unicodedata.normalize("NFKC", _CAMEL.sub(" ", text)) if unicodedata.category(char) != "Cf"
    )
    bare = _MARKS.sub("", unicodedata.normalize("NFD", plain.casefold()))
    return unicodedata.normalize("NFC", bare).replace("’", "'").replace("‘", "'").replace("ʼ", "'")


def _clauses(said: str) -> Iterator[list[str]]:
    """Yield the words of each clause; commas and colons stay in it, a "but" begins the next."""
    no = _meaning_of_no(said)
    for part in _CLAUSE_END.split(said):
        for phrase, meant in lexicon().replaced if lexicon().any_phrase.search(part) else ():
            part = phrase.sub(meant, part)
        clause: list[str] = []
        for word in _split(part, no):
            if word in lexicon().breaks:
                since = [_SINCE] if word in lexicon().since else []
                yield [*clause, *since]
                clause = since
            elif len(clause) >= _CLAUSE_WORDS:
                yield clause
                clause = [word]
            else:
                clause.append(word)
        yield clause


def _shows_a_secret(said: str) -> bool:
    secret, shown = lexicon().secret, lexicon().shown
    parts = _CLAUSE_END.split(said)
    return any(secret.search(part) and shown.search(part) and not _NO.search(part) for part in parts)


def _has_little_left(said: str) -> bool:
    """Whether few per cent of something are left: "disk on db-3: 2 % left"."""
    return any(
        _FEW_PERCENT.search(part) and any(word in lexicon().left for word in _TOKEN.findall(part))
        for part in _CLAUSE_END.split(said)
    )


def _split(part: str, no: str) -> Iterator[str]:
    for token in _TOKEN.findall(part):
        if token == "no":  # noqa: S105 - a word, not a secret
            yield "noverb" if part.rstrip(" ,:").endswith(" no") else no
        elif token.endswith("n't"):
            yield "not"
        else:
            yield from token.split("'")


def _meaning_of_no(said: str) -> str:
    """Return what "no" is here: English for no thing, Spanish for not, Portuguese for "in the"."""
    words = set(_TOKEN.findall(said))
    spanish, portuguese, english = (
        len(words & of) for of in (lexicon().spanish, lexicon().portuguese, lexicon().english)
    )
    if portuguese > max(spanish, english):
        return "na"
    is_spanish = spanish > english or (not english and _SPANISH_END.search(said) is not None)
    return "noverb" if is_spanish else "no"


class _Clause:
    """One clause as words, and what stands at which place."""

    def __init__(self, words: Sequence[str]) -> None:
        self._of = lexicon()
        self._since = _SINCE in (*words[:1], *words[-1:])
        self._words = words = [word for word in words if word != _SINCE]
        self._negations = [at for at in range(len(words)) if self._is_negation(at)]
        self._troubles = [at for at, word in enumerate(words) if word in self._of.trouble and not self._is_red(at)]

    @property
    def tells_of_trouble(self) -> bool:
        """Whether anything in it stands as trouble."""
        return (
            any(self._stands(at) for at in self._troubles)
            or any(self._is_demand(at) and not self._is_negated(at) for at in range(len(self._words)))
            or any(self._denies_health(at) for at in self._negations)
        )

    def _is_red(self, at: int) -> bool:
        """Whether a "red" is a network: "la red"."""
        return self._words[at] == "red" and at > 0 and self._words[at - 1] in ("la", "de", "una", "red", "sin")

    def _is_negation(self, at: int) -> bool:
        word = self._words[at]
        return word in self._of.silencing or word in self._of.denying or _is_zero(word)

    def _is_demand(self, at: int) -> bool:
        return self._words[at] in self._of.demand

    def _stands(self, at: int) -> bool:
        """Whether a word of trouble is neither negated nor counted as none nor taken back."""
        return not (
            self._is_negated(at)
            or self._is_counted_none(at)
            or self._was_not_found(at)
            or self._is_calm_measure(at)
            or self._is_pruning(at)
            or self._is_moot(at)
            or self._was_handled(at)
        )

    def _is_negated(self, at: int) -> bool:
        return any(self._reaches(start, at) for start in self._negations if at - _REACH <= start < at)

    def _reaches(self, start: int, at: int) -> bool:
        """Whether the negation at `start` covers the word at `at`."""
        between = self._words[start + 1 : at]
        if ":" in between or (between and between[0] in self._of.not_all):
            return False
        if between and between[0] in ("idea", "one", "why", "reason", "ob"):
            return False
        if any(_is_count(word) for word in between[1:]):
            return False
        if "," in between and not self._is_list(start, at):
            return False
        linked = [place for place, word in enumerate(between) if word in self._of.links]
        return not linked or between[linked[-1]] in self._of.open_links or linked[-1] == len(between) - 1

    def _is_list(self, start: int, at: int) -> bool:
        """Whether commas between a negation and a word are those of a list: "no errors, failures or warnings"."""
        previous = max(place for place in range(start, at) if self._words[place] == ",")
        if self._words[previous + 1] in self._of.relative:
            return True
        if self._words[start + 1] == ",":
            return False
        after = self._words[at + 1 : at + 3]
        ends = not after or any(word == "," or word in self._of.links for word in after)
        return ends and all(
            word in self._of.links or word in self._of.trouble for word in self._words[previous + 1 : at]
        )

    def _is_counted_none(self, at: int) -> bool:
        """Whether the count that follows is none: "errors: 0", "failures dropped from 3 to 0"."""
        if self._words[at] in self._of.moves and not any(
            place < at and self._words[place] not in self._of.moves for place in self._troubles
        ):
            return bool(self._of.better_low.intersection(self._words[:at]))
        after = self._upto_comma(at)
        counts = [word for word in after if _is_number(word) or word in self._of.zeros]
        if not counts or (at and _is_count(self._words[at - 1]) and not self._of.to.intersection(after)):
            return False
        return _is_zero(counts[-1]) or (counts[-1] in self._of.zeros and after[-1] == counts[-1])

    def _was_not_found(self, at: int) -> bool:
        """Whether the trouble is said not to have been found: "errors were not found", not "error: file not found"."""
        return any(
            any(word in self._of.found for word in self._words[place + 1 : place + 4])
            and self._of.not_all.isdisjoint(self._words[place + 1 : place + 2])
            for place in self._negations
            if at < place <= at + _REACH and self._words[place] in self._of.denying and ":" not in self._words[at:place]
        )

    def _is_calm_measure(self, at: int) -> bool:
        """Whether it is the name of a measure that is well: "error rate normal"."""
        after = self._upto_comma(at)
        near = [self._words[at], *after[:2], *self._words[max(0, at - 3) : at]]
        calm = [place for place, word in enumerate(self._words) if word in self._of.calm and place > at]
        return any(word in self._of.measure for word in near) and any(not self._is_negated(place) for place in calm)

    def _is_pruning(self, at: int) -> bool:
        near = self._words[max(0, at - 3) : at + 4]
        return self._words[at] in self._of.deleted and any(word in self._of.pruned for word in near)

    def _was_handled(self, at: int) -> bool:
        """Whether these are alerts that somebody looked at, and no more is said of them."""
        if self._words[at] not in self._of.alerts:
            return False
        before, after = self._words[max(0, at - 4) : at], self._upto_comma(at)[:4]
        is_denied = any(at - 4 <= start <= at + len(after) for start in self._negations)
        goes_on = not self._of.links.isdisjoint(after) or not {",", ":"}.isdisjoint([*before, *after])
        return not (is_denied or goes_on) and not self._of.handled.isdisjoint([*before, *after])

    def _is_moot(self, at: int) -> bool:
        """Whether the clause takes the trouble back: "the outage is resolved", "the failing test passes again"."""
        words = self._words
        over = [place for place, word in enumerate(words) if place != at and word in self._of.moot]
        over = [place for place in over if place not in self._troubles or at < place]
        again = [place for place, word in enumerate(words) if word in ("again", "wieder")]
        back = [place for place in again if any(word in self._of.able for word in words[max(0, place - 2) : place + 3])]
        unsettled = [place for place, word in enumerate(words) if word in self._of.unsettled and place not in back]
        settled = [place for place in [*over, *back] if not self._is_negated(place) and self._is_about(place, at)]
        return bool(settled) and not unsettled and not any(self._is_demand(place) for place in range(len(words)))

    def _is_about(self, settled: int, at: int) -> bool:
        """Whether a word of repair can mean the trouble at `at`; over a comma only where no other subject begins.

        "The crash, the leak and the hang are fixed" and "an outage, caused by a full disk, is over", not "the outage is
        fixed, the database is corrupted".
        """
        between = self._words[min(settled, at) + 1 : max(settled, at)]
        begins = max((place + 1 for place in range(settled) if self._words[place] in _PARTING), default=0)
        if settled > at:
            before = self._words[begins:settled]
            return (
                begins <= at
                or all(word in self._of.auxiliary for word in before)
                or bool(self._of.links.intersection(before))
            )
        if any(begins <= place < settled for place in self._troubles):
            return not self._of.links.intersection(between) and not _PARTING.intersection(between)
        is_list = (between[:1] == [":"] and self._words[at + 1 : at + 2] != [":"]) or bool(
            self._of.links.intersection(self._words[settled : at + 2])
        )
        return not _PARTING.intersection(between) or (is_list and not self._of.relative.intersection(between))

    def _denies_health(self, at: int) -> bool:
        """Whether a negation is trouble by what it negates: "not healthy", "no backup", "they cannot sign"."""
        following = self._upto_comma(at)[:_REACH]
        if any(word in self._of.found for word in following) and any(place < at for place in self._troubles):
            return False
        bad = min(_first(following, self._of.trouble), _first(following, self._of.demand))
        able, supply, neutral = (_first(following, of) for of in (self._of.able, self._of.supply, self._of.neutral))
        if self._words[at] in self._of.persons and self._leaves_undone(self._upto_comma(at)):
            return True
        if self._words[at] not in self._of.denying:
            if self._since and bad == _REACH and not self._of.flow.isdisjoint(following):
                return True
            if self._since and bad == neutral == _REACH:
                return not any(word in self._of.may_stop for word in self._words)
            return min(able, supply if bad == _REACH else _REACH) < min(bad, neutral)
        if following and following[0] in self._of.not_all:
            return True
        if able < min(bad, neutral):
            return True
        return bad == _REACH and min(neutral, self._neutral_before(at)) >= min(supply, _REACH)

    def _leaves_undone(self, following: Sequence[str]) -> bool:
        """Whether what nobody does is to look after something: "nobody picked up the incident"."""
        kept = (self._of.demand, self._of.found)
        return any(word in self._of.handles for word in following) and not any(
            word in of for word in following for of in kept
        )

    def _neutral_before(self, at: int) -> int:
        """Return 0 if something harmless is denied by a "nicht" or "pas" behind it, else the reach."""
        if self._words[at] not in ("nicht", "pas", "not", "ne", "n"):
            return _REACH
        before = self._words[max(0, at - _REACH) : at]
        if any(word in self._of.trouble or word in self._of.demand for word in before):
            return 0 if self._words[at] in ("nicht", "pas") and not any(w in self._of.able for w in before) else _REACH
        return 0 if any(word in self._of.neutral and word not in self._of.found for word in before) else _REACH

    def _upto_comma(self, at: int) -> Sequence[str]:
        after = self._words[at + 1 :]
        return after[: after.index(",")] if "," in after else after


def _first(words: Sequence[str], wanted: WordForms) -> int:
    return next((place for place, word in enumerate(words) if word in wanted), _REACH)


def _is_number(word: str) -> bool:
    return word[:1].isdigit()


def _is_zero(word: str) -> bool:
    return _is_number(word) and not word.strip("0.,")


def _is_count(word: str) -> bool:
    return _is_number(word) and not _is_zero(word)
