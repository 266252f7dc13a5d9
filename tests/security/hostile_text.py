"""Texts made to hurt patterns, and every public function of the project that is given nothing but text."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator
from typing import Any, Final

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


def text_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the name of each such function, and a call of it that gives a text to each required argument in turn.

    The others are short meanwhile: what puts one text before every line of another is as long as both say.
    """
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            found = inspect.getmembers(importlib.import_module(module.name), inspect.isfunction)
            for name, function in found:
                if function.__module__ == module.name and not name.startswith("_") and _texts_of(function):
                    yield f"{module.name}.{name}", _given_text(function, _texts_of(function))


def _given_text(function: Callable[..., Any], names: list[str]) -> Callable[[str], Any]:
    def call(text: str) -> Any:
        for name in names:
            done = function(**{**dict.fromkeys(names, "x"), name: text})
            if isinstance(done, Iterator):
                list(done)

    return call


def _texts_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of the required arguments if all are texts, else nothing."""
    required = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    hints = typing.get_type_hints(function)
    is_plain = all(one.kind in {one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY} for one in required)
    return (
        [one.name for one in required]
        if is_plain and all(hints[one.name] in (str, str | None) for one in required)
        else []
    )
