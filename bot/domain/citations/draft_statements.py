"""What a draft states of the code: facts without a citation beside them, and modules by dotted names. Pure and linear.

A statement names an identifier, a number with its unit, a bound or a value ("at most 9", "the port is 80"), or a
default. It has a citation beside it if it, or the bare reference behind it, names a place; or if what it states stands
in a quotation: all its numbers and one of its names. A number counts in other units (`30_000` for 30 s) and in words.
The numbers of advice ("set `x` to 3") state nothing of the code.

A dotted name (`shop.payments.charge`) is one of the codebase if a file or a folder of it bears the name; or if its
first part is a folder with source files and it has three parts, is called a module, or is said to say something, as
only files do, though no file bears it. `os.path` is somebody else's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final, NamedTuple

from bot.domain.citations.named_places import ENDINGS, MAX_CHARS, places_in
from bot.domain.citations.number_words import counts_in_digits, numbers_in_words
from bot.domain.search.tokens import text_stems

_DOTTED: Final = re.compile(
    r"(?<![\w./@:\\$#-])(?P<called>(?:(?:module|package|modul|paket|m[oó]dulo|paquete|pacote|paquet)\s{1,2}[`*\"']{0,3})?)"
    r"(?P<name>[A-Za-z_]\w{1,60}(?:\.[A-Za-z_]\w{0,60}){1,8})(?![\w/@\\-]|\.\w|:(?!\d{1,6}(?![\w:-]|\.\w)))(?::(?P<line>\d{1,6}))?"
    r"(?P<is_module>[`*\"']{0,3}[\s-]{0,2}(?:module|package|modul|paket|モジュール|模块|模組)(?!\w))?",
    re.IGNORECASE,
)
_SCOPED: Final = re.compile(r"(?<=\w)::(?=[A-Za-z_]\w{0,60}(?:::[A-Za-z_]\w{0,60}){0,8}:\d)")
"""As Rust, C++ and Ruby part names, where a line stands behind them."""

_SAYS_BEHIND: Final = re.compile(
    r"[`*\"']{0,3}(?:['’]s docstring)?\s{0,2}"
    r"(?:(?:itself|also|clearly|explicitly|selbst|auch|mismo|também|aussi|juga)\s)?"
    r"(?:(?:says|states|documents|explains|declares|describes|specifies|sagt|besagt|erklärt|beschreibt|dokumentiert"
    r"|dice|explica|describe|documenta|declara|diz|descreve|dit|explique|décrit|documente|déclare|mengatakan|menyatakan|menjelaskan)(?!\w)"
    r"|(?:に|は)(?:よると|よれば)|には|说|写|規定|规定|说明)",
    re.IGNORECASE,
)
_SAYS_BEFORE: Final = re.compile(
    r"(?:according to|as (?:stated|documented|described) in|the docs? (?:in|of)|laut|gemäß|según|segundo"
    r"|de acordo com|selon|d['’]après|menurut|根据|根據)\s{0,2}[`*\"']{0,3}$",
    re.IGNORECASE,
)
_LOOK_BACK: Final = 60
_PORTS_FROM: Final = 1024
_KNOWN_PORTS: Final = frozenset({22, 25, 53, 80, 110, 143, 389, 443, 465, 587, 636, 993, 995})
"""What stands behind the colon of a host."""

_HOST_ENDINGS: Final = "com org net io dev app internal local localhost example test de fr es br id jp cn uk eu"
_SOURCE_ENDINGS: Final = "py pyi js mjs ts tsx jsx java kt kts scala rb php cs go rs ex exs groovy swift"
_HOSTS: Final = frozenset(_HOST_ENDINGS.split())
_SOURCES: Final = frozenset(_SOURCE_ENDINGS.split())

MAX_SAID: Final = 60
"""Sentences of a draft that are looked at."""

MAX_NUMBERS: Final = 400

_FENCE: Final = re.compile(r"^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1[^\n]*|\Z)", re.DOTALL | re.MULTILINE)
_SENTENCE: Final = re.compile(r"[^.!?。！？]{1,2000}(?:[.](?=[^\s])[^.!?。！？]{0,2000}){0,40}[.!?。！？]{0,3}")
_SPAN: Final = re.compile(r"`([^`\n]{1,200})`")
_WORD: Final = re.compile(r"[A-Za-z_]\w{1,80}")
_BARE_NAME: Final = re.compile(
    r"(?<![\w./-])(?:[A-Za-z]\w{0,60}_\w{1,60}|[a-z]{2,30}[A-Z]\w{2,60}|[A-Za-z]\w{2,60}(?=\(\)))"
)
_UNITS: Final = (
    r"(?:(?:ms|s|secs?|mins?|min|h|%|[kKMGT]i?B|bytes?|percent|times|fold)(?!\w)|(?:milli)?(?:second|sekunde|segundo|seconde"
    r"|detik|minute|minuto|menit|hour|stunde|hora|heure|jam|day|tag|día|dia|jour|hari|week|woche|attempt|versuch|intento"
    r"|tentativa|tentative|essai|retr(?:y|ies)|tries|request|connection|worker|thread|row|character|prozent|mal|vez|vece"
    r"|veze|fois|kali|percobaan)[ens]{0,2}(?!\w)|秒|分|時間|小时|小時|日間|天|回|次)"
)
_NUMBER: Final = re.compile(rf"(?<![\w.,:/#-])(\d{{1,12}}(?:[.,_]\d{{1,9}}){{0,3}})\s{{0,2}}{_UNITS}", re.IGNORECASE)
_VALUE: Final = r"(\d{1,12}(?:[.,_]\d{1,9}){0,3})(?![\w%]|[.:/-]\w)"
_BOUND: Final = re.compile(
    r"\b(?:at most|at least|up to|no more than|maximum of|limit of|limited to|capped at|set to|defaults? (?:to|of))"
    rf"\s{{1,2}}{_VALUE}"
    r"|(?:`|\b(?:limit|timeout|size|port|maximum|minimum|count|interval|ttl|threshold|depth|capacity|value|default))"
    rf"\s{{1,2}}(?:is|are|equals)\s{{1,2}}(?:now\s|always\s)?`?{_VALUE}",
    re.IGNORECASE,
)
_ASSIGNED: Final = re.compile(rf"\w\s{{0,2}}[=]\s{{0,2}}{_VALUE}")
_PROPOSED: Final = re.compile(
    r"\b(?:you|your|set|sets|setting|pass|passing|use|using|change|example|e\.g|say)\b", re.IGNORECASE
)
_ADVICE: Final = re.compile(
    r"[-•\s]{0,8}(?:(?:so|then|please|or|otherwise|instead|just),?\s)?"
    r"(?:set|pass|use|raise|lower|increase|decrease|try|call|wrap|add|change|give|run)\s(?!to\b|by\b|in\b|at\b)",
    re.IGNORECASE,
)
_PLAIN_NUMBER: Final = re.compile(r"(?<![A-Za-z\d.])\d{1,12}(?:[_,]\d{3}){0,3}(?:\.\d{1,9})?")
_PRODUCT: Final = re.compile(r"\d[\d_]{0,12}(?:\s{0,2}\*\s{0,2}\d[\d_]{0,12}){1,4}")
_DEFAULT: Final = re.compile(
    r"\b(?:by default|defaults? (?:to|is)|the default|standardmäßig|por defecto|por padrão|par défaut|secara bawaan)\b"
    r"|デフォルト|默认|預設",
    re.IGNORECASE,
)
_FACTORS: Final = (1, 7, 24, 60, 100, 1_000, 1_024, 1_440, 3_600, 86_400, 1_000_000, 1 << 20, 1 << 30)


class DottedName(NamedTuple):
    """A dotted name as a text has it: called a module, or said to say something, or neither."""

    name: str
    is_called: bool = False
    is_saying: bool = False
    line: int = 0
    """Where the text names one behind a colon; of a host it is a port."""

    def __str__(self) -> str:
        if self.line:
            return f"{self.name}:{self.line}"
        return f"module {self.name}" if self.is_called else self.name


def dotted_names_in(text: str) -> list[DottedName]:
    """Return the dotted names of a text, each once for each way it is named.

    >>> names = dotted_names_in("`shop.payments.charge` of module shop.refunds, v1.2, app.py, api.example.com")
    >>> [str(name) for name in names]
    ['shop.payments.charge', 'module shop.refunds']
    >>> dotted_names_in("shop.idle says so")[0].is_saying
    True
    """
    text = _SCOPED.sub(".", text[:MAX_CHARS])
    found = [match for match in _DOTTED.finditer(text) if match["line"] or not _is_host_or_file(match["name"])]
    return list(dict.fromkeys(_dotted_name(text, match) for match in found))


def _is_host_or_file(name: str) -> bool:
    return name.rpartition(".")[2].lower() in _HOSTS | ENDINGS


def _dotted_name(text: str, found: re.Match[str]) -> DottedName:
    before = text[max(0, found.start() - _LOOK_BACK) : found.start()]
    says = _SAYS_BEHIND.match(text, found.end("name")) or _SAYS_BEFORE.search(before)
    return DottedName(
        found["name"], bool(found["called"] or found["is_module"]), says is not None, int(found["line"] or 0)
    )


class ModuleTree:
    """The files and folders of a codebase by the names that dotted names give them."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        self._packages: set[str] = set()
        self._stems: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            folders, _, name = path.rpartition("/")
            stem, _, ending = name.rpartition(".")
            if ending.lower() in _SOURCES and stem:
                self._add(path, tuple(folders.split("/")) if folders else (), stem)

    def _add(self, path: str, folders: tuple[str, ...], stem: str) -> None:
        self._packages.update(folders[-1:])
        self._stems[stem].append(path)
        for at in range(len(folders)):
            self._paths[(*folders[at:], stem)].append(path)
            self._paths[folders[at:]].append(path)

    def files_of(self, dotted: DottedName) -> Sequence[str] | None:
        """Return the files that a dotted name may mean; none for a module that is missing, None for a foreign name."""
        parts = tuple(dotted.name.split("."))
        for count in range(len(parts), 1, -1):
            if parts[:count] in self._paths:
                return self._paths[parts[:count]]
        if dotted.line >= _PORTS_FROM or dotted.line in _KNOWN_PORTS:
            return None
        if dotted.line and parts[0][:1].isupper() and parts[0] in self._stems:
            return self._stems[parts[0]]
        is_ours = (
            parts[0] in self._packages
            and parts[1].islower()
            and (dotted.is_called or dotted.is_saying or len(parts) > 2 or dotted.line > 0)
        )
        return () if is_ours else None


def is_quoted(dotted: DottedName, quotes: Collection[str]) -> bool:
    """Whether a quotation holds a dotted name, two parts of it that follow each other, or both parts of its module.

    >>> record = DottedName("shop.ledger.record")
    >>> is_quoted(record, ["from shop import ledger"]), is_quoted(record, ["record(order)"])
    (True, False)
    """
    parts = dotted.name.split(".")
    pairs = {f"{left}.{right}" for left, right in pairwise(parts)}
    for line in (line for quote in quotes for line in quote.split("\n")):
        words = re.findall(r"[\w.]{1,200}", line)
        said = {word for whole in words for word in whole.split(".")}
        if any(f".{pair}." in f".{word}." for word in words for pair in pairs) or set(parts[:2]) <= said:
            return True
        if len(parts) > 2 and set(parts[1:]) <= said:
            return True
    return False


class _Facts(NamedTuple):
    """What a sentence states: names of code, numbers, and whether it tells of a default."""

    names: frozenset[str]
    numbers: tuple[str, ...]
    is_default: bool

    def __bool__(self) -> bool:
        return bool(self.names or self.numbers or self.is_default)


def statements_without_source(draft: str, quotes: Collection[str], refs: Collection[str] = ()) -> list[str]:
    """Return the sentences of a draft (Markdown) that state a fact which neither a place nor a quotation stands beside.

    >>> statements_without_source("It waits 30 s. It retries 9 times (a.py:3). Is `x` set? Good.", ["WAIT_MS = 30_000"])
    []
    >>> statements_without_source("It waits 31 s.", ["WAIT_MS = 30_000"])
    ['It waits 31 s.']
    """
    text = _FENCE.sub("\n", draft[:MAX_CHARS]).replace("*", "")
    known = _Known(quotes, refs)
    lines = (line for line in text.split("\n") if not line.lstrip().startswith(">"))
    return list(islice((said for line in lines for said in _bare(line, known)), MAX_SAID))


def _bare(line: str, known: _Known) -> Iterator[str]:
    sentences = [found[0].strip() for found in _SENTENCE.finditer(line)][:MAX_SAID]
    for sentence, behind in zip(sentences, [*sentences[1:], ""], strict=False):
        facts = _facts(sentence)
        if not facts or sentence.endswith(("?", "？", ":")) or places_in(sentence):
            continue
        is_reference = len(behind.split()) <= 4 and bool(places_in(behind))
        if not is_reference and not known.backs(facts, sentence):
            yield sentence


def _facts(sentence: str) -> _Facts:
    spans = [span[1] for span in _SPAN.finditer(sentence)]
    names = {word for span in spans if " " not in span.strip() or "=" in span for word in _WORD.findall(span)}
    rest = _SPAN.sub(" ", sentence)
    names |= set(_BARE_NAME.findall(rest))
    return _Facts(frozenset(names), () if _ADVICE.match(sentence) else _numbers(sentence), bool(_DEFAULT.search(rest)))


def _numbers(sentence: str) -> tuple[str, ...]:
    said = counts_in_digits(sentence)
    found = [*_NUMBER.finditer(said.replace("`", "")), *_BOUND.finditer(said)]
    found += [] if _PROPOSED.search(said) else _ASSIGNED.finditer(said)
    return tuple(number for each in found for number in each.groups() if number)


class _Known:
    """The words and the numbers that quotations hold, and the words of what they are quoted from."""

    def __init__(self, quotes: Collection[str], refs: Collection[str]) -> None:
        text = "\n".join(quotes)
        self._names = set(_WORD.findall(text)) | {word for ref in refs for word in re.split(r"[^\w]", ref) if word}
        self._stems = text_stems(text)
        numbers = {_value(found[0]) for found in islice(_PLAIN_NUMBER.finditer(text), MAX_NUMBERS)}
        products = {_product(found[0]) for found in _PRODUCT.finditer(text)}
        self._numbers = {*numbers, *products, *map(float, numbers_in_words(text))}

    def backs(self, facts: _Facts, sentence: str) -> bool:
        """Whether all numbers of a sentence and one of its names stand there; of a default, one of its words."""
        if facts.names or facts.numbers:
            is_named = not facts.names or not self._names.isdisjoint(facts.names)
            return is_named and all(self._has(number) for number in facts.numbers)
        return not self._stems.isdisjoint(text_stems(sentence))

    def _has(self, number: str) -> bool:
        wanted = {_value(number), _value(number.replace(",", "."))}
        return any(one * factor in self._numbers for one in wanted for factor in _FACTORS) or any(
            one * factor in wanted for one in self._numbers for factor in _FACTORS
        )


def _value(number: str) -> float:
    try:
        return float(number.replace(",", "").replace("_", ""))
    except ValueError:  # 1.2.3 is no number
        return -1.0


def _product(factors: str) -> float:
    product = 1.0
    for factor in factors.split("*"):
        product *= _value(factor.strip())
    return product
