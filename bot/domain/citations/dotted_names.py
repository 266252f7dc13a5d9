"""Which modules of a codebase a text names with dots: `shop.payments.charge`. Pure and linear.

A dotted name is one of the codebase if a file or a folder of it bears the name; or if its first part is a folder with
source files and it has three parts, is called a module, or is said to say something, as only files do, though no file
bears it. `os.path` is somebody else's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from bot.domain.citations.named_places import ENDINGS, MAX_CHARS

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
