"""Which modules of a codebase a text names with dots: `shop.payments.charge`. Pure and linear.

A dotted name is one of the codebase if a file or a folder of it bears the name; or if its first part is a folder with
source files and it has three parts or is called a module, though no file bears it. `os.path` is somebody else's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from bot.domain.citations.named_places import ENDINGS, MAX_CHARS

_DOTTED: Final = re.compile(
    r"(?<![\w./@:\\$#-])(?P<called>(?:(?:module|package|modul|paket|m[oó]dulo|paquete|pacote|paquet)\s{1,2}[`*\"']{0,3})?)"
    r"(?P<name>[A-Za-z_]\w{1,60}(?:\.[A-Za-z_]\w{0,60}){1,8})(?![\w/@:\\-]|\.\w)",
    re.IGNORECASE,
)
_HOST_ENDINGS: Final = "com org net io dev app internal local localhost example test de fr es br id jp cn uk eu"
_SOURCE_ENDINGS: Final = "py pyi js mjs ts tsx jsx java kt kts scala rb php cs go rs ex exs groovy swift"
_HOSTS: Final = frozenset(_HOST_ENDINGS.split())
_SOURCES: Final = frozenset(_SOURCE_ENDINGS.split())


def dotted_names_in(text: str) -> list[str]:
    """Return the dotted names of a text, each once; one of two parts only if it is called a module, or may be a file's.

    >>> dotted_names_in("`shop.payments.charge` of module shop.refunds, v1.2, app.py, api.example.com")
    ['shop.payments.charge', 'module shop.refunds']
    """
    found = [(bool(match["called"]), match["name"]) for match in _DOTTED.finditer(text[:MAX_CHARS])]
    names = [(called, name) for called, name in found if name.rpartition(".")[2].lower() not in _HOSTS | ENDINGS]
    return list(dict.fromkeys(f"module {name}" if called else name for called, name in names))


class ModuleTree:
    """The files and folders of a codebase by the names that dotted names give them."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        self._packages: set[str] = set()
        for path in paths:
            folders, _, name = path.rpartition("/")
            stem, _, ending = name.rpartition(".")
            if ending.lower() in _SOURCES and stem:
                self._add(path, tuple(folders.split("/")) if folders else (), stem)

    def _add(self, path: str, folders: tuple[str, ...], stem: str) -> None:
        self._packages.update(folders[-1:])
        for at in range(len(folders)):
            self._paths[(*folders[at:], stem)].append(path)
            self._paths[folders[at:]].append(path)

    def files_of(self, dotted: str) -> Sequence[str] | None:
        """Return the files that a dotted name may mean; none for a module that is missing, None for a foreign name."""
        is_called, parts = dotted.startswith("module "), tuple(dotted.removeprefix("module ").split("."))
        for count in range(len(parts), 1, -1):
            if parts[:count] in self._paths:
                return self._paths[parts[:count]]
        is_ours = parts[0] in self._packages and parts[1].islower() and (is_called or len(parts) > 2)
        return () if is_ours else None


def is_quoted(dotted: str, quotes: Collection[str]) -> bool:
    """Whether a quotation holds a dotted name, two parts of it that follow each other, or both parts of its module.

    >>> is_quoted("shop.ledger.record", ["from shop import ledger"]), is_quoted("shop.ledger.record", ["record(order)"])
    (True, False)
    """
    parts = dotted.removeprefix("module ").split(".")
    pairs = {f"{left}.{right}" for left, right in pairwise(parts)}
    for line in (line for quote in quotes for line in quote.split("\n")):
        words = re.findall(r"[\w.]{1,200}", line)
        said = {word for whole in words for word in whole.split(".")}
        if any(f".{pair}." in f".{word}." for word in words for pair in pairs) or set(parts[:2]) <= said:
            return True
        if len(parts) > 2 and set(parts[1:]) <= said:
            return True
    return False
