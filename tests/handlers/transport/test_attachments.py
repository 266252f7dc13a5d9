"""What is read of a file, and where the token goes."""

from __future__ import annotations

import pytest

from bot.errors import ProviderError
from handlers.transport.attachments import MAX_IMAGE_BYTES, MAX_TEXT_BYTES, TIMEOUT_S, SlackAttachments
from handlers.transport.slack_clients import history_client
from tests.handlers.slack_stub import Answer, HangUp, SlackStub, refusal, slack_stub
from tests.tables import each_row

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def holding(slack: SlackStub, *answers: Answer | type[HangUp], url: str | None = None) -> SlackAttachments:
    """Return the port over a Slack whose one file is at `url`, else at the stub, where it is answered so."""
    slack.will("files.info", Answer({"file": {"url_private": url or slack.url.replace("/api/", "/files-pri/a.png")}}))
    slack.will("a.png", *answers)
    return SlackAttachments(history_client("xoxb-1", slack.url))


@each_row(
    "data, media_type",
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0 and so on", "image/jpeg"),
        (b"GIF89a and so on", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_what_an_image_is_its_bytes_say(data: bytes, media_type: str) -> None:
    """Not the name, nor what the answer calls it; it is asked for with the token."""
    with slack_stub() as slack:
        image = holding(slack, Answer(data)).image("F1")
        assert (image.media_type, image.data) == (media_type, data)
        assert slack.of("files.info") == [{"file": "F1"}]
        assert slack.of("a.png")[0]["Authorization"] == "Bearer xoxb-1"


@each_row(
    "answer, why",
    [
        (Answer(b"<!DOCTYPE html><title>Sign in</title>"), "no PNG, JPEG, GIF or WebP"),
        (Answer(b"%PDF-1.7"), "no PNG, JPEG, GIF or WebP"),
        (Answer(b""), "no PNG, JPEG, GIF or WebP"),
        (Answer(b"RIFF\x10\0\0\0WAVE"), "no PNG, JPEG, GIF or WebP"),
        (Answer(PNG + b"\0" * MAX_IMAGE_BYTES), "more than 3,932,160 bytes"),
        (Answer(b"gone", status=404), "could not be reached"),
        (HangUp, "could not be reached"),
    ],
)
def test_what_no_model_can_be_shown_is_refused(answer: Answer | type[HangUp], why: str) -> None:
    """A page to sign in at, another kind of file, one too large, and nothing at all."""
    with slack_stub() as slack, pytest.raises(ProviderError, match=why):
        holding(slack, answer).image("F1")


def test_slacks_own_refusal_is_told() -> None:
    """An installation from before the scope says what to do."""
    with slack_stub() as slack:
        attachments = holding(slack)
        slack.will("files.info", refusal("missing_scope"))
        with pytest.raises(ProviderError, match="missing_scope; reinstall the app"):
            attachments.image("F1")
        slack.will("files.info", Answer({"file": {"id": "F1", "mode": "hidden_by_limit"}}))
        with pytest.raises(ProviderError, match="could not be read"):
            attachments.image("F1")


@each_row(
    "url",
    [
        "https://evil.example/a.png",
        "https://slack.com.evil.example/a.png",
        "https://evilslack.com/a.png",
        "https://files.slack.com@evil.example/a.png",
        "https://evil.example\\@files.slack.com/a.png",
        "https://evil.example:443@files.slack.com/a.png",
        "http://files.slack.com/a.png",
        "http://127.0.0.1:1/a.png",
        "http://localhost/a.png",
        "//files.slack.com/a.png",
        "file:///etc/passwd",
        "https://[files.slack.com/a.png",
        "https://files.slack.com/\u00e9.png",
        "",
    ],
)
def test_no_other_host_gets_the_token(url: str) -> None:
    """The address of a remote file is whatever its app says."""
    with slack_stub() as slack:
        attachments = holding(slack)
        slack.will("files.info", Answer({"file": {"url_private": url}}))
        with pytest.raises(ProviderError, match="elsewhere than at Slack"):
            attachments.image("F1")


def test_a_redirect_is_followed_on_the_same_host_only() -> None:
    """With the token; another host is not even asked."""
    with slack_stub() as slack, slack_stub() as other:
        moved = Answer(b"", status=302, Location="/files-pri/moved.png")
        attachments = holding(slack, moved)
        slack.will("moved.png", Answer(PNG))
        assert attachments.image("F1").data == PNG
        assert slack.of("moved.png")[0]["Authorization"] == "Bearer xoxb-1"
        away = Answer(b"", status=302, Location=other.url + "a.png")
        with pytest.raises(ProviderError, match="elsewhere than at Slack"):
            holding(slack, away).image("F1")
        assert other.calls == []


def test_a_file_that_comes_too_slowly_is_left() -> None:
    """However little of it is missing."""
    with slack_stub() as slack:
        holding(slack, Answer(PNG))
        times = iter([0.0, TIMEOUT_S + 1])
        attachments = SlackAttachments(history_client("xoxb-1", slack.url), monotonic=lambda: next(times))
        with pytest.raises(ProviderError, match="could not be reached"):
            attachments.image("F1")


def test_a_text_file_is_read_to_its_limit_without_credentials() -> None:
    """Whatever its coding; a program is none."""
    with slack_stub() as slack:
        key = "AKIA" + "Q3EGRDWK7ZX2MNPL"
        said = holding(slack, Answer(f"caf\u00e9 {key} ".encode() + b"\xff" + b"x" * MAX_TEXT_BYTES)).text("F1")
        assert said.startswith("caf\u00e9 ")
        assert said.endswith("xxx")
        assert key not in said
        assert len(said) < MAX_TEXT_BYTES + 40
        with pytest.raises(ProviderError, match="no text"):
            holding(slack, Answer(b"\x7fELF\0\0")).text("F1")
