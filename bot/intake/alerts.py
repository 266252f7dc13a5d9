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
from bot.domain.secrets import redact
from bot.domain.severity import Severity
from bot.domain.table_files import load_table
from bot.domain.text.linear_patterns import LinearPattern
from bot.intake.alert_parts import AlertParts, take_apart
from bot.intake.fingerprints import Normaliser, fingerprint
from bot.intake.message_text import read_message

_TABLE: Final[dict[str, Any]] = load_table(__file__, "alerts.yml")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _by_word(table: Mapping[str, str]) -> dict[str, str]:
    return {word: key for key, words in table.items() for word in _words(words)}


def _any(words: Iterable[str]) -> str:
    """Return a pattern of these words; the longest that fits is found."""
    return "(?:" + "|".join(word.replace(".", r"\.") for word in sorted(words, key=len, reverse=True)) + ")"


def _pattern(pattern: str) -> LinearPattern:
    return LinearPattern(pattern, ignore_case=True)


_STATES: Final = {word: AlertState(state) for word, state in _by_word(_TABLE["states"]).items()}
_SIGNS: Final = {sign: AlertState(state) for state, signs in _TABLE["signs"].items() for sign in signs.split()}
_SEVERITIES: Final = {word: Severity(severity) for word, severity in _by_word(_TABLE["severities"]).items()}
_TOOLS: Final = _by_word(_TABLE["tools"])
_WATCHDOGS: Final = frozenset(_words(_TABLE["watchdogs"]))
_STATUS_KEYS: Final = frozenset(_words(_TABLE["status_keys"]))
_SEVERITY_KEYS: Final = frozenset(_words(_TABLE["severity_keys"]))
_NAME_KEYS: Final = _words(_TABLE["name_keys"])
_LABEL_KEYS: Final = frozenset([*_words(_TABLE["label_keys"]), *_NAME_KEYS])
_NORMALISER: Final = Normaliser(_TABLE["units"].split())

_WORD: Final = rf"(?:auto-?|automatically\s)?(?P<word>{_any(_STATES)})"
_NOUN: Final = _any(_words(_TABLE["nouns"]))
_RUN: Final = _any(_words(_TABLE["runs"]))
_SEVERITY: Final = rf"(?P<severity>{_any(_SEVERITIES)})"
_NUMBERED: Final = r"(?:#\d+|(?-i:[A-Z]{2,}-\d+))"
_VERB: Final = (
    r"(?:is|are|was|were|has|have|been|went|came|marked as)(?:\s(?:now|back|been|again|marked as|successfully))*"
)
_BEFORE: Final = "(?P<before>.*?)"
_REST: Final = "(?P<rest>.*)$"
_SENTENCE_ENDS: Final = (
    r"(?P<rest>(?:[.!:,(]|\s(?:by|after|at|in|for|with|on|via|until|to [@#]|due|because|since|again|\()).*|\s*)$"
)

_LEADING: Final = _pattern(
    r"^(?:[\p{So}\p{Sk}\x{FE0F}\x{200D}\x{2139}\x{203C}\s-]+|:[a-z][a-z0-9_+-]*:|"
    rf"\[?{_SEVERITY}(?:\]|\s*[|:–—]|\s+-\s|\s+(?:priority|severity|urgency)\b))"
)
"""A sign, or a severity, that a title begins with."""

_TAGGED: Final = _pattern(rf"[\[( ,]{_SEVERITY}[\]),]")

_AT_START: Final = (
    # [FIRING:2] Name, [Recovered on {host:a}] Name
    _pattern(rf"^\[\s*{_WORD}(?:[^\w\]{{][^\]{{]*)?(?P<scope>\{{[^\]]*\}})?[^\]]*\]{_REST}"),
    # Resolved in 5m 3s: Name, Triggered Incident #9: Name, Failed, Acknowledged by @U1
    _pattern(
        rf"^{_WORD}(?:\s{_NOUN})?(?:\sin(?:\s\d+(?:\.\d+)?\s?[a-z]+)+)?"
        rf"(?:\s#\d+|\s*[:|–—]|\s-\s|\s*$|\sby\s@.*){_REST}"
    ),
)
_CAPITALISED: Final = (
    LinearPattern(rf"^{_BEFORE}(?:\s[-–—|]|:|\s[(\[])\s*(?P<word>\p{{Lu}}\w*(?:\s\w+)*)[)\].!]*$"),  # Name - Resolved
    LinearPattern(rf"^{_BEFORE}\s(?P<word>[A-Z]{{2,}})(?:\s[-|]|:)\s"),  # DISK OK - 40 GB free
)
_ELSEWHERE: Final = (
    _pattern(rf"^{_BEFORE}\[\W*{_WORD}(?::\d+)?\s*\]"),  # [api] [✅ Up] 200 - OK
    _pattern(rf"^{_BEFORE}\s#\d+\s(?:-\s)?{_WORD}\b"),  # shop - #31 Failure after 3 min
    _pattern(rf"^(?:.*?\s)?{_NOUN}\s(?:{_NUMBERED}\s)?(?:{_VERB}\s)?{_WORD}\b{_REST}"),  # Alert was closed: Name
    # Ana acknowledged incident "Name"
    _pattern(rf"^(?:.*?\s)?{_WORD}\s(?:the\s|this\s|an?\s)?(?:{_NOUN}\b|{_NUMBERED}){_REST}"),
    _pattern(rf"^{_RUN}\s{_WORD}{_SENTENCE_ENDS}"),  # Build passed: Name
    _pattern(rf"^(?:.*\s)?marked\s(?P<before>\S{{1,80}})\sas\s{_WORD}{_SENTENCE_ENDS}"),
    _pattern(rf"^{_BEFORE}\s?\b{_VERB}\s{_WORD}{_SENTENCE_ENDS}"),  # Name has been resolved after 3 tries
    *_CAPITALISED,
)
_CHANGE: Final = LinearPattern("→|➜|⇒|->|=>")
_STATUS: Final = _pattern(rf"^\W*{_WORD}(?:\W*$|\s*[(:,-]|\s(?:by|at|on|since|for|in)\s)")

_BEHIND_NAME: Final = LinearPattern(
    r"\s-\s+Reason\b.*|\s-\s*#\d+.*|[.!]\s+\p{Lu}.*|\sby\s\S{1,60}(?:\s\S{1,60})?\s\([\w.-]+\)$"
)
_NO_NAME: Final = _pattern(rf'^{_NOUN}\s?(?:#\d+)?\s*[:|-]\s*|^#\d+:?\s*|\s#\d+|["“”„]')
_TOOL: Final = _pattern(rf"\b(?P<tool>{_any(_TOOLS)})\b(?:\s(?:alert|alerts|issue|event|notification))?")
_INCIDENT: Final = LinearPattern(r"#\d+")
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

    >>> read_alert({"bot_id": "B1", "text": "[RESOLVED] HighLatency (critical)"}).state
    <AlertState.RESOLVED: 'resolved'>
    """
    bot = message.get("bot_id") or message.get("app_id") or message.get("subtype") == "bot_message"
    if message.get("user") and not bot:
        return None
    text = read_message(message if isinstance(message.get("text"), str) else {**message, "text": None})
    if not text:
        return None
    parts = take_apart(message)
    titles = [_read_title(title) for title in parts.titles]
    tool = tool or next(filter(None, map(_tool_in, parts.speakers)), "")
    tool = _TOOLS.get(tool, tool)
    name = redact(next((title.name for title in titles if title.name), "") or _name_of_fields(parts) or tool)
    stays = _NORMALISER.normalise(name) or name or (bot if isinstance(bot, str) else "")
    return Alert(
        tool=tool,
        state=_state(parts, titles, name),
        name=name,
        fingerprint=fingerprint([tool.casefold(), stays, *_labels(parts, stays)]),
        severity=_severity(parts, titles),
        text=text,
    )


def _state(parts: AlertParts, titles: list[_Title], name: str) -> AlertState:
    if {name.casefold(), name.partition(" (")[0].casefold()} & _WATCHDOGS:
        return AlertState.INFO
    found = [(title.rank, title.state) for title in titles]
    marks = [mark for mark in map(_read_title, parts.marks) if not mark.name]
    found += [(_Rank.FIELD if mark.rank <= _Rank.WORD else mark.rank, mark.state) for mark in marks]
    fields = [state for key, value in parts.fields if key in _STATUS_KEYS and (state := _state_of_value(value))]
    if fields:
        found.append((_Rank.FIELD, AlertState.FIRING if AlertState.FIRING in fields else fields[0]))
    if _is_green(parts.colour):
        found.append((_Rank.COLOUR, AlertState.RESOLVED))
    return min(found, key=lambda each: each[0], default=(_Rank.NONE, AlertState.FIRING))[1]


def _read_title(title: str) -> _Title:
    """Take a title's state and severity off it."""
    sign, severity, rest = _without_leading(title)
    for _, _, tagged in _TAGGED.matches(title):
        severity = severity or _SEVERITIES[tagged["severity"].casefold()]
    nameless = " ".join(_TOOL.replaced(rest, "").split())
    if nameless.casefold() in _STATES:  # such as "Failed" in "Failed GitHub Actions"
        return _Title(_Rank.START, _STATES[nameless.casefold()], "", severity)
    for rank, patterns in ((_Rank.START, _AT_START), (_Rank.WORD, _ELSEWHERE)):
        for pattern in patterns:
            for _, _, found in pattern.matches(rest):
                if state := _STATES.get(found["word"].casefold()):
                    return _Title(rank, state, _name_beside(found, rank), severity)
    return _Title(_Rank.SIGN if sign else _Rank.NONE, sign or AlertState.FIRING, _name(rest), severity)


def _without_leading(title: str) -> tuple[AlertState | None, Severity | None, str]:
    """Return the state of the sign a title begins with, the severity it begins with, and the title without them."""
    sign, severity, rest = None, None, title
    while lead := next(_LEADING.matches(rest), None):
        _, stop, found = lead
        signs = [rest[:stop].casefold(), *rest[:stop]]
        sign = sign or next((_SIGNS[each] for each in signs if each in _SIGNS), None)
        severity = severity or _SEVERITIES.get(found.get("severity", "").casefold())
        rest = rest[stop:]
    return sign, severity, rest


def _name_beside(found: Mapping[str, str], rank: _Rank) -> str:
    """Return the name before or behind a state word; a sentence such as "Ana closed the alert" has none."""
    rest = found.get("rest", "").strip()
    if rank is _Rank.START:
        return _name(f"{found.get('scope', '')} {rest}")
    if rest.startswith((":", "-", "–", "—", "|", '"', "“")):
        return _name(rest)
    if rest.startswith(("in ", "on ")) and not found.get("before"):
        return _name(rest.partition(":")[2])
    return _name(found.get("before", ""))


def _name(text: str) -> str:
    """Return a name without counts, reasons and authors behind it; empty if it names only the tool."""
    plain = _NO_NAME.replaced(_BEHIND_NAME.replaced(text.strip(" :-–—|"), ""), "")
    named = " ".join(plain.split()).strip(" .:-–—|")
    return named if _LETTER.is_in(_TOOL.replaced(named, "")) else ""


def _name_of_fields(parts: AlertParts) -> str:
    """Return what names an alert whose titles are all state: a field for its name, a label, the incident's number."""
    by_key = dict(reversed(parts.fields))
    named = [by_key[key] for key in _NAME_KEYS if key in by_key]
    named += [value for key, value in parts.fields if key in _LABEL_KEYS]
    named += [title[start:stop] for title in parts.titles for start, stop in _INCIDENT.spans(title)]
    return next(iter(named), "")


def _state_of_value(value: str) -> AlertState | None:
    """Return the state that the whole of a field's value names; of a change the new one."""
    start = max((stop for _, stop in _CHANGE.spans(value)), default=0)
    return next((_STATES[found["word"].casefold()] for _, _, found in _STATUS.matches(value[start:])), None)


def _labels(parts: AlertParts, name: str) -> Iterator[str]:
    """Yield the labels that name the thing, unless the name holds them; a label with several values names nothing."""
    pairs = {(key, _NORMALISER.normalise(value)) for key, value in parts.fields if key in _LABEL_KEYS}
    count, held = Counter(key for key, _ in pairs), {word.strip("()[]{},:;") for word in name.split()}
    yield from sorted(
        f"{key}={value}" for key, value in pairs if count[key] == 1 and not held.issuperset(value.split())
    )


def _severity(parts: AlertParts, titles: list[_Title]) -> Severity:
    for key, value in parts.fields:
        words = "".join(each if each.isalnum() or each == "-" else " " for each in value.casefold()).split()
        found = [_SEVERITIES[word] for word in words if word in _SEVERITIES]
        if key in _SEVERITY_KEYS and found:
            return found[0]
    return next((title.severity for title in titles if title.severity), Severity.ACT)


def _tool_in(speaker: str) -> str | None:
    return next((found["tool"].casefold() for _, _, found in _TOOL.matches(speaker)), None)


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
