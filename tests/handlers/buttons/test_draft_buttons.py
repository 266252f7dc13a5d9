"""Clicks and submits: who may, answered to the one who clicked, dialogues first and decisions once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from blocks import ids
from bot.casework.approvers import Approvers
from bot.casework.checks.addresses import ShownCitation
from bot.casework.checks.sources import Missing
from bot.casework.clicks import DraftClick
from bot.domain.threads import PendingReason, Resolution, ThreadState, ThreadStatus
from bot.errors import ProviderError, Unconfirmed
from bot.ports import Person
from bot.ports.chat import IN_FLIGHT
from handlers.buttons.draft_buttons import NOT_YOURS, ClickReplies, DraftButtons, NoteButtons, draft_evidence
from tests.builders import THREAD_ID, a_return
from tests.casework.office import ANN, BEN, Office
from tests.payloads import payload

CARL = "U3"


class RecordedAck:
    """What Slack was answered."""

    def __init__(self, order: list[str], on_ack: Callable[[], object] = lambda: None) -> None:
        self.answers: list[dict[str, Any]] = []
        self._order, self._on_ack = order, on_ack

    def __call__(self, **answer: Any) -> None:
        self._on_ack()
        self.answers.append(answer)
        self._order.append("ack")


class RecordedClient:
    """The dialogues that were opened; `expired` makes Slack refuse the trigger."""

    def __init__(self, order: list[str]) -> None:
        self.opened: list[dict[str, Any]] = []
        self.updated: list[dict[str, Any]] = []
        self.expired = False
        self._order = order

    def views_open(self, *, trigger_id: str, view: Any) -> dict[str, Any]:
        self._order.append("open")
        if self.expired:
            raise SlackApiError("refused", {"ok": False, "error": "expired_trigger_id"})
        self.opened.append({"trigger_id": trigger_id, **view.to_dict()})
        return {"ok": True, "view": {"id": "V1"}}

    def views_update(self, *, view_id: str, view: Any) -> None:
        self._order.append("update")
        self.updated.append({"view_id": view_id, **view.to_dict()})


class RecordedHome:
    """What was said on pages, and how often all of them were brought up to date."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str, str]] = []
        self.about: list[str] = []
        self.refreshed = 0

    def say(self, user: str, team: str, text: str, about: str = "") -> None:
        self.said.append((user, team, text))
        self.about.append(about)

    def refresh(self) -> None:
        self.refreshed += 1


class NoLines:
    """Reads no codebase, of a process without secrets."""

    known_secrets: frozenset[str] = frozenset()

    def citations(self, state: ThreadState, *, at_most: int) -> list[ShownCitation]:
        refs = state.investigator_return.evidence_refs if state.investigator_return else ()
        return [ShownCitation(ref, True, "", Missing(""), ref.quote) for ref in refs]


class Edge:
    """The listeners over an office with a draft that waits; Ben may approve, Carl may not."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.order: list[str] = []
        self.told: list[tuple[str, str, str]] = []
        self.client = RecordedClient(self.order)
        office.workspace.groups["C0OPS"] = frozenset({BEN})
        self.mute = False
        self.approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=office.workspace)
        self.approvers.refresh()
        self.home = RecordedHome()
        self.answers = ClickReplies(self._tell, self.home, office.store, self.approvers, ops_channel="C0OPS")  # type: ignore[arg-type]
        self.listeners = DraftButtons(
            office.decisions,
            self.approvers,
            office.store,
            evidence=partial(draft_evidence, office.store, NoLines(), lambda _: None),  # type: ignore[arg-type]
            answers=self.answers,
            more=NoteButtons(office.notes, self.approvers, say=self.answers.say, team="").menu,
        )

    def _tell(self, channel: str, user: str, text: str) -> None:
        if self.mute:
            raise ProviderError("Slack could not answer you: user_not_in_channel")
        self.order.append("tell")
        self.told.append((channel, user, text))

    @property
    def last_word(self) -> str:
        """What the one who clicked was told last."""
        return self.told[-1][2]

    def press(
        self, name: str, value: str | None, *, by: str = BEN, team: str = "T1", at_home: bool = False
    ) -> RecordedAck:
        """Click a button of the card, or of the same draft on App Home."""
        body = home_click() if at_home else payload("block_actions")
        body["user"] = {**body["user"], "id": by, "team_id": team}
        action = {**body["actions"][0], "value": value}
        body["actions"] = [action]
        ack = RecordedAck(self.order)
        self.listeners.actions[name](ack, body, action, self.client)
        return ack

    def choose(self, value: object, *, by: str = BEN) -> RecordedAck:
        """Choose an entry of the overflow menu."""
        body = payload("block_actions")
        body["user"] = {**body["user"], "id": by}
        option = None if value is None else {"text": {"type": "plain_text", "text": "x"}, "value": value}
        action = {**body["actions"][0], "type": "overflow", "selected_option": option}
        body["actions"] = [action]
        ack = RecordedAck(self.order)
        self.listeners.actions[ids.MORE](ack, body, action, self.client)
        return ack

    def submit(
        self,
        name: str,
        click: DraftClick,
        *,
        by: str = BEN,
        at_home: bool = False,
        on_ack: Callable[[], object] = lambda: None,
        **typed: Any,
    ) -> RecordedAck:
        """Submit a dialogue with what was typed into its inputs."""
        self.office.workspace.asked.clear()
        body = payload("view_submission")
        body["user"] = {**body["user"], "id": by}
        view = body["view"]
        view["private_metadata"] = ids.encode_dialogue(click, from_home=at_home)
        view["state"]["values"] = {block: {ids.INPUT: value} for block, value in typed.items()}
        ack = RecordedAck(self.order, on_ack)
        self.listeners.views[name](ack, body, view)
        return ack

    def value(self) -> str:
        """Return the value of the buttons of the card as it stands."""
        return ids.CLICK.encode(self.office.click())


def words(text: str | None) -> dict[str, Any]:
    return {"type": "plain_text_input", "value": text}


def given_back_as(typed: str, why: str = NOT_YOURS) -> str:
    """Return what is said where something was submitted in vain."""
    return f"{why}\nYou wrote:\n```\n{typed}\n```"


def home_click() -> dict[str, Any]:
    """Return a click as App Home sends it: from a view, in no channel and on no message."""
    body = payload("block_actions")
    for key in ("channel", "message", "response_url"):
        body.pop(key, None)
    view = {"id": "VHOME", "type": "home", "private_metadata": "", "blocks": []}
    return {**body, "container": {"type": "view", "view_id": "VHOME"}, "view": view}


SAVE = {"type": "checkboxes", "selected_options": [{"value": ids.ONLY_SAVE}]}
POST = {"type": "checkboxes", "selected_options": []}


@pytest.fixture
def edge(tmp_path: Path) -> Edge:
    """Listeners with a validated draft that waits."""
    return Edge(Office(tmp_path).asked())


class TestApprove:
    """The button that posts."""

    def test_an_approver_posts_and_sees_it_on_the_card(self, edge: Edge) -> None:
        """Acknowledged first, then posted; what the card shows is not said beside it."""
        edge.press(ids.APPROVE, edge.value())
        assert edge.order[0] == "ack"
        assert len(edge.office.messenger.posts) == 1
        assert edge.told == []

    @pytest.mark.parametrize(("by", "team"), [(CARL, "T1"), (ANN, "T1"), (BEN, "T9")])
    def test_nobody_else_does(self, edge: Edge, by: str, team: str) -> None:
        """Neither the asker nor the same id of another workspace."""
        edge.press(ids.APPROVE, edge.value(), by=by, team=team)
        assert edge.office.messenger.posts == []
        assert edge.told == [("C0OPS", by, NOT_YOURS)]

    def test_the_second_click_is_told_who_was_first(self, edge: Edge) -> None:
        """Two people, one post."""
        value = edge.value()
        edge.office.workspace.groups["C0OPS"] = frozenset({BEN, CARL})
        edge.press(ids.APPROVE, value)
        edge.press(ids.APPROVE, value, by=CARL)
        assert len(edge.office.messenger.posts) == 1
        assert f"approved by <@{BEN}>" in edge.last_word

    def test_an_unconfirmed_post_is_explained(self, edge: Edge) -> None:
        """What happened, and what the next click will do."""
        edge.office.messenger.lose, edge.office.messenger.lost_before_posting = Unconfirmed("x"), True
        edge.press(ids.APPROVE, edge.value())
        assert "Do not click again" in edge.last_word
        edge.office.messenger.lose = None
        edge.office.clock.advance(IN_FLIGHT.total_seconds())
        edge.press(ids.APPROVE, edge.value())
        assert len(edge.office.messenger.posts) == 1

    @pytest.mark.parametrize("value", [None, "", "T1.C1.1.2|1", "../../x|1||0", "x" * 3_000])
    def test_a_value_that_is_not_ours_does_nothing(self, edge: Edge, value: str | None) -> None:
        """And the one who clicked hears why."""
        edge.press(ids.APPROVE, value)
        assert edge.office.messenger.posts == []
        assert len(edge.told) == 1


class TestDialogues:
    """Open at once; the submit is where permission counts."""

    @pytest.mark.parametrize(
        ("name", "view"),
        [(ids.EDIT, ids.EDIT_VIEW), (ids.DISMISS, ids.DISMISS_VIEW), (ids.ADD_CONTEXT, ids.CONTEXT_VIEW)],
    )
    def test_a_dialogue_opens_before_anything_is_asked(self, edge: Edge, name: str, view: str) -> None:
        """A trigger lives three seconds, so Slack is not asked who may; it works while Slack answers nothing else."""
        edge.office.workspace.down = True
        edge.press(name, edge.value())
        assert edge.order == ["ack", "open"]
        [opened] = edge.client.opened
        assert (opened["callback_id"], opened["trigger_id"]) == (view, "111.222.abc")
        assert opened["private_metadata"] == edge.value()

    def test_a_draft_too_long_for_the_editor_opens_cut_and_is_posted_whole_when_untouched(self, tmp_path: Path) -> None:
        """The dialogue says what it does not show; no value means that the draft is to stay as it is."""
        draft = "word " * 700
        edge = Edge(Office(tmp_path, a_return(draft)).asked())
        edge.press(ids.EDIT, edge.value())
        note = edge.client.opened[0]["blocks"][0]
        assert "editor holds 3,000" in note["elements"][0]["text"]
        edge.submit(ids.EDIT_VIEW, edge.office.click(), reply=words(None), only_save=POST)
        assert edge.office.messenger.posts[0].text == draft

    def test_a_closed_thread_cannot_be_edited(self, edge: Edge) -> None:
        """The card was old."""
        value = edge.value()
        edge.press(ids.APPROVE, value)
        edge.press(ids.EDIT, value)
        assert edge.client.opened == []
        assert "closed" in edge.last_word

    def test_an_expired_trigger_is_told(self, edge: Edge) -> None:
        """The human clicks again instead of wondering."""
        edge.client.expired = True
        edge.press(ids.EDIT, edge.value())
        assert "expired_trigger_id" in edge.last_word


class TestSubmitEdit:
    """Post now, or save."""

    def test_edited_words_are_posted(self, edge: Edge) -> None:
        """Acknowledged without an error, then posted as they were typed."""
        ack = edge.submit(ids.EDIT_VIEW, edge.office.click(), reply=words("It is five."), only_save=POST)
        assert ack.answers == [{}]
        assert edge.office.messenger.posts[0].text == "It is five."

    def test_edited_words_may_wait(self, edge: Edge) -> None:
        """Saved: on the card, not in the thread."""
        edge.submit(ids.EDIT_VIEW, edge.office.click(), reply=words("It is five."), only_save=SAVE)
        assert edge.office.messenger.posts == []
        assert edge.office.shown.draft_pending == "It is five."

    def test_an_untouched_editor_posts_the_draft(self, edge: Edge) -> None:
        """Some clients send no value for an input that was left as it was."""
        edge.submit(ids.EDIT_VIEW, edge.office.click(), reply=words(None))
        assert edge.office.messenger.posts[0].text == a_return().draft_reply

    @pytest.mark.parametrize(
        "text",
        ["", "   ", "key ghp_" + "aB3dE5" * 6, "\u200b\u2060", "\u200d\ufe0f\u2800", "It is \ud83d five.", "\udc4d"],
    )
    def test_what_must_not_leave_is_said_in_the_dialogue(self, edge: Edge, text: str) -> None:
        """The dialogue stays open with what was typed."""
        ack = edge.submit(ids.EDIT_VIEW, edge.office.click(), reply=words(text), only_save=POST)
        [answer] = ack.answers
        assert answer["response_action"] == "errors"
        assert list(answer["errors"]) == [ids.REPLY]
        assert edge.office.messenger.posts == []

    def test_a_submit_after_the_thread_closed_says_who_closed_it(self, edge: Edge) -> None:
        """With the words given back."""
        click = edge.office.click()
        edge.press(ids.APPROVE, edge.value())
        edge.submit(ids.EDIT_VIEW, click, reply=words("Late."), only_save=POST)
        assert f"approved by <@{BEN}>" in edge.last_word
        assert "```\nLate.\n```" in edge.last_word
        assert len(edge.office.messenger.posts) == 1

    def test_words_that_could_not_be_posted_are_on_the_card(self, edge: Edge) -> None:
        """Slack refused the post: the edited draft waits, and is seen to wait."""
        edge.office.messenger.refuse = ProviderError("Slack could not post the reply: is_archived")
        edge.submit(ids.EDIT_VIEW, edge.office.click(), reply=words("It is five."), only_save=POST)
        assert "is_archived" in edge.last_word
        assert edge.office.shown.draft_pending == "It is five."

    def test_doubts_stop_edited_words_too(self, edge: Edge) -> None:
        """Same gate; the card then shows both the words and the doubt."""
        edge.office.changed_refs.add("app/retry.py:10-12")
        edge.submit(ids.EDIT_VIEW, edge.office.click(), reply=words("It is five."), only_save=POST)
        assert edge.last_word.startswith("Not posted yet")
        assert edge.office.shown.draft_pending == "It is five."
        edge.press(ids.APPROVE, edge.value())
        assert edge.office.messenger.posts[0].text == "It is five."

    def test_an_untouched_editor_tells_nobody_the_draft_who_may_not_decide(self, edge: Edge) -> None:
        """Only what was typed is given back, and here nothing was."""
        edge.submit(ids.EDIT_VIEW, edge.office.click(), by=CARL, reply=words(None))
        assert edge.last_word == NOT_YOURS

    def test_who_may_not_is_refused_at_the_submit(self, edge: Edge) -> None:
        """Opening the editor gave no right."""
        ack = edge.submit(ids.EDIT_VIEW, edge.office.click(), by=CARL, reply=words("Mine."), only_save=POST)
        assert ack.answers == [{}]
        assert edge.told == [("C0OPS", CARL, given_back_as("Mine."))]
        assert edge.office.state.draft_pending == a_return().draft_reply

    def test_who_lost_the_right_meanwhile_is_refused(self, edge: Edge) -> None:
        """The submit asks anew."""
        edge.press(ids.EDIT, edge.value())
        edge.office.workspace.groups["C0OPS"] = frozenset()
        ack = edge.submit(ids.EDIT_VIEW, edge.office.click(), reply=words("Mine."), only_save=POST)
        assert ack.answers == [{}]
        assert edge.last_word == given_back_as("Mine.")
        assert edge.office.messenger.posts == []


class TestOtherSubmits:
    """Dismiss and context."""

    @pytest.mark.parametrize(
        ("name", "block", "text"),
        [
            (ids.DISMISS_VIEW, ids.REASON, "no \ud800"),
            (ids.CONTEXT_VIEW, ids.CONTEXT, "we mean v2 \udfff"),
            (ids.CONTEXT_VIEW, ids.CONTEXT, "\u200b\u200e"),
        ],
    )
    def test_what_cannot_be_stored_or_seen_is_said_in_the_dialogue(
        self, edge: Edge, name: str, block: str, text: str
    ) -> None:
        """Half a character, or nothing but invisible ones: the dialogue stays open and nothing changes."""
        before = edge.office.state
        ack = edge.submit(name, edge.office.click(), **{block: words(text)})
        assert list(ack.answers[0]["errors"]) == [block]
        assert edge.office.state == before

    @pytest.mark.parametrize("name", [ids.EDIT_VIEW, ids.DISMISS_VIEW, ids.CONTEXT_VIEW])
    def test_a_submit_is_acknowledged_before_slack_is_asked_anything(self, edge: Edge, name: str) -> None:
        """Slack waits 3 s, and who may is up to three requests."""
        asked: list[int] = []
        click, workspace = edge.office.click(), edge.office.workspace
        ack = edge.submit(
            name,
            click,
            on_ack=lambda: asked.append(len(workspace.asked)),
            reply=words("Mine."),
            reason=words("no"),
            context=words("we mean v2"),
        )
        assert ack.answers == [{}]
        assert asked == [0]
        assert workspace.asked_fresh == [BEN]

    def test_words_refused_on_the_home_come_back_in_full(self, edge: Edge) -> None:
        """The page says why; the text comes as a message, for a page is drawn anew every minute."""
        edge.submit(ids.CONTEXT_VIEW, edge.office.click(), by=CARL, at_home=True, context=words("a\nb"))
        assert edge.home.said == [(CARL, "T1", NOT_YOURS)]
        assert edge.told == [("C0OPS", CARL, given_back_as("a\nb"))]

    def test_a_reason_is_kept(self, edge: Edge) -> None:
        """With or without words."""
        edge.submit(ids.DISMISS_VIEW, edge.office.click(), reason=words("by phone"))
        assert (edge.office.ended.resolution, edge.office.ended.dismiss_reason) == (Resolution.DISMISSED, "by phone")

    def test_context_starts_anew(self, edge: Edge) -> None:
        """And the card says so."""
        edge.submit(ids.CONTEXT_VIEW, edge.office.click(), context=words("we mean v2"))
        assert edge.office.state.status is ThreadStatus.INVESTIGATING

    @pytest.mark.parametrize("name", [ids.DISMISS_VIEW, ids.CONTEXT_VIEW])
    def test_who_may_not_is_refused_at_the_submit(self, edge: Edge, name: str) -> None:
        """Nothing changes, and what was typed comes back."""
        before = edge.office.state
        ack = edge.submit(name, edge.office.click(), by=CARL, context=words("x"), reason=words("x"))
        assert ack.answers == [{}]
        assert edge.last_word == given_back_as("x")
        assert edge.office.state == before

    def test_words_that_came_too_late_are_given_back(self, edge: Edge) -> None:
        """The dialogue is closed by then; what was typed is not lost."""
        click = edge.office.click()
        edge.press(ids.APPROVE, edge.value())
        edge.submit(ids.CONTEXT_VIEW, click, context=words("a long explanation"))
        assert "You wrote:\n```\na long explanation\n```" in edge.last_word


class TestMenu:
    """The overflow menu."""

    def option(self, edge: Edge, action: str) -> str:
        return ids.encode_option(action, edge.office.click())

    def test_reinvestigate_sends_the_question_back(self, edge: Edge) -> None:
        """For approvers only."""
        value = self.option(edge, ids.REINVESTIGATE)
        edge.choose(value, by=CARL)
        assert edge.office.state.status is ThreadStatus.PENDING_USER
        edge.choose(value)
        assert edge.office.state.status is ThreadStatus.INVESTIGATING

    def test_the_evidence_opens_before_anything_is_asked_and_empty(self, edge: Edge) -> None:
        """A trigger lives three seconds; what the draft cites comes after permission is certain."""
        edge.choose(self.option(edge, ids.SHOW_EVIDENCE))
        assert edge.order == ["ack", "open", "update"]
        assert "app/retry.py" not in str(edge.client.opened)
        [filled] = edge.client.updated
        assert filled["view_id"] == "V1"
        assert "app/retry.py" in str(filled)

    def test_a_long_investigation_is_asked_for_by_whoever_may_approve(self, tmp_path: Path) -> None:
        """And by nobody else."""
        edge = Edge(Office(tmp_path, has_model=True).asked())
        value = self.option(edge, ids.ESCALATE)
        edge.choose(value, by=CARL)
        assert edge.office.state.status is ThreadStatus.PENDING_USER
        edge.choose(value)
        assert edge.office.state.status is ThreadStatus.ESCALATED

    def test_a_long_investigation_without_a_model_is_refused_in_plain_words(self, edge: Edge) -> None:
        """Nothing changes."""
        edge.choose(self.option(edge, ids.ESCALATE))
        assert "needs a model" in edge.last_word
        assert edge.office.state.status is ThreadStatus.PENDING_USER

    def test_evidence_of_a_closed_thread_can_still_be_read(self, edge: Edge) -> None:
        """From the archive; of an unknown thread there is none, and that is said."""
        value = self.option(edge, ids.SHOW_EVIDENCE)
        edge.press(ids.APPROVE, edge.value())
        edge.choose(value)
        assert "app/retry.py" in str(edge.client.updated[0])
        edge.choose(value.replace(THREAD_ID, "T1.C1.9.9"))
        assert "no longer stored" in str(edge.client.updated[1])

    def test_who_lost_the_right_meanwhile_sees_no_evidence(self, edge: Edge) -> None:
        """The dialogue that opened says no."""
        edge.office.workspace.groups["C0OPS"] = frozenset()
        edge.choose(self.option(edge, ids.SHOW_EVIDENCE))
        [filled] = edge.client.updated
        assert NOT_YOURS in str(filled)
        assert "app/retry.py" not in str(filled)


class TestAtHome:
    """The same buttons on App Home: answered there, for nobody looks at the ops channel meanwhile."""

    def test_a_click_is_answered_on_the_page(self, edge: Edge) -> None:
        """And posts as it does on the card."""
        edge.press(ids.APPROVE, edge.value(), at_home=True)
        assert len(edge.office.messenger.posts) == 1
        assert (edge.home.said, edge.told) == ([(BEN, "T1", "Posted.")], [])
        assert edge.home.about == ["How often do we retry?"]

    @pytest.mark.parametrize(
        ("name", "typed", "says"),
        [
            (ids.EDIT_VIEW, {"reply": words("It is five."), "only_save": POST}, "Posted."),
            (ids.EDIT_VIEW, {"reply": words("It is five."), "only_save": SAVE}, "Saved. The card shows your version."),
            (ids.DISMISS_VIEW, {"reason": words(None)}, "Dismissed. Nothing was posted."),
            (ids.CONTEXT_VIEW, {"context": words("we mean v2")}, "Noted. The investigator will use it."),
        ],
    )
    def test_a_submit_is_answered_where_its_dialogue_was_opened(
        self, edge: Edge, name: str, typed: dict[str, Any], says: str
    ) -> None:
        """Not in the ops channel."""
        edge.submit(name, edge.office.click(), at_home=True, **typed)
        assert (edge.home.said, edge.told) == ([(BEN, "T1", says)], [])
        assert edge.home.about == ["How often do we retry?"]

    def test_a_click_on_the_card_brings_the_pages_up_to_date(self, edge: Edge) -> None:
        """What others still see there is decided."""
        edge.press(ids.APPROVE, edge.value())
        assert edge.home.refreshed == 1

    def test_two_people_at_two_places_post_once(self, edge: Edge) -> None:
        """One on the page, one on the card, at the same moment; the loser is told who was first, where they are."""
        edge.office.workspace.groups["C0OPS"] = frozenset({BEN, CARL})
        value, start = edge.value(), Barrier(2)

        def press(by: str, at_home: bool) -> None:
            start.wait()
            edge.press(ids.APPROVE, value, by=by, at_home=at_home)

        with ThreadPoolExecutor(2) as both:
            list(both.map(press, (BEN, CARL), (True, False)))
        assert len(edge.office.messenger.posts) == 1
        on_page = edge.home.said[0][2]
        loser, winner = (edge.last_word, BEN) if on_page == "Posted." else (on_page, CARL)
        assert f"<@{winner}>" in loser


@pytest.mark.parametrize("strip", [lambda body: body.pop("team"), lambda body: body["user"].pop("team_id")])
def test_the_team_is_found_wherever_slack_puts_it(edge: Edge, strip: Callable[[dict[str, Any]], Any]) -> None:
    """On the user, or on the body."""
    body = payload("block_actions")
    strip(body)
    ack = RecordedAck(edge.order)
    edge.listeners.actions[ids.APPROVE](ack, body, {"value": edge.value()}, edge.client)
    assert len(edge.office.messenger.posts) == 1


def test_a_body_without_any_team_may_nothing(edge: Edge) -> None:
    """Unsaid is not ours."""
    body = payload("block_actions")
    body["user"].pop("team_id")
    body.pop("team")
    edge.listeners.actions[ids.APPROVE](RecordedAck(edge.order), body, {"value": edge.value()}, edge.client)
    assert edge.office.messenger.posts == []


class TestPages:
    """A click on the card of a question that pages says that somebody deals with it."""

    @pytest.fixture
    def page(self, tmp_path: Path) -> Edge:
        """Listeners with the draft for an alarm."""
        return Edge(Office(tmp_path).asked("prod is down!!"))

    @pytest.mark.parametrize("button", [ids.EDIT, ids.DISMISS, ids.ADD_CONTEXT, ids.REINVESTIGATE])
    def test_whoever_clicks_has_it(self, page: Edge, button: str) -> None:
        """Also with a dialogue that is only opened."""
        page.press(button, page.value())
        assert page.office.state.paging.acknowledged_by == BEN

    @pytest.mark.parametrize("button", [ids.EDIT, ids.REINVESTIGATE, ids.APPROVE])
    def test_who_may_not_decide_silences_nothing(self, page: Edge, button: str) -> None:
        """Their click is refused."""
        page.press(button, page.value(), by=CARL)
        assert page.office.state.paging.acknowledged_by is None

    def test_a_click_that_is_refused_for_another_reason_counts(self, page: Edge) -> None:
        """An approver was there, though the card was out of date."""
        old = page.value()
        page.office.decisions.edit(page.office.click(), "Rolled back.", by=BEN)
        page.press(ids.APPROVE, old)
        assert page.office.messenger.posts == []
        assert page.office.state.paging.acknowledged_by == BEN


def test_a_failed_investigation_can_be_answered_by_hand(tmp_path: Path) -> None:
    """The card offers to write the reply; what is written goes the way of every reply."""
    edge = Edge(Office(tmp_path, ProviderError("away")).asked())
    assert edge.office.state.pending_reason is PendingReason.FAILED
    edge.press(ids.EDIT, edge.value())
    edge.submit(ids.EDIT_VIEW, edge.office.click(), reply=words("It is five."), only_save=POST)
    assert edge.office.messenger.posts[0].text == "It is five."


class TestPermission:
    """Who may not decide sees no draft either, and learns so at the click."""

    @pytest.mark.parametrize("name", [ids.EDIT, ids.DISMISS, ids.ADD_CONTEXT])
    def test_a_dialogue_does_not_open_for_others(self, tmp_path: Path, name: str) -> None:
        """Carl gets an ephemeral no instead of the draft."""
        edge = Edge(Office(tmp_path).asked())
        edge.press(name, ids.CLICK.encode(edge.office.click()), by=CARL)
        assert edge.client.opened == []
        assert edge.last_word == NOT_YOURS

    def test_evidence_is_for_approvers_only(self, tmp_path: Path) -> None:
        """There is no submit to check at, so the click is checked in full."""
        edge = Edge(Office(tmp_path).asked())
        edge.choose(ids.encode_option(ids.SHOW_EVIDENCE, edge.office.click()), by=CARL)
        assert edge.client.opened == []
        assert edge.last_word == NOT_YOURS

    def test_permission_withdrawn_while_the_dialogue_was_open_counts(self, tmp_path: Path) -> None:
        """The submit asks the chat again; nothing is posted."""
        edge = Edge(Office(tmp_path).asked())
        click = edge.office.click()
        edge.press(ids.EDIT, ids.CLICK.encode(click))
        edge.office.workspace.groups["C0OPS"] = frozenset()
        ack = edge.submit(ids.EDIT_VIEW, click, reply={"type": "plain_text_input", "value": "mine"})
        assert ack.answers == [{}]
        assert edge.last_word == given_back_as("mine")
        assert edge.office.messenger.posts == []

    @pytest.mark.parametrize("name", [ids.APPROVE, ids.EDIT, ids.DISMISS, ids.ADD_CONTEXT])
    def test_another_teams_user_of_the_same_id_may_nothing(self, tmp_path: Path, name: str) -> None:
        """An id is only unique in its team."""
        edge = Edge(Office(tmp_path).asked())
        edge.press(name, ids.CLICK.encode(edge.office.click()), team="T9")
        assert edge.last_word == NOT_YOURS
        assert (edge.client.opened, edge.office.messenger.posts) == ([], [])

    @pytest.mark.parametrize("flaw", ["is_guest", "is_external", "is_deactivated"])
    def test_whoever_became_a_stranger_is_refused_at_the_submit(self, tmp_path: Path, flaw: str) -> None:
        """Still in the ops channel, no longer one of us."""
        edge = Edge(Office(tmp_path).asked())
        click = edge.office.click()
        edge.press(ids.EDIT, ids.CLICK.encode(click))
        edge.office.workspace.people[BEN] = Person(user_id=BEN, name="b", **{flaw: True})  # type: ignore[arg-type]
        ack = edge.submit(ids.EDIT_VIEW, click, reply={"type": "plain_text_input", "value": "mine"})
        assert ack.answers == [{}]
        assert edge.last_word == given_back_as("mine")
        assert edge.office.messenger.posts == []


def test_a_long_draft_submitted_as_the_editor_showed_it_is_posted_whole(tmp_path: Path) -> None:
    """Slack sends the shown beginning back when nobody touched it; the rest of the draft is not lost."""
    draft = "\n\n".join(f"Paragraph {number} says something of its own." for number in range(100))
    edge = Edge(Office(tmp_path, a_return(draft)).asked())
    click = edge.office.click()
    edge.press(ids.EDIT, ids.CLICK.encode(click))
    shown = next(block["element"]["initial_value"] for block in edge.client.opened[0]["blocks"] if "element" in block)
    assert len(shown) < len(draft)
    edge.submit(ids.EDIT_VIEW, click, reply={"type": "plain_text_input", "value": shown})
    assert [post.text for post in edge.office.messenger.posts] == [draft]
