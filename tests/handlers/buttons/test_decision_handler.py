"""Every click and submit goes one way: acknowledged, read, permitted, decided, answered."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.models.views import View

from blocks import ids
from bot.casework.approvers import Approvers
from bot.errors import Conflict, InputError, StoreError, TriageError, Unavailable
from handlers.buttons.decision_handler import (
    Click,
    DecisionHandler,
    field_of,
    say_beside,
    text_of,
)
from tests.fakes import FakeWorkspace
from tests.payloads import payload

APPROVER, OWNER, OTHER = "U2", "U0ANN", "U0EVE"
REFUSAL = "Not yours."
BLOCK = "words"


def read(value: object) -> str:
    if not str(value).startswith("thing"):
        raise InputError("That is none of ours.")
    return str(value)


class Desk:
    """A handler of things that belong to one owner, and all that happens in order."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.told: list[tuple[str, str, str]] = []
        self.shown: list[View] = []
        self.asked_owner: list[bool] = []
        self.fails: TriageError | None = None
        self.expired = self.is_broken = False
        workspace = FakeWorkspace()
        workspace.groups["C0OPS"] = frozenset({APPROVER})
        approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=workspace)
        approvers.refresh()
        self.handler = DecisionHandler(
            approvers,
            say_beside(self._tell, "C0OPS"),
            read=read,
            refusal=REFUSAL,
            owner=self._owner,
            on_permitted=lambda click, thing: self.order.append(f"permitted {thing}"),
        )

    def press(self, value: object = "thing 1", *, by: str = APPROVER) -> None:
        self.handler.decides(self._decide)(self._ack, self._body(by), {"value": value}, self)

    def open(self, value: object = "thing 1", *, by: str = APPROVER, fills: bool = False) -> None:
        listener = self.handler.opens(self._build, fill=self._fill if fills else None)
        listener(self._ack, self._body(by), {"value": value}, self)

    def submit(self, typed: str | None, value: object = "thing 1", *, by: str = APPROVER) -> None:
        view = {"private_metadata": value, "state": {"values": {BLOCK: {"value": {"value": typed}}}}}
        listener = self.handler.submits(self._decide_words, block=BLOCK, check=self._check)
        listener(self._ack, {**payload("view_submission"), "user": {"id": by, "team_id": "T1"}}, view)

    def views_open(self, *, trigger_id: str, view: View) -> dict[str, Any]:
        """Be Slack's client."""
        self.order.append("opened")
        if self.expired:
            raise SlackApiError("refused", {"ok": False, "error": "expired_trigger_id"})
        return {"view": {"id": "V1"}}

    def views_update(self, *, view_id: str, view: View) -> None:
        self.order.append(f"filled {view_id}")
        self.shown.append(view)

    def _fill(self, click: Click, thing: str) -> View:
        if self.fails:
            raise self.fails
        return View(type="modal", title="Full", blocks=[])

    def _body(self, by: str) -> dict[str, Any]:
        return {**payload("block_actions"), "user": {"id": by, "team_id": "T1"}, "channel": {"id": "C1"}}

    def _ack(self, **answer: Any) -> None:
        self.order.append(f"ack {answer.get('errors', '')}".strip())

    def _tell(self, channel: str, user: str, text: str) -> None:
        self.told.append((channel, user, text))

    def _owner(self, click: Click, thing: str, asks: bool) -> str:
        self.asked_owner.append(asks)
        return OWNER if click.user == OWNER else ""

    def _decide(self, click: Click, thing: str) -> str:
        self.order.append(f"decided {thing} by {click.user}")
        if self.fails:
            raise self.fails
        return "Done."

    def _decide_words(self, click: Click, thing: str, words: str | None) -> str:
        self.order.append(f"words {words}")
        return self._decide(click, thing)

    def _build(self, click: Click, thing: str) -> View:
        if self.is_broken:
            raise KeyError("thing")
        return View(type="modal", title="T", blocks=[])

    def _check(self, thing: str, typed: str | None) -> str | None:
        if typed == "":
            raise InputError("This is empty.")
        return typed and typed.strip()


@pytest.fixture
def desk() -> Desk:
    return Desk()


class TestButton:
    """A button that decides at once."""

    @pytest.mark.parametrize("by", [APPROVER, OWNER])
    def test_who_may_decides_and_is_told_where_they_clicked(self, desk: Desk, by: str) -> None:
        """Acknowledged before anything else; the chat is asked whose it is."""
        desk.press(by=by)
        assert desk.order == ["ack", "permitted thing 1", f"decided thing 1 by {by}"]
        assert desk.told == [("C1", by, "Done.")]
        assert desk.asked_owner == [True]

    def test_who_may_not_is_told_so(self, desk: Desk) -> None:
        """Nothing is decided, and nobody is noted."""
        desk.press(by=OTHER)
        assert desk.order == ["ack"]
        assert desk.told == [("C1", OTHER, REFUSAL)]

    def test_a_value_of_another_version_is_told_of(self, desk: Desk) -> None:
        """It is acknowledged all the same."""
        desk.press("else")
        assert (desk.order, desk.told) == (["ack"], [("C1", APPROVER, "That is none of ours.")])

    @pytest.mark.parametrize(
        "error", [Conflict("Ben was first."), StoreError("disk full"), Unavailable("Slack is down"), InputError("no")]
    )
    def test_every_error_of_ours_is_an_answer(self, desk: Desk, error: TriageError) -> None:
        """In its own words, and for one pair of eyes."""
        desk.fails = error
        desk.press()
        assert desk.told == [("C1", APPROVER, str(error))]


class TestOpening:
    """A button that opens a dialogue."""

    def test_it_opens_before_any_request(self, desk: Desk) -> None:
        """For who seemed allowed when last asked; whoever deals with it is noted after."""
        desk.open(fills=True)
        assert desk.order == ["ack", "opened", "permitted thing 1", "filled V1"]
        assert desk.asked_owner == [False, True]
        assert desk.told == []

    def test_why_it_cannot_be_filled_stands_in_it(self, desk: Desk) -> None:
        """Under the title that it was opened with."""
        desk.fails = InputError("This thread is gone <!channel>")
        desk.open(fills=True)
        assert [view.to_dict()["title"]["text"] for view in desk.shown] == ["T"]
        assert "This thread is gone &lt;!channel&gt;" in str(desk.shown[0].to_dict())
        assert desk.told == []

    def test_who_may_not_sees_nothing(self, desk: Desk) -> None:
        """They are asked for in full before they are refused."""
        desk.open(by=OTHER)
        assert (desk.order, desk.told) == (["ack"], [("C1", OTHER, REFUSAL)])
        assert desk.asked_owner == [False, True]

    def test_a_trigger_that_expired_is_told(self, desk: Desk) -> None:
        """Nothing is filled."""
        desk.expired = True
        desk.open(fills=True)
        assert desk.order == ["ack", "opened"]
        assert "expired_trigger_id" in desk.told[0][2]


class TestSubmit:
    """A dialogue with words in it."""

    def test_words_that_are_wrong_keep_it_open(self, desk: Desk) -> None:
        """Under their input, with what was typed in sight."""
        desk.submit("")
        assert desk.order == ["ack {'words': 'This is empty.'}"]
        assert desk.told == []

    def test_it_closes_before_anybody_is_asked_and_the_words_that_count_are_decided_on(self, desk: Desk) -> None:
        """The answer goes to the ops channel, for a dialogue has no place."""
        desk.submit(" five ")
        assert desk.order[:3] == ["ack", "permitted thing 1", "words five"]
        assert desk.told == [("C0OPS", APPROVER, "Done.")]

    def test_an_input_left_as_it_was_is_none(self, desk: Desk) -> None:
        """Not every client sends an initial value back."""
        desk.submit(None)
        assert "words None" in desk.order

    def test_what_is_refused_after_the_acknowledgement_comes_back_with_the_words(self, desk: Desk) -> None:
        """Nothing that was typed is lost."""
        desk.submit("five", by=OTHER)
        desk.fails = Conflict("Ben was first.")
        desk.submit("five")
        assert [text for _, _, text in desk.told] == [
            f"{REFUSAL}\nYou wrote:\n```\nfive\n```",
            "Ben was first.\nYou wrote:\n```\nfive\n```",
        ]


def test_a_click_names_its_person_its_place_and_its_value() -> None:
    """As Slack tells of it."""
    body = payload("block_actions")
    body["channel"], body["user"] = {"id": "C1"}, {"id": "U1", "team_id": "T1", "name": "ana"}
    body["container"] = {"message_ts": "1.2"}
    click = Click.of(body, {"value": "v"})
    assert (click.who, click.name, click.channel, click.message_ts) == (("U1", "T1"), "ana", "C1", "1.2")
    assert click.value == "v"


def test_a_submit_carries_its_dialogues_metadata_and_inputs() -> None:
    """What was left as it was is None."""
    view = {
        "private_metadata": "m",
        "state": {"values": {"a": {ids.INPUT: {"value": "typed"}}, "b": {ids.INPUT: {"value": None}}}},
    }
    click = Click.submitted({"user": {"id": "U1"}, "team": {"id": "T1"}}, view)
    assert (click.value, click.who) == ("m", ("U1", "T1"))
    assert [text_of(click.view, block) for block in ("a", "b", "c")] == ["typed", None, None]
    assert field_of({}, "a") is None
