"""The result of a backtest as one HTML file that loads nothing: figures, the best and the worst, every message to mark.

All words of other people are data that the page's script shows as text; no other script runs in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import open_private
from bot.casework.backtest.past_threads import HeardMessage
from bot.casework.backtest.results import Backtest, PastDraft
from bot.domain.text.sanitize import strip_hidden
from bot.errors import refused

TEXT_CHARS: Final = 1_500
_FILES: Final = Path(__file__).parent


def write_page(path: Path, done: Backtest, names: Mapping[str, str], rules_version: str) -> None:
    """Write the page, for its owner alone; raises StoreError where the disk refuses."""
    whole = page(done, names, rules_version).encode("utf-8", "replace")
    with (
        refused(f"cannot write {path}", "name a file in a folder that you may write to"),
        open_private(path, "wb") as file,
    ):
        file.write(whole)


def page(done: Backtest, names: Mapping[str, str], rules_version: str) -> str:
    """Return the page; `names` are those of people, by id."""
    script = (_FILES / "page.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = json.dumps(_data(done, names, rules_version), ensure_ascii=False, default=str).replace("<", "\\u003c")
    html = (_FILES / "page.html").read_text("utf-8")
    return html.replace("{{hash}}", digest).replace("{{script}}", script).replace("{{data}}", data)


def _data(done: Backtest, names: Mapping[str, str], rules_version: str) -> dict[str, Any]:
    drafts = {one.message_id: _draft(one) for one in done.drafts}
    marks = {f"{one.chat_id} {one.message_id}": one.right for one in done.marks}
    return {
        **{key: value for key, value in done.as_json().items() if key != "drafts"},
        "rules": rules_version,
        "names": names,
        "best": [one.message_id for one in done.best()],
        "worst": [one.message_id for one in done.worst()],
        "drafts": drafts,
        "marks": marks,
        "heard": [_message(one) for one in done.heard],
    }


def _message(one: HeardMessage) -> dict[str, Any]:
    event = one.event
    return {
        "chat": event.chat_id,
        "channel": event.chat_name or event.chat_id,
        "id": event.message_id,
        "at": f"{event.create_time:%Y-%m-%d %H:%M}",
        "who": event.sender.id,
        "text": _shown(event.content),
        "class": one.classification,
        "rule": one.rule,
        "asks": one.is_question,
        "thread": event.thread_id or event.message_id,
    }


def _draft(one: PastDraft) -> dict[str, Any]:
    return {**one.model_dump(mode="json", exclude={"key", "thread_id"}), "draft": _shown(one.draft)}


def _shown(text: str) -> str:
    return strip_hidden(text)[0][:TEXT_CHARS]
