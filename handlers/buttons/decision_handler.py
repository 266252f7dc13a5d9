"""What every click and submit goes through: acknowledge, read its values, check permission, decide, answer.

A listener made here acknowledges first, because Slack waits 3 s. A dialogue opens before any request, because its
trigger expires after 3 s: it opens for who was allowed when last asked, and the submit checks again. A submit is
refused inside the dialogue only for what its text alone shows; an error after the acknowledgement is told in private
with the text given back, because the dialogue is gone by then.
Source: https://docs.slack.dev/interactivity/handling-user-interaction and
https://docs.slack.dev/surfaces/modals#handling_submissions

Clicks and submitted dialogues as values: who did what, where. All that they carry is read as hostile. Pure.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from slack_bolt import Ack
from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks import ids
from blocks.elements import notice
from blocks.text.outgoing_text import escape, given_back, section
from bot.casework.approvers import Approvers
from bot.domain.text.sanitize import without_marks
from bot.errors import InputError, ProviderError, TriageError
from handlers.answers import Ephemeral, answer
from handlers.transport.slack_clients import translate_slack_errors

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


log = logging.getLogger(__name__)

ANSWER_CHARS: Final = 1_900

Subject = TypeVar("Subject")
Listener = Callable[..., None]
"""What Bolt calls, with the arguments it names."""


class Say(Protocol):
    """Tells whoever clicked something that only they see; a chat that does not take it is logged."""

    def __call__(self, click: Click, text: str, *, typed: str | None = None) -> None:
        """Say `text`, and give back what was `typed` in vain."""


def say_beside(tell: Ephemeral, ops_channel: str) -> Say:
    """Return a way to answer beside what was clicked; in the ops channel where that was a dialogue."""

    def say(click: Click, text: str, *, typed: str | None = None) -> None:
        for part in given_back(text, typed or ""):
            answer(tell, click.channel or ops_channel, click.user, part)

    return say


def for_a_person(error: TriageError) -> str:
    """Return what to tell the one who clicked: every error of ours says what happened and what to do."""
    return str(error)[:ANSWER_CHARS]


def errors_in(block: str, error: TriageError) -> dict[str, Any]:
    """Return the answer that keeps a dialogue open and says what is wrong under one of its inputs."""
    return {"response_action": "errors", "errors": {block: without_marks(for_a_person(error))}}


def update_dialogue(client: WebClient, view_id: str, view: View) -> None:
    """Show something else in an open dialogue; nothing happens where it was closed meanwhile."""
    try:
        with translate_slack_errors("update the dialogue"):
            client.views_update(view_id=view_id, view=view)
    except ProviderError:
        log.info("a dialogue was not updated", extra={"action": "dialogue_unfilled"}, exc_info=True)


class DecisionHandler(Generic[Subject]):
    """Makes the listeners of one kind of card.

    Args:
        read: Returns what a value stands for; raises InputError for what is none of ours or not on file any more.
        refusal: What somebody is told who may not.
        owner: Returns who clicked if what they clicked is theirs, else ""; the last argument is whether it may ask the
            chat. Owners decide beside the approvers.
        explain: What is told of an error.
        on_permitted: Called once whoever clicked may: before a decision, and after a dialogue was opened.
    """

    def __init__(
        self,
        approvers: Approvers,
        say: Say,
        *,
        read: Callable[[object], Subject],
        refusal: str,
        owner: Callable[[Click, Subject, bool], str] = lambda *_: "",
        explain: Callable[[TriageError], str] = for_a_person,
        on_permitted: Callable[[Click, Subject], object] = lambda *_: None,
    ) -> None:
        self._approvers, self.say = approvers, say
        self._read, self._refusal, self._owner, self._explain = read, refusal, owner, explain
        self._on_permitted = on_permitted

    def decides(self, decide: Callable[[Click, Subject], str | None]) -> Listener:
        """Return the listener of a button; `decide` returns what to say, if anything, and raises TriageError."""

        def listener(ack: Ack, body: Body, action: Body, client: WebClient) -> None:  # noqa: ARG001 - as all buttons'
            ack()
            click = Click.of(body, action)
            self._decide(click, lambda subject: decide(click, subject))

        return listener

    def opens(
        self,
        build: Callable[[Click, Subject], View],
        *,
        fill: Callable[[Click, Subject], View] | None = None,
    ) -> Listener:
        """Return the listener of a button that opens a dialogue.

        Args:
            build: Returns what it shows at once; must make no request.
            fill: Returns what it shows then. There is no submit to check permission at, so it is asked in full before;
                an InputError stands in the dialogue.
        """

        def listener(ack: Ack, body: Body, action: Body, client: WebClient) -> None:
            ack()
            click = Click.of(body, action)
            try:
                subject = self.permitted(click, asks=False)
                view = build(click, subject)
                with translate_slack_errors("open the dialogue"):
                    opened: Any = client.views_open(trigger_id=body["trigger_id"], view=view)
                self._on_permitted(click, subject)
                if fill is not None:
                    update_dialogue(client, str(opened["view"]["id"]), self._filled(click, subject, fill, view))
            except TriageError as error:
                self.refuse(click, error)

        return listener

    def _filled(self, click: Click, subject: Subject, fill: Callable[[Click, Subject], View], opened: View) -> View:
        try:
            self.require(click, subject)
            return fill(click, subject)
        except InputError as error:
            return notice(str(opened.title.text) if opened.title else "", [section(escape(str(error)))])

    def submits(
        self,
        decide: Callable[[Click, Subject, str | None], str | None],
        *,
        block: str | None = None,
        check: Callable[[Subject, str | None], str | None] = lambda _, typed: typed,
    ) -> Listener:
        """Return the listener of a dialogue with one text, or with none.

        Args:
            decide: As of `decides`, with what `check` returned; what was typed is given back where it is refused.
            block: Where the text is typed; None is passed where it was left as it was.
            check: Returns the words that count; raises TriageError for what is wrong with them alone.
        """

        def listener(ack: Ack, body: Body, view: Body) -> None:
            click, typed = Click.submitted(body, view), text_of(view, block) if block is not None else None
            try:
                words = check(self._read(click.value), typed) if block is not None else None
            except TriageError as error:
                ack(**errors_in(str(block), error))
                return
            ack()
            # what counts may be the draft, which only who may decide may see
            self._decide(click, lambda subject: decide(click, subject, words), typed=typed)

        return listener

    def permitted(self, click: Click, read: Callable[[object], Subject] | None = None, *, asks: bool = True) -> Subject:
        """Return what was clicked, if whoever did may decide on it; raises InputError if not."""
        subject = (read or self._read)(click.value)
        self.require(click, subject, asks=asks)
        return subject

    def require(self, click: Click, subject: Subject, *, asks: bool = True) -> None:
        """Return if whoever clicked may decide, asked of the chat now; `asks=False`: only if they did not seem to."""
        if asks or not self.probably(click, subject):
            owner = self._owner(click, subject, True)
            self._approvers.require(*click.who, self._refusal, owner=owner)

    def probably(self, click: Click, subject: Subject) -> bool:
        """Whether whoever clicked seemed allowed when last asked, without a request."""
        return self._approvers.probably(*click.who, owner=self._owner(click, subject, False))

    def refuse(self, click: Click, error: TriageError, *, typed: str | None = None) -> None:
        """Tell whoever clicked why nothing came of it, with what they typed."""
        log.info("a click was refused: %s", error, extra={"action": "click_refused"})
        self.say(click, self._explain(error), typed=typed)

    def _decide(
        self,
        click: Click,
        decide: Callable[[Subject], str | None],
        *,
        typed: str | None = None,
    ) -> None:
        """Decide if whoever clicked may, and answer; what was typed in vain goes back to them."""
        try:
            subject = self.permitted(click)
            self._on_permitted(click, subject)
            said = decide(subject)
        except TriageError as error:
            self.refuse(click, error, typed=typed)
        else:
            if said:
                self.say(click, said if len(said) <= ANSWER_CHARS else said[:ANSWER_CHARS])
