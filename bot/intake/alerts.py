"""Reads an alert from the message that a monitoring tool posted. Pure, linear, and never fails.

An alert fires unless there is evidence of the opposite, looked for in this order: a state word at a title's start; a
line that is all state in bold; a status field; a state word within a title; the sign a title begins with; green.
Annotations are prose and are not looked at. The words stand in alerts.yml.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from bot.config.settings import WatcherSettings
from bot.domain.alerts import Alert, AlertState, Severity
from bot.domain.events import MessageType
from bot.domain.secrets import redact
from bot.domain.table_files import load_table
from bot.domain.text.linear_patterns import LinearPattern
from bot.intake.alert_parts import AlertParts, fingerprint, normalise, take_apart
from bot.intake.message_text import read_message
from bot.intake.normalise import Incoming

MAX_SERVICE_CHARS: Final = 80
_TABLE: Final[dict[str, Any]] = load_table(__file__, "alerts.yml")


def _by_word(table: Mapping[str, list[str]]) -> dict[str, str]:
    return {word: key for key, words in table.items() for word in words}


def _any(words: Iterable[str]) -> str:
    """Return a pattern of these words; the longest that fits is found."""
    return "(?:" + "|".join(word.replace(".", r"\.") for word in sorted(words, key=len, reverse=True)) + ")"


def _word(words: Iterable[str]) -> str:
    return rf"(?:auto-?|automatically\s)?(?P<word>{_any(words)})"


def _pattern(pattern: str) -> LinearPattern:
    return LinearPattern(pattern, ignore_case=True)


_OWN, _LOOSE, _PASSING = (_by_word(_TABLE[key]) for key in ("states", "loose", "passing"))
_OF_ALERTS: Final = [*_OWN, *_LOOSE]
_STATES: Final = {word: AlertState(state) for word, state in (_OWN | _LOOSE | _PASSING).items()}
_SIGNS: Final = {sign: AlertState(state) for state, signs in _TABLE["signs"].items() for sign in signs.split()}
_SEVERITIES: Final = {word: Severity(severity) for word, severity in _by_word(_TABLE["severities"]).items()}
_TOOLS: Final = _by_word(_TABLE["tools"])
_SERVICES: Final = frozenset(_TABLE["service_keys"])

_WORD: Final = _word(_STATES)
_NOUN: Final = _any(_TABLE["nouns"])
_RUN: Final = _any(_TABLE["runs"])
_SEVERITY: Final = rf"(?P<severity>{_any(_SEVERITIES)})"
_NUMBERED: Final = r"(?:#\d+|(?-i:[A-Z]{2,}-\d+))"
_IS: Final = r"(?:is|are|was|were|has|have|went|came)"
_SURELY: Final = r"(?:\s(?:now|back|again|successfully|marked as|in state))"
_VERB: Final = rf"{_IS}(?:\sbeen|{_SURELY})*"
_BEFORE: Final = "(?P<before>.*?)"
_REST: Final = "(?P<rest>.*)$"
_ENDS: Final = (
    r"(?P<rest>(?:[.!:,(]|\s(?:[^\pL\pN\s]|(?:by|after|at|in|on|via|until|to|due|because|again|automatically|successfully)"
    r"(?:[\s:]|$))).*|\s*)$"
)
_FOR: Final = r"(?:\sfor\s[^:]*)?"

_LEADING: Final = _pattern(
    r"^(?:[\p{So}\p{Sk}\x{FE0F}\x{200D}\x{2139}\x{203C}\s-]+|:[a-z][a-z0-9_+-]*:|@\w+|"
    rf"\[?{_any(_SEVERITIES)}(?:\]|\s*[|:–—]|\s+-\s|\s+(?:priority|severity|urgency)\b))+"
)
"""Signs, mentions and severities that a title begins with."""

_SIGN_IN: Final = _pattern(_any(_SIGNS))
_SEVERITY_IN: Final = _pattern(rf"(?:^|[^\w:-]){_SEVERITY}(?:[^\w-]|$)")
_TAGGED: Final = _pattern(rf"[\[( ,]{_SEVERITY}[\]),]")

_START, _BOLD, _FIELD, _WITHIN, _SIGN, _COLOUR, _NONE = range(7)
"""How good the evidence of a state is, best first."""

_AT_START: Final = (
    # [FIRING:2] Name, [Recovered on {host:a}] Name
    rf"^\[\s*{_WORD}(?:[^\w\]{{][^\]{{]*)?(?P<scope>\{{[^\]]*\}})?[^\]]*\]{_REST}",
    # Resolved in 5m 3s: Name, Triggered Incident #9: Name, [shop] prod - New critical: Name, Failed
    rf"^(?:(?P<scope>\[[^\]]*\]|(?:\[[^\]]*\]\s)?\S+\s-)\s)?{_WORD}"
    rf"(?:\s(?:{_NOUN}(?:\s{_any(_STATES)})?|{_SEVERITY}))?(?:\sin(?:\s\d+(?:\.\d+)?\s?[a-z]+)+)?"
    rf"(?:\s#\d+|\s*[:|–—]|\s-\s|\s*$|\sby\s@.*){_REST}",
    rf"^\(?(?P<word>(?-i:{_any(_OWN).upper()}))\)?\s{_REST}",  # RESOLVED Name
)
_ELSEWHERE: Final = (
    rf"^{_BEFORE}\[\W*{_WORD}(?::\d+)?\s*\]",  # [api] [✅ Up] 200 - OK
    rf"^{_BEFORE}\s#\d+\s(?:-\s)?{_WORD}\b",  # shop - #31 Failure after 3 min
    rf"^{_BEFORE}\b{_any(_STATES)}\s*(?:→|➜|⇒|->|=>|\bto\b)\s*{_WORD}\W*$",  # Name: ALARM → OK
    # Alert was closed: Name
    rf"^(?P<before>(?:.*?\s)?{_NOUN})\s(?:{_NUMBERED}\s)?(?:{_VERB}\s|marked\sas\s)?{_word(_OF_ALERTS)}{_FOR}{_ENDS}",
    # Ana acknowledged incident "Name"
    rf"^(?:.*?\s)?{_word(_OF_ALERTS)}\s(?:the\s|this\s|an?\s)?(?:{_NOUN}\b(?:\s#\d+)?|{_NUMBERED}){_REST}",
    # Build passed: Name, Deployment of Name to prod succeeded
    rf"^(?P<before>(?:\S+\s)?{_RUN}(?:\s(?:of|to|for|on|in|from|by|run)\s\S+|\s#\d+)*)\s{_WORD}{_ENDS}",
    # Pipeline #5 of branch main has passed in 01:02
    rf"^(?P<before>(?:\S+\s){{0,3}}{_RUN}\b[^:]{{0,80}}?)\s{_VERB}\s{_WORD}{_ENDS}",
    rf"^(?:.*\s)?marked\s(?P<before>\S{{1,80}})\sas\s{_WORD}{_ENDS}",
    # Alert Name was closed, Name has been resolved after 3 tries, Name is back up, Name is UP
    rf"^(?:the\s|your\s)?(?P<before>{_NOUN}\b[^:]{{1,80}}?)\s{_VERB}\s{_word(_OF_ALERTS)}{_FOR}{_ENDS}",
    rf"^{_BEFORE}\s{_VERB}\s{_word(_OWN)}{_FOR}{_ENDS}",
    rf"^{_BEFORE}\s{_IS}(?:\sbeen)?{_SURELY}+\s{_WORD}{_ENDS}",
    rf"^{_BEFORE}\s(?:is|are)\s(?P<word>(?-i:[A-Z]\w+)){_ENDS}",
    rf"^{_BEFORE}(?:\s[-–—|]|:|\s[(\[])\s*(?P<word>(?-i:\p{{Lu}})\w*(?:\s\w+)*)[)\].!]*$",  # Name - Resolved
    rf"^{_BEFORE}\s(?P<word>(?-i:[A-Z]{{2,}}))(?:\s[-|]|:)\s",  # DISK OK - 40 GB free
)
_FORMS: Final = [(_START, _pattern(form)) for form in _AT_START] + [(_WITHIN, _pattern(form)) for form in _ELSEWHERE]

_STATUS: Final = _pattern(rf"^(?:.*(?:→|➜|⇒|->|=>))?\W*{_WORD}(?:\W*$|\s*[(:,-]|\s(?:by|at|on|since|for|in)\s)")

_BEHIND_NAME: Final = LinearPattern(
    r"\s-\s+Reason\b.*|\s-\s*#\d+.*|[.!]\s+\p{Lu}.*|\sby\s\S{1,60}(?:\s\S{1,60})?\s\([\w.-]+\)$"
)
_NO_NAME: Final = _pattern(
    rf'^(?:an?\s|the\s)?{_NOUN}\s?(?:#\d+)?\s*(?:[:|-]\s*|$)|^#\d+:?\s*|\s#\d+|["“”„](?:\s{_NOUN}$)?'
)
_TOOL: Final = _pattern(rf"\b(?P<tool>{_any(_TOOLS)})\b(?:\s(?:alert|alerts|issue|event|notification))?")
_INCIDENT: Final = LinearPattern(r"#\d+")


class _Title(NamedTuple):
    """What a title says: a state and how surely, the alert's name without it, and a severity."""

    rank: int
    state: AlertState
    name: str
    severity: Severity | None


def alert_in(incoming: Incoming, watcher: WatcherSettings) -> Alert | None:
    """Return the alert of a message from a listed bot; None for any other message, and for a deleted one."""
    event = incoming.event
    tool = watcher.tool_of(incoming.sender_ids) if event.sender.type == "bot" else None
    if tool is None or event.msg_type is MessageType.DELETE:
        return None
    return read_alert(incoming.message, tool=tool or None)


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
    texts = [list(map(_read_title, lines)) for lines in parts.titles]
    titles = [title for read in texts for title in read]
    said = [found["tool"].casefold() for speaker in parts.speakers for _, _, found in _TOOL.matches(speaker)]
    tool = (tool or next(iter(said), "")).casefold()
    tool = _TOOLS.get(tool, tool)
    heads = [read[0] for read in texts if read and read[0].rank == _START]
    heads.sort(key=lambda title: title.state is not AlertState.FIRING)
    name = next((title.name for title in heads + titles if title.name), "")
    name = redact(name or _name_elsewhere(parts) or tool)
    stays = normalise(_read_title(name).name or name) or name or (bot if isinstance(bot, str) else "")
    if _is_form(message):
        stays = text  # every answer to a form is a matter of its own
    return Alert(
        tool=tool,
        state=_state(parts, texts, name),
        name=name,
        fingerprint=fingerprint([tool, stays, *_labels(parts, stays)]),
        severity=_severity(parts, titles),
        service=_service(parts),
        text=text,
    )


def _is_form(message: Mapping[str, Any]) -> bool:
    """Whether Workflow Builder posted it, which says so in the profile of its bot."""
    profile = message.get("bot_profile")
    return isinstance(profile, Mapping) and profile.get("is_workflow_bot") is True


def _state(parts: AlertParts, texts: list[list[_Title]], name: str) -> AlertState:
    """Return the state with the best evidence; of equals that of an earlier line, of these one that fires."""
    if {name.casefold(), name.partition(" (")[0].casefold()} & set(_TABLE["watchdogs"]):
        return AlertState.INFO
    found = [
        (_COLOUR if word in _PASSING else _FIELD, 0, _STATES[word])  # a job has started, but so has an incident
        for key, value in parts.fields
        if key in _TABLE["status_keys"]
        for word in (said["word"].casefold() for _, _, said in _STATUS.matches(value))
    ]
    marks = [mark for mark in map(_read_title, parts.marks) if mark.rank <= _WITHIN and not mark.name]
    found += [(_BOLD, 0, mark.state) for mark in marks]
    found += [(title.rank, line, title.state) for titles in texts for line, title in enumerate(titles)]
    if _is_green(parts.colour):  # then, too, a word such as "failed" within a title is part of the name
        found = [each for each in found if each[0] < _WITHIN or each[2] is not AlertState.FIRING]
        found.append((_COLOUR, 0, AlertState.RESOLVED))
    best = min(found, key=lambda each: (*each[:2], each[2] is not AlertState.FIRING), default=None)
    return best[2] if best else AlertState.FIRING


def _read_title(title: str) -> _Title:
    """Take a title's state and severity off it."""
    start = next((stop for _, stop in _LEADING.spans(title)), 0)
    lead, rest = title[:start], title[start:]
    sign = next((_SIGNS[lead[at:stop].casefold()] for at, stop in _SIGN_IN.spans(lead)), None)
    severity = next(_severities_in(_SEVERITY_IN, lead), None) or next(_severities_in(_TAGGED, title), None)
    nameless = " ".join(_TOOL.replaced(rest, "").split()).casefold()
    if nameless in _STATES:  # such as "Failed" in "Failed GitHub Actions"
        return _Title(_START, _STATES[nameless], "", severity)
    for rank, form in _FORMS:
        for _, _, found in form.matches(rest):
            word = found["word"].casefold()
            if word in _STATES:
                severity = severity or _SEVERITIES.get(found.get("severity", word).casefold())
                state = _STATES[word]
                if sign and rank == _WITHIN and state is AlertState.FIRING:  # "failed" is part of the name
                    state = sign
                return _Title(rank, state, _name_beside(found, rank), severity)
    return _Title(_SIGN if sign else _NONE, sign or AlertState.FIRING, _name(rest), severity)


def _name_beside(found: Mapping[str, str], rank: int) -> str:
    """Return the name before or behind a state word; a sentence such as "Ana closed the alert" has none."""
    rest, before = found.get("rest", "").strip(), found.get("before", "")
    if rank == _START:
        near = [f"{found.get('scope', '').strip(' -')} {rest}"]
    elif rest.startswith((":", "-", "–", "—", "|", '"', "“")):
        near = [rest, before]
    else:
        near = [before, rest.partition(":")[2]]
    return next(filter(None, map(_name, near)), "")


def _name(text: str) -> str:
    """Return a name without counts, reasons and authors behind it; empty if it names only the tool."""
    plain = _NO_NAME.replaced(_BEHIND_NAME.replaced(text.strip(" :-–—|"), ""), "")
    named = " ".join(plain.split()).strip(" .:-–—|")
    return named if any(map(str.isalpha, _TOOL.replaced(named, ""))) else ""


def _name_elsewhere(parts: AlertParts) -> str:
    """Return what names an alert whose titles are all state: a field, a label, the incident's number, the text."""
    named = [value for keys in ("name_keys", "label_keys") for key, value in parts.fields if key in _TABLE[keys]]
    named += [line[start:stop] for lines in parts.titles for line in lines for start, stop in _INCIDENT.spans(line)]
    named += [title.name for title in map(_read_title, parts.bodies) if title.name]
    return next(iter(named), "")


def _labels(parts: AlertParts, name: str) -> list[str]:
    """Return the labels that name the thing, unless the name holds them; one with several values names nothing."""
    keys, held = [*_TABLE["name_keys"], *_TABLE["label_keys"]], {word.strip("()[]{},:;") for word in name.split()}
    pairs = {(key, normalise(value)) for key, value in parts.fields if key in keys}
    count = Counter(key for key, _ in pairs)
    return sorted(f"{key}={value}" for key, value in pairs if count[key] == 1 and not held.issuperset(value.split()))


def _service(parts: AlertParts) -> str:
    """Return what the fields name as the service, by the surest key; of `org/repo` the repository."""
    named = sorted((_TABLE["service_keys"].index(key), value) for key, value in parts.fields if key in _SERVICES)
    return redact(named[0][1].rstrip("/").rpartition("/")[2])[:MAX_SERVICE_CHARS] if named else ""


def _severity(parts: AlertParts, titles: list[_Title]) -> Severity:
    keys = [*_TABLE["severity_keys"], *_TABLE["status_keys"]]
    found = [each for key, value in parts.fields if key in keys for each in _severities_in(_SEVERITY_IN, value)]
    return next(iter(found + [title.severity for title in titles if title.severity]), Severity.ACT)


def _severities_in(pattern: LinearPattern, text: str) -> Iterator[Severity]:
    return (_SEVERITIES[found["severity"].casefold()] for _, _, found in pattern.matches(text))


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
