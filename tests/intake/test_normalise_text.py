"""What a message says: a person's text; a bot's text, blocks and attachments."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.events import MessageType
from bot.intake.normalise import MAX_ATTACHED_CHARS, Identity, extract_text, normalise
from tests.payloads import payload
from tests.tables import each_row

ME = Identity(team_id="T1", user_id="U0BOT", bot_id="B0BOT")


def alert(**more: Any) -> dict[str, Any]:
    """Return the message of an alert bot."""
    return {"bot_id": "B0ALERT", "text": "", **more}


def test_an_alert_written_into_an_attachment_is_read() -> None:
    """Alertmanager leaves the text empty; title, text and fields are what it says."""
    body = payload("bot_message_attachment")
    incoming = normalise(body, ME)
    assert incoming is not None
    assert incoming.event.content == (
        "[FIRING:1] CheckoutErrors\ncheckout is down, getting 500s\nSeverity: page\nService: checkout"
    )


def test_without_text_blocks_are_read_and_buttons_are_not() -> None:
    """A rich text's pieces are one line; headers and sections a line each."""
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Build failed"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "main at `f00`"}, "fields": [{"text": "by ana"}]},
        {
            "type": "rich_text",
            "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "step "}, {"text": "lint"}]},
            ],
        },
        {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Retry"}}]},
    ]
    assert extract_text(alert(blocks=blocks)) == "Build failed\nmain at `f00`\nby ana\nstep lint"
    assert extract_text(alert(text="Build failed", blocks=blocks)) == "Build failed"


def test_the_points_of_a_list_are_a_line_each() -> None:
    """The pieces of one point are one line."""
    points = [{"type": "rich_text_section", "elements": [{"text": word}, {"text": "!"}]} for word in ("one", "two")]
    blocks = [{"type": "rich_text", "elements": [{"type": "rich_text_list", "elements": points}]}]
    assert extract_text(alert(blocks=blocks)) == "one!\ntwo!"


def changed(before: dict[str, Any], after: dict[str, Any]) -> MessageType | None:
    """Return what an update of an alert is taken for."""
    body = payload("bot_message_attachment")
    ts = body["event"]["ts"]
    event = {"type": "message", "subtype": "message_changed", "channel": "C0HELP", "previous_message": before}
    incoming = normalise({**body, "event": {**event, "message": {**after, "ts": ts}}}, ME)
    return incoming and incoming.event.msg_type


def test_an_alert_that_is_resolved_in_place_is_edited_without_slacks_mark() -> None:
    """Slack leaves `edited` out where a bot updates blocks or attachments; an open thread has to know."""
    firing, resolved = ({"attachments": [{"title": word, "text": "p99 over 2 s"}]} for word in ("FIRING", "RESOLVED"))
    assert changed(alert(**firing), alert(**resolved)) is MessageType.EDIT
    assert changed(alert(**firing), alert(**firing, reply_count=1)) is None
    assert changed({"text": "a", "user": "U1"}, {"text": "b", "user": "U1"}) is None


def test_a_fallback_speaks_only_where_nothing_else_does() -> None:
    """It repeats what the attachment says."""
    assert extract_text(alert(attachments=[{"fallback": "disk 91 %"}])) == "disk 91 %"
    assert extract_text(alert(attachments=[{"fallback": "disk 91 %", "text": "disk at 91 %"}])) == "disk at 91 %"


@each_row("mark", ["from_url", "original_url", "is_msg_unfurl", "is_app_unfurl", "is_share"])
def test_a_preview_is_no_word_of_the_bot(mark: str) -> None:
    """It is added after the message, and would look like an edit."""
    assert (
        extract_text(alert(text="see the dashboard", attachments=[{mark: "x", "text": "a page"}]))
        == "see the dashboard"
    )


def test_of_a_person_the_text_alone_counts() -> None:
    """A forwarded message is somebody else's."""
    assert extract_text({"user": "U0ANN", "text": "", "attachments": [{"text": "is prod down?"}]}) == ""


def test_what_is_beside_the_text_is_bounded() -> None:
    """A bot's attachments do not fill the disk."""
    assert len(extract_text(alert(text="t", attachments=[{"text": "x" * 50_000}]))) == MAX_ATTACHED_CHARS + 2


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["text", "type", "elements", "fields", "x"]), inner)
    ),
)


@given(blocks=_JSON, attachments=_JSON)
def test_no_shape_of_blocks_or_attachments_breaks_it(blocks: object, attachments: object) -> None:
    """They are read as far as they are what Slack documents."""
    assert isinstance(extract_text(alert(blocks=blocks, attachments=attachments)), str)


TOKEN = "ghp" + "_" + "aB3dE5gH7jK9" * 3


@each_row(
    "message, said",
    [
        ({"text": f"why is {TOKEN} refused?"}, "why is [redacted: GitHub token] refused?"),
        ({"text": "curl -u ana:hunter2 fails"}, "curl -u ana:[redacted: password] fails"),
        (
            alert(attachments=[{"text": f"{'x ' * (MAX_ATTACHED_CHARS // 2 - 8)}{TOKEN}"}]),
            "x " * (MAX_ATTACHED_CHARS // 2 - 8),
        ),
    ],
)
def test_a_credential_in_a_message_goes_no_further(message: dict[str, Any], said: str) -> None:
    """It is blacked out where words are read, before anything is cut, and so are the ends of what is cut."""
    words = extract_text(message)
    assert words.startswith(said)
    assert TOKEN[:12] not in words
    assert "hunter2" not in words
