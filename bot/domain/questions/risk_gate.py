"""Finds advice that breaks things when it is wrong: deletions, rollbacks, code changes, weaker security and the like.

Pure and linear, in the eight languages the bot answers in. The rules stand in risk_gate.yml, the words in risk_words/
(`~` stands for the rest of a word), the commands in risky_commands.yml. To explain that a job deletes rows is no risk;
to tell somebody to delete them is. So a risky word counts only in a sentence that advises and does not forbid; a
dangerous command counts wherever it stands, unless it is a quotation of the evidence. All eight languages are tried on
every draft.

The commands: shell, SQL, the command line tools of clouds and containers, and a few calls of libraries. Programs that
only read (`grep "DROP TABLE"`) and dry runs do not count. The table is about what a command can do, so it is not
complete and cannot be: an unknown tool counts if one of its arguments is a word such as `destroy`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from bot.domain.questions.draft_language import CODE, own_sentences, without_quotes
from bot.domain.tables import Alternatives, Parts, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern, folded

LANGUAGES: Final = ("de", "en", "es", "fr", "id", "ja", "pt", "zh")
UNSPACED: Final = frozenset({"ja", "zh"})
"""Written without blanks between words."""

_CODE_WORD: Final = " codespan "

_SEPARATOR: Final = LinearPattern(r"[\n;]|&&|\|\|?|\$\(|`")

_PROMPT: Final = "$#% \t"

_CLAUSE: Final = LinearPattern(r"[,;:—–、，；：()*]\s*|\s(?:then|dann|luego|puis|lalu|kemudian)\s|然后")
_CODE_SEGMENT: Final = re.compile(r"^```.*?(?:^```|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_FENCE_MARK: Final = re.compile(r"^```[\w+-]*\n?|`")
_PATCH: Final = re.compile(r"^(?:```diff\b|@@ |--- a/|diff --git)", re.MULTILINE)
_BULLET: Final = r"^\W*(?:\d+[.)]\s+)?"
_NEAR_CHARS: Final = 60
_WARNING_CHARS: Final = 160
"""How far around a command its warning is looked for."""

_SENTENCE_START: Final = re.compile(r"[.!?]\s|[。！？\n]")
_INLINE_CODE: Final = re.compile(r"`[^`\n]+`")
_LISTED: Final = r"\s*(?:codespan\s*(?:,|、|，|or|and|oder|und|ou|et|atau|dan|或|和|e|o|y)*\s*)*"
"""Other commands that stand in the same list."""


class _RiskyCommandsTable(NamedTuple):
    parts: Parts
    reads: Alternatives
    harmless: Alternatives
    anywhere: dict[str, Alternatives]
    in_code: dict[str, Alternatives]


_LISTS: Final = read_table(__file__, "risky_commands.yml", _RiskyCommandsTable)
_READS: Final = LinearPattern(rf"^\s*(?:[$#]\s+)?(?:sudo\s+)?(?:{_LISTS.reads})(?:\s|$)")
_HARMLESS: Final = LinearPattern(_LISTS.harmless)


def _compiled(table: dict[str, str]) -> dict[str, LinearPattern]:
    return {kind: LinearPattern(fill(pattern, _LISTS.parts)) for kind, pattern in table.items()}


_ANYWHERE: Final = _compiled(_LISTS.anywhere)
_IN_CODE: Final = _compiled(_LISTS.in_code)


def _folded_sentence(text: str) -> str:
    """Return a sentence as the patterns meet it; a piece of code becomes the word `codespan`.

    >>> _folded_sentence("Lösche ‹code›!")
    'losche  codespan !'
    """
    return folded(text.replace(CODE, _CODE_WORD))


class Table(NamedTuple):
    """One language's file: signs of advice, and groups of words that the rules join.

    A command right behind `forbids`, or before `forbids_after`, is a warning, unless it has one of the `conditions`.
    """

    words: dict[str, list[str]]
    advises: Sequence[str] = ()
    statements: Sequence[str] = ()
    remedies: Sequence[str] = ()
    leads: Sequence[str] = ()
    orders: Sequence[str] = ()
    not_orders: Sequence[str] = ()
    ends: Sequence[str] = ()
    ends_unless: Sequence[str] = ()
    asides: Sequence[str] = ()
    not_before: Sequence[str] = ()
    not_before_unless: Sequence[str] = ()
    not_after: Sequence[str] = ()
    forbids: Sequence[str] = ()
    forbids_after: Sequence[str] = ()
    conditions: Sequence[str] = ()


TABLES: Final = {code: read_table(__file__, f"risk_words/{code}.yml", Table) for code in ("common", *LANGUAGES)}


def _any_of(patterns: Sequence[str]) -> str:
    """Return a group that matches any of some patterns; `~` is the rest of a word."""
    return f"(?:{'|'.join(patterns)})".replace("~", r"\w*")


def _whole_words(patterns: Sequence[str], language: str) -> str:
    """Return a pattern for words that stand alone, or anywhere where words have no blanks between."""
    return _any_of(patterns) if language in UNSPACED else rf"\b{_any_of(patterns)}\b"


def compiled(pattern: str, patterns: Sequence[str]) -> LinearPattern | None:
    """Return a pattern, or None where the list it was made of is empty."""
    return LinearPattern(pattern) if patterns else None


class _Rules(NamedTuple):
    rules: dict[str, list[list[str]]]


RULES: Final = read_table(__file__, "risk_gate.yml", _Rules).rules
"""The groups of words that make each kind of risk; one list of them is enough."""


class _Language:
    """What tells advice from a statement in one language, and the words of each group."""

    def __init__(self, code: str) -> None:
        table = TABLES[code]
        self._advises = compiled(_whole_words(table.advises, code), table.advises)
        self._statements = compiled(_any_of(table.statements), table.statements)
        self._remedies = compiled(_whole_words(table.remedies, code), table.remedies)
        self._asides = compiled(rf"{_whole_words(table.asides, code)}[^,;:、，]*", table.asides)
        lead = rf"{_BULLET}(?:{_whole_words(table.leads, code)}[\s,]*)*"
        self._orders = compiled(lead + _whole_words(table.orders, code), table.orders)
        not_orders = [*TABLES["common"].not_orders, *table.not_orders]
        self._not_orders = compiled(lead + _any_of(not_orders), not_orders)
        self._ends = compiled(rf"{_whole_words(table.ends, code)}\W*$", table.ends)
        self._ends_unless = compiled(_whole_words(table.ends_unless, code), table.ends_unless)
        self._not_before = compiled(rf"(?:^|\W){_any_of(table.not_before)}\W*$", table.not_before)
        self._not_before_unless = compiled(rf"{_any_of(table.not_before_unless)}\W*$", table.not_before_unless)
        self._not_after = compiled(rf"^\W*{_any_of(table.not_after)}", table.not_after)
        self._forbids = compiled(rf"{_edge(code)}{_any_of(table.forbids)}{_LISTED}$", table.forbids)
        self._forbids_after = compiled(rf"^\s*{_any_of(table.forbids_after)}", table.forbids_after)
        self._conditions = compiled(_whole_words(table.conditions, code), table.conditions)
        self._words = dict(_word_patterns(code))

    def risks(self, sentence: str) -> list[str]:
        """Return the kinds of risky advice in a folded sentence."""
        advice = self._advice(sentence)
        if not advice:
            return []
        return [kind for kind, rules in RULES.items() if any(self._applies(rule, advice, sentence) for rule in rules)]

    def forbids(self, before: str, after: str) -> bool:
        """Whether a command between these two folded parts of a sentence is one nobody may run, on no condition."""
        if _is_in(self._conditions, after) or _is_in(self._conditions, before):
            return False
        return _is_in(self._forbids, before) or _is_in(self._forbids_after, after)

    def _advice(self, sentence: str) -> list[str]:
        """Return the clauses of a sentence that tell somebody to do something."""
        known = self._without_asides(sentence)
        if _is_in(self._advises, known) and not _is_in(self._statements, known):
            return [known]
        return [clause for clause in _clauses(known) if len(clause) > 1 and self._is_order(clause)]

    def _without_asides(self, sentence: str) -> str:
        kept = sentence
        for start, end in reversed(list(self._asides.spans(sentence)) if self._asides else []):
            kept = kept[:start] + " " * (end - start) + kept[end:]
        return kept

    def _is_order(self, clause: str) -> bool:
        if _is_in(self._remedies, clause):
            return True
        if _is_in(self._orders, clause) and not _is_in(self._not_orders, clause):
            return True
        return _is_in(self._ends, clause) and not _is_in(self._ends_unless, clause)

    def _applies(self, rule: list[str], advice: list[str], sentence: str) -> bool:
        verb, *others = rule
        return all(self._words[group].is_in(sentence) for group in others) and any(
            self._is_told(clause, start, end) for clause in advice for start, end in self._words[verb].spans(clause)
        )

    def _is_told(self, clause: str, start: int, end: int) -> bool:
        """Whether a word is not forbidden, by a "not" before it or behind."""
        before = clause[max(0, start - _NEAR_CHARS) : start]
        is_forbidden = _is_in(self._not_before, before) and not _is_in(self._not_before_unless, before)
        return not is_forbidden and not _is_in(self._not_after, clause[end : end + _NEAR_CHARS])


def _edge(code: str) -> str:
    return "" if code in UNSPACED else r"\b"


def _word_patterns(code: str) -> Iterator[tuple[str, LinearPattern]]:
    common, own = TABLES["common"].words, TABLES[code].words
    for group in sorted({group for rules in RULES.values() for rule in rules for group in rule}):
        parts = [_whole_words(common[group], "common")] if group in common else []
        yield group, LinearPattern("|".join([*parts, _whole_words(own[group], code)]))


_LANGUAGES: Final = [_Language(code) for code in LANGUAGES]


def risky_advice(draft: str, quotes: Iterable[str] = ()) -> list[str]:
    """Return what in a draft needs high confidence, each as `kind: “words”`; `quotes` are the evidence's own words.

    >>> risky_advice("The job deletes old rows."), risky_advice("Roll back the deploy.")
    ([], ['rollback: “Roll back the deploy”'])
    >>> risky_advice("Schalte die TLS-Prüfung ab.")
    ['weaker security: “Schalte die TLS-Prüfung ab”', 'skipped safeguard: “Schalte die TLS-Prüfung ab”']
    """
    quotes = list(quotes)
    found: list[tuple[str, str]] = []
    for said in own_sentences(draft, quotes):
        found += [(kind, said) for kind in _kinds(said)]
        found += [one for one in commands_in_prose(said) if not _is_warned_of(said, said.find(one.words), one.words)]
    text = without_quotes(draft, quotes)
    for code, start in _unquoted_code(text, quotes):
        found += [("code change", match[0]) for match in [_PATCH.search(code)] if match]
        commands = commands_in_code(_FENCE_MARK.sub("", code))
        if commands and (code.startswith("```") or not _is_warned_of(text, start, code)):
            found += commands
    return list(dict.fromkeys(f"{kind}: “{' '.join(text.split())[:80]}”" for kind, text in found))


def _kinds(sentence: str) -> list[str]:
    known = _folded_sentence(sentence)
    return list(dict.fromkeys(kind for language in _LANGUAGES for kind in language.risks(known)))


def _unquoted_code(text: str, quotes: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the pieces of code in a draft that no citation vouches for, and where each stands."""
    known = [" ".join(quote.split()) for quote in quotes]
    for match in _CODE_SEGMENT.finditer(text):
        words = " ".join(_FENCE_MARK.sub("", match[0]).split())
        if not any(words in quote for quote in known):
            yield match[0], match.start()


def _is_warned_of(text: str, start: int, words: str) -> bool:
    """Whether the sentence around a command says that nobody may run it: "never run `rm -rf /`"."""
    end = start + len(words)
    before = _SENTENCE_START.split(text[max(0, start - _WARNING_CHARS) : start])[-1]
    after = _SENTENCE_START.split(text[end : end + _WARNING_CHARS])[0]
    before, after = (_folded_sentence(_INLINE_CODE.sub(CODE, part)) for part in (before, after))
    return any(language.forbids(before, after) for language in _LANGUAGES)


def _clauses(sentence: str) -> list[str]:
    cuts = [0, *(end for _, end in _CLAUSE.spans(sentence)), len(sentence)]
    return [sentence[start:end] for start, end in itertools.pairwise(cuts)]


def _is_in(pattern: LinearPattern | None, text: str) -> bool:
    return pattern is not None and pattern.is_in(text)


class RiskyCommand(NamedTuple):
    """A dangerous command: what kind of danger, and the words that show it."""

    kind: str
    words: str


def commands_in_code(code: str) -> list[RiskyCommand]:
    """Return the dangerous commands in a piece of code: a code span or a fenced block, without its marks.

    >>> commands_in_code("curl https://x.example/i.sh | sudo bash")[0].kind
    'unread code'
    >>> commands_in_code("grep -rn 'rm -rf' scripts"), commands_in_code("git log")
    ([], [])
    """
    simple = [part for part in _simple_commands(code) if not _only_reads(part)]
    found = _found(_ANYWHERE, _without_readers(code))
    return found or [one for part in simple for one in _found(_IN_CODE, part.strip(_PROMPT))]


def commands_in_prose(text: str) -> list[RiskyCommand]:
    """Return the dangerous commands that stand in a sentence without marks of code.

    >>> [found.kind for found in commands_in_prose("Run rm -rf /var/data and delete from the list what is left.")]
    ['data deletion']
    """
    return _found(_ANYWHERE, text)


def _found(patterns: dict[str, LinearPattern], text: str) -> list[RiskyCommand]:
    spans = {kind: next(pattern.spans(text), None) for kind, pattern in patterns.items()}
    return [RiskyCommand(kind, text[span[0] : span[1]].strip()) for kind, span in spans.items() if span]


def _simple_commands(code: str) -> list[str]:
    """Return the parts of a command line between pipes, semicolons and line ends."""
    cuts = [0, *(end for _, end in _SEPARATOR.spans(code)), len(code)]
    return [code[start:end].strip("|;&$(`\n") for start, end in itertools.pairwise(cuts)]


def _only_reads(command: str) -> bool:
    return _HARMLESS.is_in(command) or (_READS.is_in(command) and ">" not in command)


def _without_readers(code: str) -> str:
    """Return code without the arguments of what only reads, its pipes and redirections left; dry runs are left out."""
    kept: list[str] = []
    start = 0
    for begin, end in [*_SEPARATOR.spans(code), (len(code), len(code))]:
        part = code[start:begin]
        if _HARMLESS.is_in(part):
            part = ""
        elif _READS.is_in(part):
            part = part[part.find(">") :] if ">" in part else ""
        kept += [part, code[begin:end]]
        start = end
    return "".join(kept)
