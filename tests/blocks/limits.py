"""Slack's limits on a whole message or view, checked where the SDK does not look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from blocks.text.splitting import MESSAGE_BLOCK_CHARS, MESSAGE_BLOCKS, chars_of

_BROADCAST = re.compile(r"<!(?:channel|here|everyone|subteam)|<@S|(?<![\w.])@(?:channel|here|everyone)\b")


def texts(value: Any) -> Iterator[str]:
    """Yield every text object's text in a block, wherever it hides."""
    if isinstance(value, dict):
        if value.get("type") in ("mrkdwn", "plain_text", "raw_text", "link") and isinstance(value.get("text"), str):
            yield value["text"]
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def as_slack_takes_it(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """Return a message's blocks as JSON, after every check that Slack would make."""
    found = [block.to_dict() for block in blocks]
    assert 0 < len(found) <= MESSAGE_BLOCKS
    assert chars_of(blocks) <= MESSAGE_BLOCK_CHARS, f"{chars_of(blocks):,} characters in one message"
    for block in found:
        _check(block)
    ids = [block["block_id"] for block in found if "block_id" in block]
    assert len(ids) == len(set(ids))
    assert all(len(block_id) <= 255 for block_id in ids)
    return found


def _check(block: dict[str, Any]) -> None:
    for text in texts(block):
        assert 0 < len(text) <= 3_000
        assert text.count("```") % 2 == 0 or block["type"] == "table"
        assert not _BROADCAST.search(text)
    if block["type"] == "table":
        assert len(block["rows"]) <= 100
        assert all(0 < len(row) <= 20 for row in block["rows"])
        assert len(str(block["rows"])) <= 40_000
    for element in block.get("elements", []):
        assert len(element.get("value") or "") <= 2_000
        for option in element.get("options", []):
            assert len(option["value"]) <= 150
            assert len(option["text"]["text"]) <= 75


def view_as_slack_takes_it(view: View) -> dict[str, Any]:
    """Return a view as JSON, after every check that Slack would make."""
    found: dict[str, Any] = view.to_dict()
    assert len(found["title"]["text"]) <= 24
    assert 0 < len(found["blocks"]) <= 100
    for block in found["blocks"]:
        _check(block)
        element = block.get("element", {})
        assert len(element.get("initial_value") or "") <= element.get("max_length", 3_000) <= 3_000
    return found


def shown(blocks: Sequence[Block]) -> str:
    """Return all that can be read on a message, one text a line."""
    return "\n".join(text for block in as_slack_takes_it(blocks) for text in texts(block))


def actions(blocks: Sequence[Block]) -> list[str]:
    """Return the labels of its buttons and menu entries, in order."""
    labels = []
    for block in as_slack_takes_it(blocks):
        for element in block.get("elements", []) if block["type"] == "actions" else []:
            entries = [element] if element["type"] == "button" else element["options"]
            labels += [entry["text"]["text"] for entry in entries]
    return labels
