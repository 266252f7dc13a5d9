"""From Slack's bodies to events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.events import MessageType, thread_key
from bot.intake.normalise import Identity, Incoming, is_edited_message, normalise
from tests.payloads import payload
from tests.tables import each_row

ME = Identity(team_id="T1", user_id="U0BOT", bot_id="B0BOT")


def read(name: str) -> Incoming:
    """Return what a recorded body says."""
    incoming = normalise(payload(name), ME)
    assert incoming is not None
    return incoming


def test_a_message_becomes_an_event_with_every_field() -> None:
    """All fields of an Event are there, times in UTC."""
    event = read("message").event
    assert event.model_dump(mode="json") == {
        "platform": "slack",
        "team_id": "T1",
        "chat_id": "C0HELP",
        "chat_name": None,
        "message_id": "1795165200.000100",
        "create_time": "2026-11-20T09:00:00.000100Z",
        "msg_type": "text",
        "content": "How often do we retry a payment?",
        "thread_id": None,
        "sender": {"id": "U0ANN", "type": "user"},
        "mentions": [],
        "event_id": "Ev0001",
        "client_msg_id": "3f2a1b7e-0000-4000-8000-000000000001",
        "edited_ts": None,
        "images": [],
        "alert": None,
    }


@each_row(
    "name, kind",
    [
        ("message", MessageType.TEXT),
        ("app_mention", MessageType.TEXT),
        ("message_in_thread", MessageType.THREAD_REPLY),
        ("thread_broadcast", MessageType.THREAD_REPLY),
        ("me_message", MessageType.TEXT),
        ("bot_message", MessageType.TEXT),
        ("file_share_image", MessageType.IMAGE),
        ("file_share_pdf", MessageType.FILE),
        ("message_changed_by_edit", MessageType.EDIT),
        ("message_changed_tombstone", MessageType.DELETE),
        ("message_deleted", MessageType.DELETE),
    ],
)
def test_what_people_write_has_a_kind(name: str, kind: MessageType) -> None:
    """Each sort of message Slack knows is told apart; a picture among other files is a file."""
    assert read(name).event.msg_type is kind


@each_row(
    "name",
    [
        "channel_join",
        "message_changed_by_unfurl",
        "message_changed_unfurl_of_edited",
        "own_echo",
        "own_card_changed",
    ],
)
def test_what_nobody_wrote_is_nothing(name: str) -> None:
    """Joins, unfurls (of edited messages, too) and our own posts and updates make no event."""
    assert normalise(payload(name), ME) is None


def test_an_edit_and_a_deletion_are_about_the_message_concerned() -> None:
    """Their message_id is that of the message edited or deleted, their thread that of the message."""
    edit, deleted, reply = read("message_changed_by_edit"), read("message_deleted"), read("message_deleted_reply")
    assert edit.event.message_id == deleted.event.message_id == "1795165200.000100"
    assert edit.event.content == "How often do we retry a refund?"
    assert reply.event.message_id == "1795165260.000200"
    assert thread_key(reply.event) == thread_key(edit.event) == "T1.C0HELP.1795165200.000100"


def test_a_parent_deleted_under_replies_is_a_deletion_of_the_parent() -> None:
    """Slack turns it into a tombstone by USLACKBOT; the event is about the asker's message."""
    event = read("message_changed_tombstone").event
    assert (event.msg_type, event.message_id, event.sender.id) == (MessageType.DELETE, "1795165200.000100", "U0ANN")
    assert event.thread_id is None


def test_both_copies_of_a_mention_carry_the_mention() -> None:
    """Whichever comes first, the bot sees that it was addressed."""
    message, mention = read("message_with_mention").event, read("app_mention").event
    assert message.mentions == mention.mentions == ("U0BOT",)
    assert message.event_id != mention.event_id


def test_mentions_are_found_once_each_in_every_spelling() -> None:
    """With a name behind the bar, of people of an enterprise (W…), and twice in one message."""
    body = payload("message")
    body["event"]["text"] = "<@U0A> <@W0B|bea> <@U0A> <!here> <#C0X> <@u0low> &lt;@U0C&gt;"
    incoming = normalise(body, ME)
    assert incoming is not None
    assert incoming.event.mentions == ("U0A", "W0B")


def test_what_a_forwarded_message_shows_comes_with_the_event_and_addresses_nobody() -> None:
    """Its words are quoted and its images named; the bot's name in it is no mention."""
    body = payload("message")
    image = {"id": "F0SHOT", "mimetype": "image/png"}
    body["event"]["attachments"] = [{"is_share": True, "text": "<@U0BOT> it fails", "files": [image]}]
    incoming = normalise(body, ME)
    assert incoming is not None
    assert incoming.event.content == "How often do we retry a payment?\n> <@U0BOT> it fails"
    assert (incoming.event.mentions, incoming.event.images) == ((), ("F0SHOT",))


def test_slackbot_writes_nothing_that_counts() -> None:
    """Neither an answer of its own nor a change of it."""
    body, changed = payload("message"), payload("message_changed_by_edit")
    body["event"]["user"] = changed["event"]["message"]["user"] = "USLACKBOT"
    assert normalise(body, ME) is None
    assert normalise(changed, ME) is None


FIRING = {
    "bot_id": "B0ALERT",
    "text": "",
    "attachments": [{"title": "[FIRING:1] Slow", "text": "p99", "color": "danger"}],
}
PAGE = {"from_url": "https://x.io", "title": "a page"}


@each_row(
    "before, after, is_edit",
    [
        (FIRING, {**FIRING, "attachments": [{**FIRING["attachments"][0], "title": "[RESOLVED] Slow"}]}, True),
        (FIRING, {**FIRING, "attachments": [{**FIRING["attachments"][0], "color": "good"}]}, True),
        (FIRING, {**FIRING, "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "resolved"}}]}, True),
        (FIRING, {**FIRING, "text": "acknowledged by ana"}, True),
        (FIRING, {**FIRING, "reply_count": 1, "edited": {"user": "B0ALERT", "ts": "1795165230.000000"}}, False),
        (FIRING, {**FIRING, "attachments": [*FIRING["attachments"], PAGE]}, False),
        ({"text": "a", "user": "U1"}, {"text": "b", "user": "U1"}, False),
        ({"text": "a", "user": "U1"}, {"text": "b", "user": "U1", "edited": {}}, False),
        ({"text": "a", "user": "U1"}, {"text": "b", "user": "U1", "edited": {"ts": "1"}}, True),
        ({"text": "a", "user": "U1"}, {"text": "a", "user": "U1", "edited": {"ts": "1"}, "attachments": [PAGE]}, False),
        (
            {"text": "a", "user": "U1", "edited": {"ts": "1"}},
            {"text": "a", "user": "U1", "edited": {"ts": "1"}, "attachments": [{"is_msg_unfurl": True, "text": "x"}]},
            False,
        ),
        (None, {"text": "b", "user": "U1", "edited": {"ts": "1"}}, True),
        (None, FIRING, False),
    ],
)
def test_a_change_is_an_edit_if_its_author_made_it(before: Any, after: dict[str, Any], is_edit: bool) -> None:
    """Of a bot everything it shows counts: an alert is resolved in place, maybe by its colour alone."""
    event = {"type": "message", "subtype": "message_changed", "channel": "C0HELP", "previous_message": before}
    message = {**after, "ts": "1795165200.000100"}
    incoming = normalise({**payload("message"), "event": {**event, "message": message}}, ME)
    assert (incoming and incoming.event.msg_type) == (MessageType.EDIT if is_edit else None)


@each_row("before, is_edit", [("a", False), ("a\n> x", False), ("b", True), (None, True)])
def test_a_message_read_back_is_edited_if_its_words_are_others(before: str | None, is_edit: bool) -> None:
    """Whether it was read before or after Slack showed what it links to."""
    preview = {"is_msg_unfurl": True, "from_url": "https://shop.slack.com/archives/C1/p1", "text": "x"}
    assert is_edited_message({"text": "a", "edited": {"ts": "1"}, "attachments": [preview]}, before) is is_edit


def test_a_bot_is_known_by_all_its_ids() -> None:
    """An operator may list the bot, its user or its app."""
    alert, other = read("bot_message"), read("message_of_another_app")
    assert (alert.event.sender.id, alert.event.sender.type) == ("B0ALERT", "bot")
    assert alert.sender_ids == {"B0ALERT", "A0ALERT"}
    assert (other.event.sender.id, other.event.sender.type) == ("U0OTHERBOT", "bot")
    assert other.sender_ids == {"U0OTHERBOT", "B0OTHER", "A0OTHER"}


def test_a_partners_team_is_told() -> None:
    """A Slack Connect message keeps our team as its own and is known as a partner's."""
    incoming = read("slack_connect")
    assert (incoming.event.team_id, incoming.is_foreign) == ("T1", True)


@each_row("team", ["T1", "T9", None])
def test_a_shared_channels_message_is_one_of_our_workspace_whatever_team_is_named(team: str | None) -> None:
    """Slack may name the partner's team on top; `authorizations` names ours, and one message has one thread."""
    body = {**payload("message"), "team_id": team, "authorizations": [{"team_id": "T1", "enterprise_id": None}]}
    body["event"] |= {"user_team": "T1", "team": "T1", "source_team": "T9"}
    incoming = normalise(body, ME)
    assert incoming is not None
    assert thread_key(incoming.event) == "T1.C0HELP.1795165200.000100"
    assert not incoming.is_foreign
    partner = normalise({**body, "event": {**body["event"], "user_team": "T9", "team": "T9"}}, ME)
    assert partner is not None
    assert partner.is_foreign


def test_on_an_enterprise_grid_only_the_chat_can_tell_a_sister_workspace_from_a_partner() -> None:
    """The event does not say whose workspace it is; live events name our company, those read back do not."""
    body = payload("slack_connect")
    live = normalise({**body, "authorizations": [{"team_id": "T1", "enterprise_id": "E1"}]}, ME)
    read_back = normalise(body, Identity(team_id="T1", user_id="U0BOT", enterprise_id="E1"))
    for incoming in (live, read_back):
        assert incoming is not None
        assert not incoming.is_foreign


def test_a_body_without_channel_and_ts_is_refused() -> None:
    """What has no place cannot be answered."""
    with pytest.raises(ValueError, match="channel and ts"):
        normalise(payload("fields_missing"), ME)


@each_row(
    "change",
    [
        {"ts": None},
        {"ts": "../../etc"},
        {"ts": 5},
        {"ts": "999999999999.000100"},
        {"channel": None},
        {"channel": "C0/../x"},
        {"thread_ts": "soon"},
        {"thread_ts": 5},
        {"ts": "１７９５１６５２００.０００１００"},
        {"channel": "Ç0HELP"},
        {"user": None},
        {"user": {"id": "U0ANN"}},
        {"user": "../../U0ANN"},
        {"user": "T1"},
        {"team": ["T1"]},
        {"text": {"text": "why?"}},
        {"subtype": ["x"]},
        {"subtype": {}},
    ],
)
def test_an_unusable_field_is_refused(change: dict[str, Any]) -> None:
    """Nothing that becomes a file name or a thread id is taken on trust."""
    body = payload("message")
    body["event"].update(change)
    with pytest.raises(ValueError, match=r"unusable|usable|year"):
        normalise(body, ME)


@each_row("team", [["T1"], {"id": "T1"}, "T1/../T2", 7])
def test_a_team_that_is_no_id_is_refused(team: Any) -> None:
    """It becomes the first part of every file name of the thread."""
    with pytest.raises(ValueError, match="team_id"):
        normalise({**payload("message"), "team_id": team}, ME)


@each_row("mark", ["x" * 201, "", "\ud800", "a b", 7, ["Ev1"]])
def test_a_mark_that_is_none_of_slacks_is_left_out(mark: Any) -> None:
    """The message still counts; only its de-duplication rests on its place alone."""
    body = {**payload("message"), "event_id": mark}
    body["event"]["client_msg_id"] = mark
    incoming = normalise(body, ME)
    assert incoming is not None
    assert (incoming.event.event_id, incoming.event.client_msg_id) == (None, None)


@each_row("subtype", ["message_changed", "message_deleted"])
def test_a_change_without_its_message_is_refused(subtype: str) -> None:
    """Half a body is no event."""
    with pytest.raises(ValueError, match="without"):
        normalise({"event": {"type": "message", "subtype": subtype, "channel": "C1", "ts": "1.2"}}, ME)


def test_a_body_without_an_event_is_refused() -> None:
    """An envelope of another kind is no message."""
    with pytest.raises(ValueError, match="without event"):
        normalise({"type": "url_verification"}, ME)


def test_half_a_character_does_not_cost_the_message() -> None:
    """A lone surrogate, which no file can hold, is replaced and the rest is read."""
    body = payload("message")
    body["event"] |= {"text": "why \ud83d?", "blocks": []}
    incoming = normalise(body, ME)
    assert incoming is not None
    assert incoming.event.content == "why ??"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)


@given(
    name=st.sampled_from(["message", "message_changed_by_edit", "message_deleted", "file_share_pdf"]), data=st.data()
)
def test_whatever_one_field_holds_there_is_an_event_or_a_refusal(name: str, data: st.DataObject) -> None:
    """Property: any JSON in any field of a body gives an event, None or ValueError, and never another error."""
    body = payload(name)
    key = data.draw(st.sampled_from(sorted(body["event"])))
    body["event"][key] = data.draw(_JSON)
    try:
        incoming = normalise(body, ME)
    except ValueError:
        return
    assert incoming is None or incoming.event.message_id.count(".") == 1
