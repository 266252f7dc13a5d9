"""Texts made to hurt patterns, and the public functions that are given text or lines, whatever plain things beside."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from bot.domain import events
from bot.domain.citations.prose_spans import Spans, spans_of
from bot.domain.citations.verbatim_quotes import flaw_of
from bot.domain.playbook import Playbook, parse
from bot.domain.search.stack_frames import StackFrame
from bot.domain.threads import QuestionType
from bot.domain.tiers import Tier
from bot.intake.classifier.rules import Rules

PACKAGES: Final = ("bot.domain", "bot.intake", "bot.casework", "bot.heartbeat", "bot.agent", "blocks")
SEEDS: Final = (
    "eyJ-",
    "eyJ.",
    "eyJ",
    "sk-",
    "sk-a",
    "sk_live_",
    "xoxb-",
    "glpat-",
    "ghp_",
    "s.",
    "pat",
    "hvs.",
    "$1$",
    "AC",
    "==",
    "password=",
    "password: a1",
    "auth:",
    "?sig=",
    "&key=",
    "token \\",
    "bearer ",
    "Authorization: ",
    "a://",
    "a://a:",
    "curl ",
    "curl -u a:",
    "mysql -p",
    "docker login ",
    "echo a | ",
    "identified by '",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\nAa: ",
    "PRIVATE KEY",
    "a:1:",
    "x",
    "A",
    " ",
    "\n",
    "\t",
    "\r",
    "\r\n",
    "0",
    "0f",
    "a.",
    "a-",
    "a ",
    "a\n",
    "/",
    "a/",
    "a.py:1 ",
    "a.py:1-2, ",
    "[",
    "](",
    "[a](",
    "![",
    "<",
    "<!",
    "<@U1",
    "<https://a|",
    "&lt;",
    "&amp;",
    "(",
    "((",
    "{",
    '{"',
    '{"a":',
    '"',
    "'",
    "`",
    "```",
    "```\n",
    "~~~\n",
    "*",
    "**",
    "**a",
    "_a",
    "__",
    "~",
    ">",
    "> ",
    "# ",
    "- [ ] ",
    "- [x] ",
    "- ",
    "1. ",
    "* * ",
    "|",
    "|-",
    "a|b\n",
    "---\n",
    "===\n",
    "\\",
    "\\\\",
    "<!--",
    "-->",
    "<div>",
    ":",
    ":a",
    ":a: ",
    "@",
    "@a",
    "!",
    "?",
    "? ",
    "not ",
    "no errors ",
    "error ",
    "failed, ",
    "why ",
    "please ",
    "thanks ",
    "HEARTBEAT_OK",
    "HEARTBEAT_OK ",
    "HEARTBEAT_OK. ",
    "<tag>",
    "/*",
    "*/",
    "é",
    "日本",
    "\u3002",
    "\u200b",
    "\u0301",
    "\u2028",
    "\U0001f600",
    "\ud800",
    "aA",
    "a_b",
    "aB1",
    "9m ",
    "1h",
    "2026-11-20T",
    "1.",
    ", ",
    "a, ",
    "; ",
    "and ",
    "--",
    "--a ",
    "$(",
    "%3D",
    "\\n",
    "\x00",
    "https://",
    "https://a.b/",
    "a@b.",
    "www.a.",
    "#1 ",
    "`a` ",
    "a: ",
    "a = ",
    "def a():\n",
    "+",
    "@@ -1 +1 @@\n",
    "_a_",
)


_TEXT: Final = (str, str | None)
_NOW: Final = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
_LINES: Final = (Sequence[str], Iterable[str], Collection[str])
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_PLAIN: Final[dict[Any, Any]] = {
    **dict.fromkeys(_TEXT, "x"),
    **dict.fromkeys(_LINES, ("x",)),
    Rules: Rules(),
    Playbook: parse(""),
    Tier: Tier.QUICK,
    frozenset[str]: frozenset({"x"}),
    bool: False,
    int: 80,
    float: 1.0,
    datetime: _NOW,
    datetime | None: None,
    date: _NOW.date(),
    timedelta: timedelta(hours=1),
    QuestionType: QuestionType.TECHNICAL_QA,
    Spans: spans_of("a.py", "x = 1"),
    StackFrame: StackFrame(path="a.py", line=1, function="f"),
}
"""What the other arguments of a function are while one is hostile, by their types."""


def text_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the name of each such function, and a call of it that gives a text to each required argument in turn.

    The others are short meanwhile: what puts one text before every line of another is as long as both say.
    """
    for name, function in _public_functions():
        kinds = _required(function)
        if kinds and all(_is_plain(kind) for kind in kinds.values()) and _outside(kinds):
            yield name, _given_text(function, kinds)
    yield f"{flaw_of.__module__}.flaw_of", _quote_line


def _quote_line(text: str) -> Any:
    """Quote a text whose brackets all close out of a line that holds more."""
    quote = text + "".join(_CLOSING[char] for char in reversed(text) if char in _CLOSING)
    line = f"x = {quote}"
    return flaw_of(quote, [line], spans_of("a.py", line))


def _is_plain(kind: Any) -> bool:
    return kind in _PLAIN or _empty(kind) is not None


def _empty(kind: Any) -> Any:
    """Return nothing in the shape of a collection; None for other types."""
    shape = typing.get_origin(kind)
    if shape in {Sequence, Iterable, Collection, tuple}:
        return ()
    return {} if shape in {Mapping, dict} else None


def _public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
                if function.__module__ == module.name and not name.startswith("_"):
                    yield f"{module.name}.{name}", function


def _outside(kinds: dict[str, Any]) -> list[str]:
    return [name for name, kind in kinds.items() if kind in (*_TEXT, *_LINES)]


def _given_text(function: Callable[..., Any], kinds: dict[str, Any]) -> Callable[[str], Any]:
    plain = {name: _PLAIN[kind] if kind in _PLAIN else _empty(kind) for name, kind in kinds.items()}

    def call(text: str) -> Any:
        for name in _outside(kinds):
            done = function(**{**plain, name: text if kinds[name] in _TEXT else text.split("\n")})
            if isinstance(done, Iterator):
                list(done)

    return call


def _required(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the required arguments by their names; none if it cannot be called by names."""
    required = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    hints = typing.get_type_hints(function, localns=vars(events))  # imported for types alone, see classify-start.md
    is_plain = all(one.kind in {one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY} for one in required)
    return {one.name: hints[one.name] for one in required} if is_plain else {}
