"""What became of a message, as it is on file: its thread, what the rules said, what was posted; and `why` of it.

Reads the journals and the thread's file, and writes nothing. A message that no thread came of is explained as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from bot.casework.reports.measures import read_feedback
from bot.casework.reports.status_overview import overview
from bot.casework.reports.timeline import render_timeline, render_unanswered
from bot.domain.answers import Answer, Part
from bot.domain.citations.links import LinkTo
from bot.domain.text.humanize import Names
from bot.domain.threads import ThreadState, check_thread_id
from bot.errors import InputError
from bot.intake.classifier.classification import Rules
from bot.ports import Store
from bot.ports.collections import CLASSIFIED, REPLIES
from bot.ports.threads import Threads

Record = dict[str, Any]
_LISTS: Final = "`triage status` lists the open threads"
_LINK: Final = re.compile(r"/archives/(?P<channel>[A-Z0-9]+)/p(?P<seconds>[0-9]+)(?P<fraction>[0-9]{6})/?")
_TS: Final = re.compile(r"[0-9]+\.[0-9]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadLocation:
    """A message: its channel and its ts."""

    chat_id: str
    ts: str


def why_answer(store: Store, asked: str, rules: Rules | None, link_to: LinkTo, names: Names) -> Answer:
    """Return the chain of a message, from the rules to the reply; `asked` is its link, or the id of its thread.

    Raises:
        InputError: nothing was recorded.
        StoreError: something cannot be read.
    """
    events, state, replies = find_message(store, asked)
    votes = [one for one in read_feedback(store) if state and one.thread_id == state.thread_id]
    record = {
        "events": events,
        "thread": state.model_dump(mode="json") if state else None,
        "replies": replies,
        "feedback": [one.model_dump(mode="json") for one in votes],
    }
    if state is None:
        text = render_unanswered(events, rules, unreadable=_unreadable_thread(store, events), names=names)
        return Answer(parts=(Part(printed=text),), following="status", data=record)
    text = render_timeline(state, events, replies, link_to, rules, names=names, feedback=votes)
    return Answer(parts=(Part(printed=text),), following="open", data=record)


def _unreadable_thread(store: Store, said: list[Record]) -> str:
    """Return the name of the thread's file where it is there and cannot be read."""
    roots = {(one.get("chat_id"), one.get("thread_id") or one.get("message_id")) for one in said}
    known = overview(store, datetime.now(UTC)).unreadable
    return next((name for name in known if any(f".{chat}.{ts}." in name for chat, ts in roots)), "")


def find_message(store: Store, asked: str) -> tuple[list[Record], ThreadState | None, list[Record]]:
    """Return the thread's messages as classified, its state if it has one, and its lines of the reply log.

    Raises:
        InputError: nothing was recorded.
        StoreError: something cannot be read.
    """
    place = _place(asked)
    said = _said(store, place)
    if said and said[0].get("thread_id") and all(record.get("message_id") != record["thread_id"] for record in said):
        root = ThreadLocation(
            chat_id=place.chat_id, ts=str(said[0]["thread_id"])
        )  # a link to a reply that names no thread
        said = _said(store, root) if root != place else said
        place = root
    state = _state(store, asked, place, said)
    if state is None and not said:
        raise InputError(f"there is no record of {asked[:200]!r} in {store.files}; {_LISTS}")
    thread_id = state.thread_id if state else None
    replies = [
        r
        for r in store.journal(REPLIES).records(containing=thread_id or "")
        if thread_id and r.get("thread_id") == thread_id
    ]
    return said, state, replies


def _place(asked: str) -> ThreadLocation:
    try:
        _, chat_id, ts = name_pattern(asked).split(".", 2)
    except InputError as error:
        raise InputError(f"{error}, or is a link copied from Slack; {_LISTS}") from error
    return ThreadLocation(chat_id=chat_id, ts=ts)


def _said(store: Store, place: ThreadLocation) -> list[Record]:
    """Return every message of a thread as the rules saw it, each once."""
    found = {}
    for record in store.journal(CLASSIFIED).records(containing=place.ts):
        if record.get("chat_id") == place.chat_id and place.ts in (record.get("message_id"), record.get("thread_id")):
            found[record.get("message_id"), record.get("msg_type")] = record
    return list(found.values())


def _state(store: Store, asked: str, place: ThreadLocation, said: list[Record]) -> ThreadState | None:
    team = next((record.get("team_id") for record in said), None)
    for name in (asked, f"{team}.{place.chat_id}.{place.ts}"):
        try:
            return find_thread(store, name)
        except InputError:
            continue
    return None


def find_thread(store: Store, asked: str) -> ThreadState:
    """Return the thread with this id or link as it stands, else as it last ended.

    Raises:
        InputError: it is neither an id nor a link, or no such thread is on file.
        StoreError: its file cannot be read.
    """
    threads, name = Threads(store.documents), name_pattern(asked)
    matching = (each for each in threads.ids() if each.endswith(name[1:])) if name.startswith("*") else iter([name])
    for thread_id in matching:
        if (state := threads.latest(thread_id)) is not None:
            return state
    raise InputError(f"no thread {asked[:200]!r} in {store.files}; `triage status` lists the open ones")


def name_pattern(asked: str) -> str:
    """Return the file name of a thread without its ending, as a glob where the team is not known.

    >>> name_pattern("https://acme.slack.com/archives/C01/p1700000009000200?thread_ts=1700000000.000100&cid=C01")
    '*.C01.1700000000.000100'
    """
    parts = urlsplit(asked.strip().strip("<>"))
    link = _LINK.fullmatch(parts.path) if parts.scheme in ("http", "https") else None
    if link is None:
        return check_thread_id(asked.strip())
    parent = parse_qs(parts.query).get("thread_ts", [""])[0]
    ts = parent if _TS.fullmatch(parent) else f"{link['seconds']}.{link['fraction']}"
    return f"*.{link['channel']}.{ts}"
