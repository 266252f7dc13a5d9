"""What a person can read in a message, one row a shape that Slack sends; and which images it shows."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.intake.message_text import (
    MAX_CHARS,
    MAX_IMAGES,
    image_ids,
    mentioned_ids,
    read_message,
    without_previews,
)
from tests.payloads import payload
from tests.tables import each_row

Json = dict[str, Any]

TRACE = 'File "/srv/pay.py", line 7, in <module>\nKeyError: total'


def text(words: str, **style: bool) -> Json:
    return {"type": "text", "text": words, **({"style": style} if style else {})}


def section(*pieces: Json) -> Json:
    return {"type": "rich_text_section", "elements": list(pieces)}


def rich(*elements: Json) -> Json:
    return {"type": "rich_text", "block_id": "b1", "elements": list(elements)}


def points(*words: str, style: str = "bullet", **more: int) -> Json:
    return {"type": "rich_text_list", "style": style, "elements": [section(text(one)) for one in words], **more}


def plain(words: str) -> Json:
    return {"type": "plain_text", "text": words, "emoji": True}


def mrkdwn(words: str) -> Json:
    return {"type": "mrkdwn", "text": words, "verbatim": False}


def forward(words: str, **more: Any) -> Json:
    """Return the attachment of a forwarded message, as Slack's client sends it."""
    return {
        "is_msg_unfurl": True,
        "is_share": True,
        "from_url": "https://shop.slack.com/archives/C0PAY/p1795165200000100",
        "channel_id": "C0PAY",
        "author_id": "U0LIN",
        "author_name": "Linda C",
        "author_subname": "linda",
        "fallback": f"[November 20th, 2026 9:00 AM] linda: {words}",
        "footer": "Posted in #payments",
        "text": words,
        "ts": "1795165200.000100",
        "mrkdwn_in": ["text"],
        **more,
    }


def wrapped(*blocks: Json) -> list[Json]:
    """Return blocks as they stand in a forwarded message."""
    return [{"team": "T1", "channel": "C0PAY", "ts": "1795165200.000100", "message": {"blocks": list(blocks)}}]


def snippet(preview: str, **more: Any) -> Json:
    return {
        "id": "F0SNIP",
        "name": "trace.txt",
        "title": "trace.txt",
        "mimetype": "text/plain",
        "filetype": "text",
        "mode": "snippet",
        "preview": preview,
        "preview_highlight": f'<div class="CodeMirror"><div><pre>{preview}</pre></div></div>',
        "lines": 18,
        "lines_more": 13,
        **more,
    }


CLIP: Json = {
    "id": "F0CLIP",
    "title": "audio_message.m4a",
    "mimetype": "audio/mp4",
    "transcription": {"status": "complete", "locale": "en-US", "preview": {"content": "the build is red"}},
}
"""A voice message; Slack shows the beginning of what was said."""

LINK: Json = {"type": "link", "url": "https://x.io", "text": "a <b>"}
BLOCKS: dict[str, tuple[list[Json], str]] = {
    "section with text, fields and an image": (
        [
            {
                "type": "section",
                "text": mrkdwn("*Build failed*"),
                "fields": [mrkdwn("*Branch*\nmain"), plain("by ana")],
                "accessory": {"type": "image", "image_url": "https://x.io/1.png", "alt_text": "a red light"},
            }
        ],
        "*Build failed*\n*Branch*\nmain\nby ana\na red light",
    ),
    "header and context in a line": (
        [
            {"type": "header", "text": plain("Deploy 12")},
            {"type": "divider"},
            {"type": "context", "elements": [{"type": "image", "alt_text": "CI"}, mrkdwn("step lint"), plain("4 min")]},
        ],
        "Deploy 12\nCI step lint 4 min",
    ),
    "controls are no words": (
        [
            {"type": "section", "text": mrkdwn("Retry?"), "accessory": {"type": "button", "text": plain("Go")}},
            {"type": "section", "text": mrkdwn("Who?"), "accessory": {"action_id": "a", "placeholder": plain("Pick")}},
            {"type": "actions", "elements": [{"type": "button", "text": plain("Retry")}]},
            {"type": "context_actions", "elements": [{"type": "feedback_buttons", "text": plain("Good")}]},
        ],
        "Retry?\nWho?",
    ),
    "rich text of one line": (
        [
            rich(
                section(
                    {"type": "user", "user_id": "U0A"},
                    text(" asks "),
                    {"type": "usergroup", "usergroup_id": "S0A"},
                    text(" in "),
                    {"type": "channel", "channel_id": "C0A"},
                    text(" about "),
                    text("retry()", code=True),
                    text(", see "),
                    {"type": "link", "url": "https://x.io/a", "text": "docs"},
                    text(" and "),
                    {"type": "link", "url": "https://x.io/b"},
                    text(" "),
                    {"type": "emoji", "name": "pray", "unicode": "1f64f"},
                    text(" by "),
                    {"type": "date", "timestamp": 1795165200, "format": "{date}", "fallback": "Nov 20"},
                    text(" "),
                    {"type": "broadcast", "range": "here"},
                    {"type": "color", "value": "#F405B3"},
                )
            )
        ],
        "<@U0A> asks <!subteam^S0A> in <#C0A> about `retry()`, see <https://x.io/a|docs> and <https://x.io/b> :pray: "
        "by Nov 20 <!here>#F405B3",
    ),
    "lists": (
        [
            rich(
                points("one", "two"),
                points("inner", indent=1),
                points("first", "second", style="ordered", offset=2),
            )
        ],
        "• one\n• two\n    • inner\n3. first\n4. second",
    ),
    "quote and code": (
        [
            rich(
                {"type": "rich_text_quote", "elements": [text("it fails\nsince noon")]},
                {"type": "rich_text_preformatted", "elements": [text(TRACE)], "border": 0},
                section(text("why?")),
            )
        ],
        f"> it fails\n> since noon\n```\n{TRACE}\n```\nwhy?",
    ),
    "table": (
        [
            {
                "type": "table",
                "rows": [
                    [{"type": "raw_text", "text": "Service"}, {"type": "raw_text", "text": "Errors"}],
                    [rich(section(text("checkout"))), {"type": "raw_number", "value": 17}],
                ],
                "column_settings": [{"is_wrapped": True}],
            }
        ],
        "Service | Errors\ncheckout | 17",
    ),
    "data table": (
        [{"type": "data_table", "caption": "Errors by hour", "rows": [[{"type": "raw_text", "text": "9:00"}]]}],
        "Errors by hour\n9:00",
    ),
    "image, video, markdown": (
        [
            {"type": "image", "title": plain("Error rate"), "alt_text": "a rising line", "image_url": "https://x.io/1"},
            {"type": "image", "title": plain("p99"), "alt_text": "p99", "image_url": "https://x.io/2"},
            {"type": "video", "title": plain("The crash"), "alt_text": "The crash", "author_name": "Ana"},
            {"type": "markdown", "text": "**Why** does it crash?"},
        ],
        "Error rate\na rising line\np99\nAna\nThe crash\n**Why** does it crash?",
    ),
    "call and file": (
        [
            {"type": "file", "external_id": "E1", "source": "remote", "file": {"title": "a.log", "name": "a.log"}},
            {"type": "call", "call_id": "R1", "call": {"v1": {"id": "R1", "name": "Incident 12", "join_url": "x"}}},
        ],
        "a.log\nIncident 12",
    ),
    "container, card, plan, alert": (
        [
            {
                "type": "container",
                "title": plain("Outage"),
                "child_blocks": [
                    {"type": "card", "title": mrkdwn("checkout"), "subtitle": mrkdwn("eu"), "body": mrkdwn("500s")}
                ],
            },
            {
                "type": "plan",
                "title": "Steps",
                "tasks": [{"type": "task_card", "title": "look", "details": rich(section(text("at the log")))}],
            },
            {"type": "alert", "text": mrkdwn("Nobody answers"), "level": "error"},
        ],
        "Outage\ncheckout\neu\n500s\nSteps\nlook\nat the log\nNobody answers",
    ),
    "answers of a workflow's form": (
        [
            rich(
                section(text("Request from "), {"type": "user", "user_id": "U0A"}, text("\n\n")),
                section(text("What is broken?", bold=True), text("\nlogin loops after the reset")),
            )
        ],
        "Request from <@U0A>\n\n\nWhat is broken?\nlogin loops after the reset",
    ),
}


@each_row("name", BLOCKS)
def test_every_kind_of_block_is_read(name: str) -> None:
    """Behind an empty text as well as behind a placeholder, and in an attachment."""
    blocks, said = BLOCKS[name]
    assert read_message({"bot_id": "B1", "text": "", "blocks": blocks}) == said
    assert read_message({"user": "U1", "text": "This content can't be displayed.", "blocks": blocks}) == said
    assert read_message({"bot_id": "B1", "text": "", "attachments": [{"color": "#f00", "blocks": blocks}]}) == said


@each_row(
    "message, said",
    [
        ({"text": "why does it fail?"}, "why does it fail?"),
        ({"text": None}, ""),
        ({}, ""),
        (
            {
                "attachments": [
                    {
                        "pretext": "From Jira",
                        "author_name": "Ana",
                        "title": "PAY-7",
                        "title_link": "https://x.io",
                        "text": "It fails",
                        "fields": [
                            {"title": "Status", "value": "Open", "short": True},
                            {"title": "Points", "value": 3},
                        ],
                        "footer": "shop",
                        "fallback": "PAY-7: It fails",
                        "actions": [{"type": "button", "text": "Close"}],
                        "callback_id": "x",
                    }
                ]
            },
            "From Jira\nAna\nPAY-7\nIt fails\nStatus: Open\nPoints: 3\nshop",
        ),
        ({"attachments": [{"fallback": "disk 91 %"}]}, "disk 91 %"),
        ({"attachments": [{"fallback": "[no preview available]"}]}, ""),
        (
            {"text": "see <https://x.io>", "attachments": [{"from_url": "https://x.io", "title": "X"}]},
            "see <https://x.io>",
        ),
        ({"text": "see it", "attachments": [{"is_app_unfurl": True, "app_unfurl_url": "x", "title": "X"}]}, "see it"),
        (
            {"text": "<https://shop.slack.com/archives/C1/p1>", "attachments": [forward("It fails", is_share=False)]},
            "<https://shop.slack.com/archives/C1/p1>\n> Linda C:\n> It fails",
        ),
        ({"text": "", "attachments": [forward("Is prod down?")]}, "Linda C:\nIs prod down?"),
        (
            {"text": "", "attachments": [forward("Is it up? <@U0BOT> <@U1|max>")]},
            "Linda C:\nIs it up? `<@U0BOT>` `<@U1|max>`",
        ),
        (
            {"text": "<@U0BOT> can you look into this?", "attachments": [forward(f"```{TRACE}```")]},
            f"<@U0BOT> can you look into this?\n> Linda C:\n> ```{TRACE}```".replace("\nK", "\n> K"),
        ),
        (
            {"text": "", "attachments": [forward("", message_blocks=wrapped(rich(section(text("Is prod down?")))))]},
            "Linda C:\nIs prod down?",
        ),
        (
            {
                "attachments": [
                    forward("Is prod down?", message_blocks=wrapped(rich(section(text("Is prod down?"))))),
                ]
            },
            "Linda C:\nIs prod down?",
        ),
        (
            {"text": "any idea?", "attachments": [forward("", files=[snippet("it fails")])]},
            "any idea?\n> Linda C:\n> trace.txt\n> ```\n> it fails\n> ```",
        ),
        (
            {"text": "fyi", "attachments": [forward("", attachments=[{"title": "[FIRING:1] Slow", "text": "p99"}])]},
            "fyi\n> Linda C:\n> [FIRING:1] Slow\n> p99",
        ),
        (
            {
                "text": "fyi",
                "attachments": [
                    forward("", message_blocks=[{"message": {"attachments": [{"title": "Slow"}], "files": [CLIP]}}])
                ],
            },
            "fyi\n> Linda C:\n> Slow\n> audio_message.m4a\n> the build is red",
        ),
        (
            {"text": "hm", "attachments": [forward("first", attachments=[forward("second", author_name="Max")])]},
            "hm\n> Linda C:\n> first\n> Max:\n> second",
        ),
        (
            {"attachments": [{"is_share": True, "fallback": "[9:00] linda: it fails"}]},
            "[9:00] linda: it fails",
        ),
        ({"text": "why?", "files": [snippet(TRACE)]}, f"why?\ntrace.txt\n```\n{TRACE}\n```"),
        (
            {"files": [snippet("", preview_highlight="<pre>a &lt; b</pre>\n<pre>c</pre>")]},
            "trace.txt\n```\na < b\nc\n```",
        ),
        ({"files": [snippet("a ``` b", title="")]}, "trace.txt\n```\na ''' b\n```"),
        (
            {
                "files": [
                    {"filetype": "email", "title": "Fwd: <@U0BOT>", "plain_text": "Is it <@U0BOT>?", "preview": "<p>W"}
                ]
            },
            "Fwd: `<@U0BOT>`\nIs it `<@U0BOT>`?",
        ),
        ({"files": [{"id": "F1", "mimetype": "application/pdf", "name": "report.pdf"}]}, "report.pdf"),
        (
            {"files": [{"id": "F1", "mimetype": "image/png", "name": "image.png", "alt_txt": "a 500 page"}]},
            "a 500 page",
        ),
        ({"files": [{"id": "F1", "mimetype": "image/png", "name": "image.png", "title": "image.png"}]}, ""),
        ({"files": [{"id": "F1", "mode": "tombstone"}]}, ""),
    ],
)
def test_every_shape_of_message_is_read(message: Json, said: str) -> None:
    """Forwarded messages are quoted below the sender's own words; previews of pages are left out."""
    assert read_message(message) == said


@each_row(
    "written, blocks",
    [
        (
            "Is it *up*? :wave::skin-tone-3:",
            [rich(section(text("Is it "), text("up", bold=True), text("? "), {"type": "emoji", "name": "wave"}))],
        ),
        (
            "<@U0BOT> see <https://x.io/a|docs> &amp; <#C0A|help> <!subteam^S1|@oncall>",
            [
                rich(
                    section(
                        {"type": "user", "user_id": "U0BOT"},
                        text(" see "),
                        {"type": "link", "url": "https://x.io/a", "text": "docs"},
                        text(" & "),
                        {"type": "channel", "channel_id": "C0A"},
                        text(" "),
                        {"type": "usergroup", "usergroup_id": "S1"},
                    )
                )
            ],
        ),
        (
            "1. one\n    a. inner\n2. two",
            [rich(points("one", style="ordered"), points("inner", indent=1), points("two"))],
        ),
        (
            "```a &lt; b```\nwhy?",
            [rich({"type": "rich_text_preformatted", "elements": [text("a < b")]}, section(text("why?")))],
        ),
        (
            "&gt; it fails\nwhy?",
            [rich({"type": "rich_text_quote", "elements": [text("it fails")]}, section(text("why?")))],
        ),
        (":+1:", [rich(section({"type": "emoji", "name": "+1"}))]),
        ("???", [rich(section(text("???")))]),
    ],
)
def test_what_a_person_typed_stands_once(written: str, blocks: list[Json]) -> None:
    """Slack sends it as text and as rich text."""
    assert read_message({"user": "U1", "text": written, "blocks": blocks}) == written


def test_a_bots_summary_stands_once_and_hides_nothing() -> None:
    """The blocks say more than the text of the notification, or the other way round."""
    blocks = [
        {"type": "header", "text": plain("Build failed")},
        {"type": "section", "text": mrkdwn("<https://x.io|main> at `f00`")},
    ]
    said = "Build failed\n<https://x.io|main> at `f00`"
    assert read_message({"bot_id": "B1", "text": "Build failed", "blocks": blocks}) == said
    assert read_message({"bot_id": "B1", "text": "Build failed: main at f00", "blocks": blocks[:1]}) == (
        "Build failed: main at f00"
    )
    assert read_message({"bot_id": "B1", "text": "New event", "blocks": blocks}) == f"New event\n{said}"
    assert read_message({"bot_id": "B1", "text": "[main] Build failed: f00", "blocks": blocks}) == said


def test_a_senders_words_stand_though_the_forwarded_message_holds_them() -> None:
    """They say what is asked for."""
    said = read_message({"text": "why?", "attachments": [forward("why? why? why?")]})
    assert said == "why?\n> Linda C:\n> why? why? why?"


def test_a_broadcast_reply_is_its_own_words() -> None:
    """The message it answers stands in its thread."""
    assert read_message(payload("thread_broadcast")["event"]) == "also for the channel: is v2 out?"


def test_a_forwarded_or_quoted_mention_addresses_nobody() -> None:
    """Only whom the sender names was called, be it in blocks alone."""
    assert mentioned_ids({"text": "<@U1> <@W2|bea> <@U1>", "attachments": [forward("<@U0BOT> why?")]}) == ("U1", "W2")
    called = {"type": "user", "user_id": "U0BOT"}
    assert mentioned_ids({"text": "", "blocks": [rich(section(called))]}) == ("U0BOT",)
    assert mentioned_ids({"text": "", "blocks": [rich({"type": "rich_text_quote", "elements": [called]})]}) == ()


def test_images_are_named_wherever_they_stand() -> None:
    """Files, image blocks, also in attachments, and all of it in forwarded messages; each once, and not without end."""
    image = {"type": "image", "alt_text": "x", "slack_file": {"id": "F0BLOCK"}}
    message = {
        "files": [{"id": "F0OWN", "mimetype": "image/png"}, {"id": "F0DOC", "mimetype": "application/pdf"}],
        "blocks": [image, image],
        "attachments": [
            forward("", files=[{"id": "F0FWD", "mimetype": "image/jpeg"}, {"id": "../x", "mimetype": "image/png"}]),
            forward("", message_blocks=wrapped({**image, "slack_file": {"id": "F0IN"}})),
            {"color": "#f00", "blocks": [{**image, "slack_file": {"id": "F0CHART"}}]},
        ],
    }
    assert image_ids(message) == ("F0OWN", "F0BLOCK", "F0CHART", "F0FWD", "F0IN")
    many = [{"id": f"F{number}", "mimetype": "image/png"} for number in range(50)]
    assert len(image_ids({"files": many})) == MAX_IMAGES


def test_previews_are_told_from_what_was_sent() -> None:
    """A link's preview comes after the message; a forwarded message comes with it."""
    sent = [{"title": "alert"}, forward("x")]
    later = [{"from_url": "https://x.io"}, forward("y", is_share=False)]
    assert without_previews({"text": "t", "attachments": sent + later}) == {"text": "t", "attachments": sent}


TOKEN = "ghp" + "_" + "aB3dE5gH7jK9" * 3


@each_row(
    "message, said",
    [
        ({"text": f"why is {TOKEN} refused?"}, "why is [redacted: GitHub token] refused?"),
        ({"text": "curl -u ana:hunter2 fails"}, "curl -u ana:[redacted: password] fails"),
        (
            {"blocks": [rich(section(text(f"see {TOKEN[:9]}"), text(TOKEN[9:], bold=True)))]},
            "see [redacted: GitHub token]",
        ),
        (
            {"attachments": [forward("", files=[snippet(TOKEN)])]},
            "Linda C:\ntrace.txt\n```\n[redacted: GitHub token]\n```",
        ),
        ({"attachments": [{"text": f"{'x ' * (MAX_CHARS // 2 - 8)}{TOKEN}"}]}, "x " * (MAX_CHARS // 2 - 8)),
    ],
)
def test_a_credential_in_a_message_goes_no_further(message: Json, said: str) -> None:
    """It is blacked out before anything is cut, also where it stands in pieces."""
    words = read_message(message)
    assert words.startswith(said)
    assert TOKEN[:12] not in words


def test_a_text_that_is_none_is_refused() -> None:
    """Nothing should be made of such a message."""
    with pytest.raises(ValueError, match="unusable text"):
        read_message({"text": {"text": "why?"}})


def test_half_a_character_is_replaced() -> None:
    """No file can hold it."""
    assert read_message({"blocks": [rich(section(text("why \ud83d?")))]}) == "why ??"


_KEYS = st.sampled_from(
    [
        *(
            "text",
            "type",
            "elements",
            "fields",
            "value",
            "title",
            "blocks",
            "attachments",
            "is_share",
            "message_blocks",
        ),
        *("message", "files", "preview", "rows", "offset", "indent", "style", "mimetype", "id", "slack_file"),
    ]
)
_NAMES = st.sampled_from(["rich_text_list", "rich_text_quote", "table", "context", "link", "image", "ordered"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | _NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=30,
)


@given(blocks=_JSON, attachments=_JSON, files=_JSON)
def test_no_shape_of_what_stands_beside_the_text_breaks_it(blocks: Any, attachments: Any, files: Any) -> None:
    """Property: it is read as far as it is what Slack documents."""
    for message in (
        {"text": "why?", "blocks": blocks, "attachments": attachments, "files": files},
        {"attachments": [{"is_share": True, "message_blocks": blocks, "attachments": attachments, "files": files}]},
    ):
        assert len(read_message(message)) <= MAX_CHARS
        assert isinstance(image_ids(message), tuple)
        assert isinstance(mentioned_ids(without_previews(message)), tuple)


@given(words=st.text(alphabet="ab<>|&;`\n.•1 ?😀:", max_size=60))
def test_words_are_never_lost_where_blocks_repeat_them(words: str) -> None:
    """Property: text and a rich text of the same words are read as the text; either alone is read, too."""
    block = rich(section(text(words)))
    assert read_message({"text": words, "blocks": [block]}) == read_message({"text": words})
    assert read_message({"blocks": [block]}).strip() == read_message({"text": words}).strip()


@each_row(
    "words, pieces",
    [
        ("_not_ *now*, ~no~ `a_b`", [text("not", italic=True), text(" now, no "), text("a_b", code=True)]),
        ("cat &lt;in | sort &gt;out", [text("cat <in | sort >out")]),
        ("Map&lt;K|V&gt; in <https://x.io|a &lt;b&gt;>", [text("Map<K|V> in "), LINK]),
        ("write &amp;lt; for &lt;", [text("write &lt; for <")]),
        ("*1. rotate* the keys", [text("1. rotate", bold=True), text(" the keys")]),
    ],
)
def test_what_slack_writes_into_text_repeats_the_rich_text(words: str, pieces: list[Json]) -> None:
    """Styles, entities, labels and numbers are no words of their own."""
    assert read_message({"text": words, "blocks": [rich(section(*pieces))]}) == words


def _deep(levels: int) -> Any:
    found: Any = "x"
    for _ in range(levels):
        found = {"type": "rich_text_section", "elements": [found], "text": found}
    return found


@each_row(
    "make",
    [
        lambda: {"text": "<" * 1_000_000},
        lambda: {"text": "a&#" + "9" * 1_000_000},
        lambda: {"text": (" " * 999 + "\n") * 1_000, "blocks": [{"type": "section", "text": "i." * 500_000}]},
        lambda: {"text": "<a|" * 330_000},
        lambda: {"blocks": [{"type": "section", "text": {"text": f"x{n}"}} for n in range(30_000)]},
        lambda: {"blocks": [[[{}] * 900] * 20] * 20},
        lambda: {"blocks": [_deep(12)]},
        lambda: {"files": [{"preview_highlight": "<div>" * 100_000 + "&amp" * 100_000 + "&#" + "9" * 9_000}]},
        lambda: {"text": "x", "attachments": [forward("y" * 1_000)] * 1_000},
    ],
)
def test_a_hostile_message_of_a_megabyte_is_read_at_once(make: Callable[[], Json]) -> None:
    """One message must not keep the whole bot busy."""
    message = make()
    started = process_time()
    assert len(read_message(message)) <= MAX_CHARS
    image_ids(message)
    mentioned_ids(message)
    assert process_time() - started < 2


def test_no_number_from_outside_sizes_anything() -> None:
    """A list counts from where it says, within reason."""
    huge = points("one", style="ordered", indent=10**9, offset=10**5_000)
    cell = {"type": "raw_number", "value": 10**5_000}
    assert read_message({"blocks": [rich(huge), cell, {"type": "raw_number", "value": True}]}) == f"{' ' * 64}1. one"


def test_what_stands_deeper_than_any_block_is_left_out() -> None:
    """Nothing recurses as deep as a message may be."""
    found: Any = "deep"
    for _ in range(5_000):
        found = [found]
    assert read_message({"text": "why?", "blocks": found}) == "why?"
