"""Patterns that RE2 runs: no backtracking, so that no text makes them slow.

Source: https://github.com/google/re2/wiki/Syntax; there is no look-around, and `\\w`, `\\b` and `\\d` know ASCII only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import re2

_LATIN_WITH_MARKS: Final = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_MARKS: Final = re.compile("[\u0300-\u036f]")
_BYTES_PER_CHAR: Final = 100
"""Memory that RE2 may use for a character of a pattern, on top of what it may use for any."""


class LinearPattern:
    """A pattern in RE2's syntax, compiled when it is first used; `$` and `^` mean the ends of the text."""

    def __init__(self, pattern: str, *, ignore_case: bool = False) -> None:
        self._pattern = pattern
        self._ignore_case = ignore_case

    @cached_property
    def _compiled(self) -> Any:
        options = re2.Options()
        options.case_sensitive = not self._ignore_case
        options.log_errors = False
        return re2.compile(self._pattern, options)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each match; matches do not overlap.

        >>> list(LinearPattern("a+").spans("baac a"))
        [(1, 3), (5, 6)]
        """
        # of ASCII the places of bytes are those of characters, so none has to be counted
        for match in self._compiled.finditer(text.encode() if text.isascii() else encodable(text)):
            yield match.span()

    def matches(self, text: str) -> Iterator[tuple[int, int, dict[str, str]]]:
        """Yield the start, the end and the named groups of each match; a group that took no part is left out.

        >>> list(LinearPattern("(?P<key>[a-z])=(?P<value>[0-9])?").matches("a=1 b="))
        [(0, 3, {'key': 'a', 'value': '1'}), (4, 6, {'key': 'b'})]
        """
        for match in self._compiled.finditer(encodable(text)):
            groups = {name: value for name, value in match.groupdict().items() if value is not None}
            yield (*match.span(), groups)

    def replaced(self, text: str, by: str) -> str:
        r"""Return a text with `by` in place of each match; `\g<name>` in it stands for a group.

        >>> LinearPattern("(?P<first>[a-z])[0-9]+").replaced("a12, b3", r"\g<first>")
        'a, b'
        """
        changed: str = self._compiled.sub(by, encodable(text))
        return changed

    def is_in(self, text: str | bytes) -> bool:
        """Whether it matches anywhere; who asks several patterns about one text may give it as UTF-8."""
        return self._compiled.search(_utf8(text) if isinstance(text, str) else text) is not None


class LinearSet:
    """Many patterns without repeats, such as phrases, asked about in one pass of one automaton.

    Compiled when first used. Patterns with repeats would give it too many states.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)

    @cached_property
    def _set(self) -> Any:
        options = re2.Options()
        options.max_mem += _BYTES_PER_CHAR * sum(map(len, self._patterns))
        found = re2.Set.SearchSet(options)
        for pattern in self._patterns:
            found.Add(pattern)
        found.Compile()
        return found

    def found_in(self, text: str) -> Sequence[int]:
        """Return the numbers of the patterns that match anywhere, counted from 0, in no order.

        >>> LinearSet(["an? apple", "pear"]).found_in("2 pears")
        [1]
        """
        return (self._set.Match(_utf8(text)) or ()) if self._patterns else ()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def encodable(text: str) -> str:
    """Return a text of the same length that UTF-8 can hold: a lone surrogate becomes `?`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


def folded(text: str) -> str:
    """Return a text in small letters, without accents on Latin letters and with straight apostrophes.

    RE2's `\\w` and `\\b` know ASCII only; of a folded text in Latin letters that is all there is.

    >>> folded("Lösche die Größe, où ça?")
    'losche die grosse, ou ca?'
    """
    plain = unicodedata.normalize("NFKC", text.replace("’", "'")).casefold()
    return _LATIN_WITH_MARKS.sub(_without_marks, plain)


def _without_marks(letter: re.Match[str]) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFD", letter[0]))
