"""Reads an alert from the message that a monitoring tool posted. Pure, linear, and never fails.

An alert fires unless there is evidence of the opposite, looked for in this order: a state word at a title's start; a
status field; a state word at a title's end, after is or was, or beside "alert"; the sign a title begins with; green.
Annotations are prose and are not looked at. The words stand in alerts.yml.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from bot.domain.alerts import Alert, AlertState
from bot.domain.severity import Severity
from bot.domain.table_files import load_table
from bot.domain.text.linear_patterns import LinearPattern
from bot.intake.alert_parts import AlertParts, take_apart
from bot.intake.fingerprints import Normaliser, fingerprint

_TABLE: Final[dict[str, Any]] = load_table(__file__, "alerts.yml")


def _words(text: str | list[str]) -> list[str]:
    joined = text if isinstance(text, str) else ", ".join(text)
    return [word.strip() for word in joined.split(",")]


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(word.replace(".", r"\.") for word in sorted(words, key=len, reverse=True)) + ")"


_STATES: Final = {word: AlertState(state) for state, words in _TABLE["states"].items() for word in _words(words)}
_SIGNS: Final = {sign: AlertState(state) for state, signs in _TABLE["signs"].items() for sign in signs.split()}
_SEVERITIES: Final = {word: Severity(name) for name, words in _TABLE["severities"].items() for word in _words(words)}
_TOOLS: Final[dict[str, str]] = {name: tool for tool, names in _TABLE["tools"].items() for name in _words(names)}
_WATCHDOGS: Final = frozenset(_words(_TABLE["watchdogs"]))
_STATUS_KEYS, _SEVERITY_KEYS = frozenset(_words(_TABLE["status_keys"])), frozenset(_words(_TABLE["severity_keys"]))
_NAME_KEYS, _LABEL_KEYS = _words(_TABLE["name_keys"]), frozenset(_words(_TABLE["label_keys"]))
_NORMALISER: Final = Normaliser(_TABLE["units"].split())

_WORD: Final = rf"(?P<word>{_any(_STATES)})"
_NOUN: Final = _any(_words(_TABLE["nouns"]))
_RUN: Final = _any(_words(_TABLE["runs"]))
_SEVERITY: Final = rf"(?P<severity>{_any(_SEVERITIES)})"
_VERB: Final = r"(?:is|are|was|were|has|have|been|marked as)(?:\s(?:now|back|been|again|marked as))*"
_AFTER: Final = (
    r"(?P<rest>(?:[.!:,(]|\s(?:by|after|at|in|for|with|on|via|until|to [@#]|due|because|since|again|\()).*|\s*)$"
)
_LED: Final = LinearPattern(
    r"^(?:[\p{So}\p{Sk}\x{FE0F}\x{200D}\x{2139}\x{203C}\s]+|(?P<code>:[a-z][a-z0-9_+-]*:)|"
    rf"\[{_SEVERITY}\])",
    ignore_case=True,
)
_SEVERE_START: Final = LinearPattern(
    rf"^(?:{_SEVERITY}(?:\s*[|:–—]|\s+-\s|\s+(?:priority|severity|urgency)\b)|"
    rf"(?:priority|severity|urgency)\s+(?P<severity2>{_any(_SEVERITIES)})\b)(?P<rest>.*)$",
    ignore_case=True,
)
_TAGGED: Final = LinearPattern(rf"[\[( ,]{_SEVERITY}[\]),]", ignore_case=True)
_AT_START: Final = tuple(
    LinearPattern(pattern, ignore_case=True)
    for pattern in (
        rf"^\[\s*{_WORD}(?:[^\w\]{{][^\]{{]*)?(?P<scope>\{{[^\]]*\}})?[^\]]*\](?P<rest>.*)$",
        rf"^{_WORD}(?:\s+{_NOUN})?(?:\sin(?:\s\d+(?:\.\d+)?\s?[a-z]+)+)?(?:\s#\d+)?(?:\s*[:|–—]|\s+-\s|\s*$)(?P<rest>.*)$",
        rf"^{_WORD}(?:\s+{_NOUN})?\s+#\d+(?P<rest>.*)$",
        rf"^{_WORD}\s+by\s@",
    )
)
_ELSEWHERE: Final = tuple(
    LinearPattern(pattern, ignore_case=ignore_case)
    for pattern, ignore_case in (
        (rf"^(?P<before>.*?)\[\W*{_WORD}\s*\]", True),
        (rf"^(?P<before>.*?)\s#\d+\s(?:-\s)?{_WORD}\b", True),
        (rf"^(?:.*?\s)?{_NOUN}\s(?:#\d+\s)?(?:{_VERB}\s)?{_WORD}\b(?P<rest>.*)$", True),
        (rf"^(?:.*?\s)?{_WORD}\s(?:the\s|this\s|an?\s)?{_NOUN}\b(?P<rest>.*)$", True),
        (rf"^{_RUN}\s{_WORD}{_AFTER}", True),
        (rf"^(?:.*\s)?marked\s(?P<before>\S{{1,80}})\sas\s{_WORD}{_AFTER}", True),
        (rf"^(?P<before>.*?)\s?\b{_VERB}\s(?:successfully\s)?{_WORD}{_AFTER}", True),
        (rf"^(?P<before>.*?)(?:\s[-–—|]|:|\s[(\[])\s*(?P<word>(?i:{_any(_STATES)}))[)\].!]*$", False),
    )
)
_CAPITAL: Final = LinearPattern(r"\p{Lu}")
_BACKWARD: Final = LinearPattern(r"(?:→|➜|⇒|->|=>)\s*")
_STATUS: Final = LinearPattern(rf"^\W*{_WORD}(?:\W*$|\s*[(:,-]|\s(?:by|at|on|since|for|in)\s)", ignore_case=True)
_CUT: Final = LinearPattern(
    r"\s-\s+Reason\b.*|\s-\s*#\d+.*|[.!]\s+\p{Lu}.*|\sby\s\S{1,60}(?:\s\S{1,60})?\s\([\w.-]+\)$"
)
_LABELLED: Final = LinearPattern(rf"^{_NOUN}\s?(?:#\d+)?\s*[:|-]\s*|^#\d+:?\s*|\s#\d+", ignore_case=True)
_NAMED_TOOL: Final = LinearPattern(
    rf"\b{_any(_TOOLS)}\b(?:\s(?:alert|alerts|issue|event|notification))?", ignore_case=True
)
_LETTER: Final = LinearPattern(r"\pL")


class _Rank(IntEnum):
    """How good the evidence of a state is, best first."""

    START = 0
    FIELD = 1
    WORD = 2
    SIGN = 3
    COLOUR = 4
    NONE = 5


class _Title(NamedTuple):
    """What a title says: a state and how surely, the alert's name without it, and a severity."""

    rank: _Rank
    state: AlertState
    name: str
    severity: Severity | None


def read_alert(message: Mapping[str, Any], *, tool: str | None = None) -> Alert | None:
    """Return the alert that a message event is about; None for what a person wrote, and for an empty message.

    Args:
        message: Slack's message event; of an edit the new message.
        tool: The tool that the settings name for the bot.
    """
    is_bot = message.get("bot_id") or message.get("app_id") or message.get("subtype") == "bot_message"
    if message.get("user") and not is_bot:
        return None
    parts = take_apart(message)
    titles = [_read_title(title) for title in parts.titles]
    name = next((title.name for title in titles if title.name), "") or _name_of_fields(parts)
    text = "\n".join([*parts.titles, *(f"{key}: {value}" for key, value in parts.fields)])
    if not text:
        return None
    tool = tool or _tool_of(parts)
    return Alert(
        tool=tool,
        state=_state(parts, titles, name),
        name=name or tool,
        fingerprint=fingerprint([tool, _NORMALISER.normalise(name), *_labels(parts)]),
        severity=_severity(parts, titles),
        text=text,
    )


def _state(parts: AlertParts, titles: list[_Title], name: str) -> AlertState:
    if any(each.casefold() in _WATCHDOGS for each in (name, name.partition(" (")[0])):
        return AlertState.INFO
    found = [(title.rank, title.state) for title in titles]
    for mark in map(_read_title, parts.marks):
        found.append((max(mark.rank, _Rank.FIELD), mark.state) if not mark.name else (_Rank.NONE, AlertState.FIRING))
    fields = [state for key, value in parts.fields if key in _STATUS_KEYS and (state := _state_of_value(value))]
    if fields:
        found.append((_Rank.FIELD, AlertState.FIRING if AlertState.FIRING in fields else fields[0]))
    if _is_green(parts.colour):
        found.append((_Rank.COLOUR, AlertState.RESOLVED))
    return min(found, key=lambda each: each[0], default=(_Rank.NONE, AlertState.FIRING))[1]


def _read_title(title: str) -> _Title:
    """Take a title's state and severity off it."""
    sign, severity, rest = _without_leading(title)
    nameless = " ".join(_removed(_NAMED_TOOL, rest).split())
    rest = nameless if nameless.casefold() in _STATES or not _LETTER.is_in(nameless) else rest
    for rank, patterns in ((_Rank.START, _AT_START), (_Rank.WORD, _ELSEWHERE)):
        for pattern in patterns:
            for _, _, found in pattern.matches(rest):
                word, left = found["word"], found.get("rest", "").strip()
                if pattern is _ELSEWHERE[-1] and not _CAPITAL.is_in(word[0]):
                    continue
                before = found.get("before", "") if not left.startswith(":") else ""
                kept = before or (f"{found.get('scope', '')} {left}" if rank is _Rank.START else _named_after(left))
                return _Title(rank, _STATES[word.casefold()], _name(kept), severity)
    return _Title(_Rank.SIGN if sign else _Rank.NONE, sign or AlertState.FIRING, _name(rest), severity)


def _without_leading(title: str) -> tuple[AlertState | None, Severity | None, str]:
    """Return the state of the sign a title begins with, its severity, and the title without these."""
    sign, severity, rest = None, None, title
    for _ in range(6):
        for _start, stop, found in _LED.matches(rest):
            lead, rest = rest[:stop].replace("\ufe0f", ""), rest[stop:]
            sign = sign or next((_SIGNS[each] for each in [lead.casefold(), *lead] if each in _SIGNS), None)
            severity = severity or _SEVERITIES.get(found.get("severity", "").casefold())
            break
        else:
            break
    for _, _, found in _SEVERE_START.matches(rest):
        word = found.get("severity") or found["severity2"]
        severity, rest = severity or _SEVERITIES[word.casefold()], found["rest"].strip(" -")
    for _, _, found in _TAGGED.matches(title):
        severity = severity or _SEVERITIES[found["severity"].casefold()]
    return sign, severity, rest


def _named_after(rest: str) -> str:
    """Return the name behind a state word: after a colon or a dash, or in quotes."""
    behind = rest.lstrip()
    _, colon, named = behind.partition(":")
    if behind[:1] in ':-–—|"“':
        return behind.lstrip(":-–—| ")
    return named if colon and behind.startswith(("in ", "on ")) else ""


def _name(text: str) -> str:
    """Return a name without counts, reasons and authors behind it; empty if it names only the tool."""
    plain = text.translate({ord(quote): None for quote in '"“”„'}).strip(" :-–—|")
    named = " ".join(_removed(_LABELLED, _removed(_CUT, plain)).split()).strip(" .:-–—|")
    if named.startswith("[") and named.find("]") == len(named) - 1:
        named = named[1:-1]
    return named if _LETTER.is_in(_removed(_NAMED_TOOL, named)) else ""


def _name_of_fields(parts: AlertParts) -> str:
    by_key = dict(reversed(parts.fields))
    first_label = next((value for key, value in parts.fields if key in _LABEL_KEYS), "")
    return next((by_key[key] for key in _NAME_KEYS if key in by_key), "") or first_label or next(iter(parts.titles), "")


def _state_of_value(value: str) -> AlertState | None:
    """Return the state that the whole of a field's value names; of a change the new one."""
    last = [stop for _, stop in _BACKWARD.spans(value)][-1:] or [0]
    for _, _, found in _STATUS.matches(value[last[0] :]):
        return _STATES[found["word"].casefold()]
    return None


def _labels(parts: AlertParts) -> Iterator[str]:
    """Yield the labels that name the thing; one that comes with several values names none."""
    pairs = {(key, _NORMALISER.normalise(value)) for key, value in parts.fields if key in {*_LABEL_KEYS, *_NAME_KEYS}}
    count = Counter(key for key, _ in pairs)
    yield from sorted(f"{key}={value}" for key, value in pairs if count[key] == 1)


def _severity(parts: AlertParts, titles: list[_Title]) -> Severity:
    for key, value in parts.fields:
        if key in _SEVERITY_KEYS:
            words = "".join(each if each.isalnum() or each == "-" else " " for each in value.casefold()).split()
            if found := next((_SEVERITIES[word] for word in words if word in _SEVERITIES), None):
                return found
    return next((title.severity for title in titles if title.severity), Severity.ACT)


def _tool_of(parts: AlertParts) -> str:
    for speaker in parts.speakers:
        for start, stop in _NAMED_TOOL.spans(speaker):
            found = speaker[start:stop].casefold()
            return next(tool for name, tool in _TOOLS.items() if found.startswith(name))
    return ""


def _is_green(colour: str) -> bool:
    """Whether green outweighs red by a third and is not outweighed by blue; "good" is Slack's green.

    >>> [_is_green(each) for each in ("good", "#2eb886", "#3498db", "#dddddd", "#daa038", "")]
    [True, True, False, False, False, False]
    """
    digits = colour.lstrip("#")
    if len(digits) != 6 or not all(each in "0123456789abcdef" for each in digits):
        return colour == "good"
    red, green, blue = (int(digits[at : at + 2], 16) for at in (0, 2, 4))
    return green > red * 4 / 3 and green > blue


def _removed(pattern: LinearPattern, text: str) -> str:
    kept, last = [], 0
    for start, stop in pattern.spans(text):
        kept.append(text[last:start])
        last = stop
    return "".join([*kept, text[last:]])
