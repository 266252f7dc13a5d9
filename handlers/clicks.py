"""Clicks and submitted dialogues as values: who did what, where. All that they carry is read as hostile. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from blocks import ids

Body = dict[str, Any]
NAME_CHARS: Final = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Click:
    """A click on a button, a choice of a menu, or a submitted dialogue.

    `value` is what the button, the option or the dialogue carries; `channel` is "" where none was clicked in.
    """

    body: Body
    value: object
    user: str
    team: str
    channel: str
    view: Body = field(default_factory=dict)

    @classmethod
    def of(cls, body: Body, action: Body) -> Click:
        """Return a click on a button, or a choice of a menu.

        >>> Click.of({"user": {"id": "U1"}, "channel": {"id": "C1"}}, {"selected_option": {"value": "1h"}}).value
        '1h'
        """
        option = action.get("selected_option")
        return cls._from(body, (option if isinstance(option, dict) else action).get("value"), {})

    @classmethod
    def submitted(cls, body: Body, view: Body) -> Click:
        """Return the submit of a dialogue."""
        return cls._from(body, view.get("private_metadata"), view)

    @classmethod
    def _from(cls, body: Body, value: object, view: Body) -> Click:
        user, team = clicking_person(body)
        channel = (body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id")
        return cls(body=body, value=value, user=user, team=team, channel=str(channel or ""), view=view)

    @property
    def who(self) -> tuple[str, str]:
        """The user and their team."""
        return self.user, self.team

    @property
    def name(self) -> str:
        """What the user is called, as far as Slack says."""
        user = self.body.get("user") or {}
        return str(user.get("name") or user.get("username") or self.user or "somebody")[:NAME_CHARS]

    @property
    def message_ts(self) -> str:
        """Which message was clicked; "" for none."""
        return str((self.body.get("container") or {}).get("message_ts") or "")

    @property
    def thread_ts(self) -> str | None:
        """The thread of the message that was clicked; None for one that is in none."""
        found = (self.body.get("container") or {}).get("thread_ts") or (self.body.get("message") or {}).get("thread_ts")
        return str(found) if found else None

    @property
    def is_from_home(self) -> bool:
        """Whether it was made on App Home, or in a dialogue that was opened there."""
        return ids.is_from_home(self.body)


def clicking_person(body: Body) -> tuple[str, str]:
    """Return the user and the team of a click or submit; an id is unique in its team only.

    An app that is installed for a whole Enterprise Grid may get no team, and the company stands for it.

    >>> clicking_person({"user": {"id": "U1"}, "team": {"id": "T1"}})
    ('U1', 'T1')
    """
    user = body.get("user") or {}
    places = (body.get("team"), body.get("enterprise"))
    teams = [user.get("team_id"), *(place.get("id") for place in places if isinstance(place, dict))]
    return str(user.get("id") or ""), str(next(filter(None, teams), ""))


def team_of(body: Body) -> str:
    """Return the team of an event: that which installed us, for in a shared channel `team_id` may be a partner's.

    >>> team_of({"team_id": "T9", "authorizations": [{"team_id": "T1"}]})
    'T1'
    """
    given = body.get("authorizations")
    ours = given[0] if isinstance(given, list) and given and isinstance(given[0], dict) else {}
    return str(ours.get("team_id") or body.get("team_id") or "")


def field_of(view: Body, block: str) -> Body | None:
    """Return the state of a dialogue's input, or None if the dialogue has no such input."""
    found = ((view.get("state") or {}).get("values") or {}).get(block, {}).get(ids.INPUT)
    return found if isinstance(found, dict) else None


def typed_in(view: Body) -> str:
    """Return all that was typed into a dialogue.

    >>> typed_in({"state": {"values": {"a": {"x": {"type": "plain_text_input", "value": "so"}}, "b": {"x": {}}}}})
    'so'
    """
    inputs = ((view.get("state") or {}).get("values") or {}).values()
    values = [entry.get("value") for block in inputs for entry in block.values()]
    return "\n\n".join(value for value in values if isinstance(value, str) and value)


def text_of(view: Body, block: str) -> str | None:
    """Return what was typed or chosen; where the input was left as it was, what it showed, or None for nothing.

    >>> text_of({"state": {"values": {"a": {"value": {"selected_option": {"value": "so"}}}}}}, "a")
    'so'
    >>> text_of({"blocks": [{"block_id": "a", "element": {"initial_value": "so"}}]}, "a")
    'so'
    """
    field = field_of(view, block) or {}
    value = (field.get("selected_option") or field).get("value", field.get("selected_user"))
    return value if isinstance(value, str) else _shown_in(view, block)


def _shown_in(view: Body, block: str) -> str | None:
    inputs = [one for one in view.get("blocks") or [] if isinstance(one, dict) and one.get("block_id") == block]
    element = inputs[0].get("element") if inputs else None
    value = element.get("initial_value") if isinstance(element, dict) else None
    return value if isinstance(value, str) else None
