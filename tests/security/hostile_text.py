"""Texts made to hurt patterns, and the public functions that are given text or lines, whatever plain things beside."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final

from slack_sdk.models.blocks import Block

from blocks.text.outgoing_text import section
from bot.casework.approvers import ApproverList
from bot.casework.investigate.quotes import settings_in
from bot.casework.reports.metrics_report import MetricsReport
from bot.domain.citations.citation_lines import Scan
from bot.domain.events import Event
from bot.domain.patches import FileChange, FixRefused, check_changes, forms_of
from bot.domain.playbook import Playbook, parse
from bot.domain.search.definitions import definitions_in
from bot.domain.search.stack_frames import StackFrame
from bot.domain.threads import QuestionType
from bot.domain.tiers import Tier
from bot.heartbeat.run.probes import OUTPUT_BYTES, ProbeResult
from bot.intake.classifier.classification import Rules, classify, ngrams_of
from bot.intake.classifier.scorer import Weights, shipped_weights
from bot.ports import Documents
from bot.ports.system import Replica

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
    "a,password\n",
    'password,"a""\n',
    "password|a\n|\n",
    "insert into t (a,jwt) values ('",
    "password=a1",
    "line eighty-",
    "one hundred and ",
    "@8",
    ".py@8",
    "first 9 lines of ",
    "88. ",
    "Makefile ",
    "第八",
    "line 1 ",
    "1:",
    "abcdef1 ",
    "#L1",
    "a 1.0\n",
    "<details>",
    "Error",
    "x\n",
    "_a№ ",
    "`a№` ",
    "a_№.",
    "a№ ",
    "-a№",
    "# a№\n",
    "- a№\n",
    "#0 ",
    "at x(",
    "at (a)/",
    "❯ a ",
    "\\n  ",
    "\\na",
    'File "a\n',
    "at a(\n",
    " Caused by: ",
    "  File ",
    "../",
    "-+",
    "--- a\n+++ b\n",
    "\u202e",
    "diff --git a/… b/",
    '--- "…shop:',
    '--- "a/…\\303',
    "<b>",
    "</b",
    "\t\r",
    "HEARTBEAT_OK… …x",
    "HEARTBEAT_OK…\n…x",
    "x…<b>…HEARTBEAT_OK",
    "x…:…x",
    "x…!…x",
    "x… …x",
    "x…-…x",
    "x…HEARTBEAT_OK …x",
    "1",
    "-a",
    "a=",
    "0x",
    "12:",
    "how come ",
    "is ",
    "how many ",
    "what ",
    "a_",
    "status of ",
    "delete ",
    "add code ",
    "drop ",
    "you should ",
    "Traceback (most recent call last):\n",
    " \n",
    "Caused by:\n",
    "Error Error…x\n",
    "www.",
    "%25",
    "[.]",
    "xn--",
    "://",
    " .",
    "\u2024",
    "&#",
    "✓",
    ":check",
    "::x",
    "**a ",
    "![(",
    "_*",
    "<a ",
    "`a",
    "```a\n",
    "```…a",
    "``` \n\n",
    "1 …m1 ",
    "keine x mehr ",
    "error, ",
    "残り2 ",
    "没有",
    "エラー",
    "in shop ",
    "stop checking ",
    "watch ",
    "a.b(",
    "a ? b : ",
    "is the api ",
    "prod is ",
    "if prod ",
    "thanks for ",
    "danke für ",
    "ok ",
    "is there a way ",
    "this is why is ",
    "pizza ",
    "想",
    "ランチ",
    "あ",
    "...",
    "a'a ",
    "？",
    "a1",
    "9.",
    "1 s",
    "f-",
    "[1",
    "=1:",
    "0000-0",
    "\n1 ",
    "1/",
    "lag: 1",
    "2026-11-21 10:00 ",
    "public ",
    "x(",
    '"""\\',
    "export …type ",
    "int a ",
    "public \n",
    "int a(\n",
    "- ```\n",
    "```js\n",
    "````js\n```\n",
    "<!-- x\n",
    "- [ ] a <!--\n",
    "` <!-- ",
    "- [ ] task\n",
)
"""What a text repeats; see `text_of` for what … and № mean."""


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
    StackFrame: StackFrame(path="a.py", line=1, function="f"),
    Sequence[Block]: (section("x"),),
}
"""What the other arguments of a function are while one is hostile, by their types."""
_BY_FUNCTION: Final[dict[str, dict[str, Any]]] = {
    "definition_end": {"line": 1},
    "first_attached": {"at": 1},
    "parse_number": {"word": "1"},
    "parse_tier": {"word": "quick"},
    "watch_line": {"transcript": "/srv/triage/escalations/T1.C1.1/transcript.log"},
}
"""The same for functions that would refuse those above before they look at the text."""
_OURS: Final = {
    *("load_table(module)", "load_table(name)"),
    *("queue_order(name)", "shipped(section)"),
    *("days_between(first)", "days_between(last)"),
}
"""What names a file, a setting, a day, a zone or a command of the bot's own: nobody outside writes it."""
CHECKS: Final = {
    *("check_fix_id(given)", "check_session_id(session_id)", "check_note_path(path)"),
    *("check_auto_reply_id(text)", "check_feedback_id(given)", "check_suggestion_id(suggestion_id)"),
    *("check_thread_id(thread_id)", "parse_interval(text)", "parse_number(word)", "parse_tier(word)"),
    *("task_of(shown)", "shipped(languages)"),
}
"""What looks for one short form: it reads a hostile text and refuses it."""
_PATHS: Final = ("a.py", "a.ts", "a.go", "a.java", "a.cpp", "a.rs", "a.sql", "a.kt", "a.toml", "a.yml", "a.sh", "a.md")


def text_of(seed: str, size: int) -> str:
    """Return a text of so many characters that repeats a seed, or its middle where … parts it; № counts.

    >>> text_of("ab", 5), text_of("x…- ", 6), text_of("<…a№,…>", 8)
    ('ababa', 'x- - -', '<a0,a1,>')
    """
    before, unit, after = _parts(seed)
    room = max(0, size - len(before) - len(after))
    if "№" not in unit:
        return before + (unit * (room // len(unit) + 1))[:room] + after
    counted = "".join(unit.replace("№", str(number)) for number in range(room // len(unit) + 1))
    return before + counted[:room] + after


def text_functions() -> Iterator[tuple[str, Callable[[str], Any]]]:
    """Yield the name of each argument of text of such a function, and a call that gives it a text.

    The others are short meanwhile: what puts one text before every line of another is as long as both say.
    """
    for name, function in _public_functions():
        kinds = _required(function)
        if kinds and all(_is_plain(kind) for kind in kinds.values()):
            for given in _outside(kinds):
                if f"{function.__name__}({given})" not in _OURS:
                    yield f"{name}({given})", _given_text(function, kinds, given)
    yield from _by_hand()


def _by_hand() -> Iterator[tuple[str, Callable[[str], Any]]]:
    """Yield what the types alone do not tell how to call."""
    for path in _PATHS:
        yield f"{definitions_in.__module__}.definitions_in({path})", partial(_definitions, path)
        yield f"{settings_in.__module__}.settings_in({path})", partial(_settings, path)
        yield f"{Scan.__module__}.Scan({path})", partial(_scanned, path)
    yield f"{forms_of.__module__}.forms_of", forms_of
    yield f"{check_changes.__module__}.check_changes", _refused
    yield f"{classify.__module__}.classify", _classified
    yield f"{Weights.__module__}.Weights.probability", _scored
    yield f"{Playbook.__module__}.Playbook.with_boxes", _ticked
    yield f"{ProbeResult.__module__}.ProbeResult.digest", _digested


def _scanned(path: str, text: str) -> Any:
    lines = text.split("\n")
    return Scan(path, lines).widened(1, len(lines))


def _definitions(path: str, text: str) -> Any:
    return definitions_in(path, text.split("\n"))


def _settings(path: str, text: str) -> Any:
    lines = text.split("\n")
    return settings_in(path, lines, definitions_in(path, lines))


def _refused(text: str) -> None:
    change = FileChange(text, "100644", "100644", 1, 1)
    with suppress(FixRefused):
        check_changes([change], text, ())


def _classified(text: str) -> Any:
    event = Event(
        team_id="T1", chat_id="C1", message_id="1.2", create_time=_NOW.isoformat(), sender={"id": "U9"}, content=text
    )
    return classify(event, _PLAIN[Rules], inflight=True)


def _scored(text: str) -> Any:
    return shipped_weights().probability(ngrams_of(text))


def _ticked(text: str) -> Any:
    playbook = parse(f"## Quick\n{text}")
    ticked = playbook.with_boxes([(task, True) for task in playbook.tasks(Tier.QUICK)])
    return ticked.with_stamps((Tier.QUICK,), _NOW).render()


def _digested(text: str) -> Any:
    output = text[:OUTPUT_BYTES]
    problem = f"`./check all` failed: {output}"
    return ProbeResult(argv=("./check", "all"), output=output, exit_code=1, seconds=0.1, problem=problem).digest


def _parts(seed: str) -> tuple[str, str, str]:
    match seed.split("…"):
        case [before, unit, after]:
            return before, unit, after
        case [before, unit]:
            return before, unit, ""
        case _:
            return "", seed, ""


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


def _given_text(function: Callable[..., Any], kinds: dict[str, Any], given: str) -> Callable[[str], Any]:
    plain = {name: _PLAIN[kind] if kind in _PLAIN else _empty(kind) for name, kind in kinds.items()}
    plain |= _BY_FUNCTION.get(function.__name__, {})

    def call(text: str) -> Any:
        done = function(**{**plain, given: text if kinds[given] in _TEXT else text.split("\n")})
        return list(done) if isinstance(done, Iterator) else done

    return call


def _required(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the required arguments by their names; none if it cannot be called by names."""
    required = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    named = {one.__name__: one for one in (ApproverList, Documents, MetricsReport, Replica)}  # imported for types alone
    hints = typing.get_type_hints(function, localns=named)
    is_plain = all(one.kind in {one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY} for one in required)
    return {one.name: hints[one.name] for one in required} if is_plain else {}
