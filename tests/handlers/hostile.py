"""Hostile payloads: what Slack sends, with one to four things wrong; each follows from a seed and its number.

`original` bodies are valid and carry SECRET wherever a person's words stand, so that a log that repeats words is found.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from blocks import ids
from tests.payloads import payload

Body = dict[str, Any]
Path_ = tuple[str | int, ...]

SECRET: Final = "zq7words"
KINDS: Final = ("event", "click", "submit", "command", "other")
_EVENTS: Final = [
    p.stem for p in sorted((Path(__file__).parents[1] / "payloads").glob("*.json")) if "event" in payload(p.stem)
]
_BUTTONS: Final = (
    ids.APPROVE,
    ids.EDIT,
    ids.DISMISS,
    ids.ADD_CONTEXT,
    f"{ids.EDIT_TIER}:quick",
    ids.ACCEPT_PROPOSAL,
    ids.REJECT_PROPOSAL,
)
_CHOICES: Final = (ids.REINVESTIGATE, ids.ADD_CONTEXT, ids.SHOW_EVIDENCE, ids.SAVE_NOTE, "triage_of_tomorrow")
_VIEWS: Final = {
    ids.EDIT_VIEW: ids.REPLY,
    ids.DISMISS_VIEW: ids.REASON,
    ids.CONTEXT_VIEW: ids.CONTEXT,
    ids.TIER_VIEW: ids.REPLY,
}
_TYPES: Final = (
    "shortcut", "message_action", "view_closed", "block_suggestion", "interactive_message", "dialog_submission",
    "workflow_step_edit", "event_callback", "hello", "",
)  # fmt: skip

_IDS: Final = ("U3", "U0BOT", "U2 ", "u2", "T9", "C0OTHER", "C0OPS", "*", "../../etc", "U2|ben", "Ｕ２", "S0GROUP")
_TIMES: Final = (
    "NaN", "1e400", "-1700000000.000100", "1700000000.000100; rm", "999999999999.000001", "0.0", "1700000000",
    "１７００００００００.０００１００", "1700000000.000100\n", "Infinity", " 1700000000.000100", "1700000000.000100.1",
)  # fmt: skip
_STRINGS: Final = (
    "", " ", "\0", "a\0b", "\ud800", "x\udfff?", "\u202egnp.exe\u202c", "\u2066?", "?" * 50, "<@U0BOT>", "<!channel>",
    "$(reboot)", "`id`", "'; drop table threads; --", "{{7*7}}", "%s%n", "\r\n\r\nHTTP/1.1 200 OK", "🦞" * 40,
)  # fmt: skip
_ODD: Final[tuple[Callable[[], Any], ...]] = (
    lambda: None,
    lambda: [],
    lambda: {},
    lambda: 0,
    lambda: -1.5,
    lambda: 10**400,
    lambda: float("nan"),
    lambda: True,
    lambda: False,
    lambda: [None],
    lambda: [[]],
    lambda: ["id"],
    lambda: {"id": {"id": "U2"}},
    lambda: {"": None},
    lambda: "x" * 200_000,
    lambda: "how? " * 8_000,
    lambda: _nested(40),
    lambda: _nested(900),
)


def original(kind: str, n: int, value: str) -> Body:
    """Return the valid body number `n` of a kind; its buttons and dialogues carry the button value `value`."""
    if kind == "event":
        return _event(n)
    if kind == "click":
        return _click(n, value)
    if kind == "submit":
        return _submit(n, value)
    if kind == "other":
        return _other(n, value)
    text = ("status", "help", "", "statsu", "brief x")[n % 5]
    return {**payload("slash_command"), "text": f"{text} {SECRET}" if text else ""}


def hostile(kind: str, n: int, value: str, *, seed: int) -> Body:
    """Return a body of which one to four places are wrong."""
    chance = random.Random(f"{seed}:{kind}:{n}")
    body = original(kind, chance.randrange(10_000), value)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        _spoil(body, chance)
    return body


def _event(n: int) -> Body:
    """Return a recorded event; two of three are news, the third has been delivered before."""
    body = payload(_EVENTS[n % len(_EVENTS)])
    own = f"1795{n:06d}.000100"

    def renewed(text: str) -> str:
        return own if n % 3 and text == "1795165200.000100" else text

    return _with_secrets(_mapped(body, renewed))


def _click(n: int, value: str) -> Body:
    body = payload("block_actions")
    action = body["actions"][0]
    which = n % (len(_BUTTONS) + len(_CHOICES))
    if which < len(_BUTTONS):
        action |= {"action_id": _BUTTONS[which], "value": value}
        return body
    option = {"text": {"type": "plain_text", "text": "x"}, "value": f"{_CHOICES[which - len(_BUTTONS)]}!{value}"}
    body["actions"][0] = {**action, "type": "overflow", "action_id": ids.MORE, "selected_option": option}
    del body["actions"][0]["value"]
    return body


def _submit(n: int, value: str) -> Body:
    body = payload("view_submission")
    callback_id, block = list(_VIEWS.items())[n % len(_VIEWS)]
    typed = {"type": "plain_text_input", "value": f"It is {n}. {SECRET}"}
    saved = {"type": "checkboxes", "selected_options": [{"value": ids.ONLY_SAVE}] if n % 2 else []}
    values = {block: {ids.INPUT: typed}, ids.ONLY_SAVE: {ids.INPUT: saved}}
    body["view"] |= {"callback_id": callback_id, "private_metadata": value, "state": {"values": values}}
    return body


def _other(n: int, value: str) -> Body:
    """Return a body that Slack may send and nobody here takes, or that a later Slack may invent."""
    if n % 3 == 0:
        kinds = ("reaction_added", "app_home_opened", "team_join", "thing_of_tomorrow", "workflow_step_execute")
        event = {"type": kinds[n % len(kinds)], "user": "U2", "item": {"channel": "C0HELP", "ts": "1795165200.000100"}}
        return {**payload("message"), "event": event}
    base = _click(n, value) if n % 3 == 1 else _submit(n, value)
    return {**base, "type": _TYPES[n % len(_TYPES)], "callback_id": ids.APPROVE, "action_id": ids.APPROVE}


def _with_secrets(value: Any) -> Any:
    """Return a copy whose every `text` ends in SECRET."""
    if isinstance(value, dict):
        return {
            key: f"{held} {SECRET}" if key == "text" and isinstance(held, str) else _with_secrets(held)
            for key, held in value.items()
        }
    return [_with_secrets(held) for held in value] if isinstance(value, list) else value


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(held, change) for key, held in value.items()}
    if isinstance(value, list):
        return [_mapped(held, change) for held in value]
    return change(value) if isinstance(value, str) else value


def _nested(depth: int) -> Any:
    value: Any = "deep"
    for level in range(depth):
        value = [value] if level % 2 else {"id": value}
    return value


def _places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield every place of a body; nothing is sought inside what was nested on purpose."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in pairs:
        yield (*path, key)
        if len(path) < 7:
            yield from _places(held, (*path, key))


def _spoil(body: Body, chance: random.Random) -> None:
    """Change one place of a body; shallow places, where Slack says who and what, are hit more often."""
    places = list(_places(body))
    if not places:
        return
    shallow = [place for place in places if len(place) <= 3]
    place = chance.choice(shallow if chance.random() < 0.6 else places)
    *way, key = place
    holder: Any = body
    for step in way:
        holder = holder[step]
    how = chance.randrange(8)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[f"{key}_"] = holder.pop(key)
    elif how == 2:
        holder[key] = _tampered(holder[key], chance)
    elif how == 3:
        other = chance.choice(places)
        holder[key] = _copied(_at(body, other))
    elif how == 4:
        holder[key] = chance.choice((*_TIMES, *_IDS, *_TYPES))
    elif how == 5:
        holder[key] = chance.choice(_STRINGS)
    elif how == 6:
        holder[key] = chance.choice(([holder[key]], {str(key): holder[key]}, [holder[key], holder[key]]))
    else:
        holder[key] = chance.choice(_ODD)()


def _copied(value: Any, depth: int = 12) -> Any:
    """Return a copy down to a depth, so that a body put into itself ends."""
    if depth and isinstance(value, dict):
        return {key: _copied(held, depth - 1) for key, held in value.items()}
    return (
        [_copied(held, depth - 1) for held in value]
        if depth and isinstance(value, list)
        else value
        if not isinstance(value, dict | list)
        else None
    )


def _at(body: Any, place: Path_) -> Any:
    for step in place:
        body = body[step]
    return body


def _tampered(value: Any, chance: random.Random) -> Any:
    """Return a button value, a time or an id that is almost right."""
    if not isinstance(value, str) or not value:
        return chance.choice(_ODD)()
    cut = chance.randrange(len(value))
    return chance.choice(
        (
            value[:cut],
            value + chance.choice("|0!\n \0"),
            value[:cut] + chance.choice("09af|.\u0660\ud800") + value[cut + 1 :],
            value.replace("|", "||", 1),
            value.replace("T1", "T9").replace("U2", "U3"),
            value.upper(),
            value * 50,
        )
    )
