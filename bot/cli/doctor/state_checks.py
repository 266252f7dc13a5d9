"""The checks of `triage doctor` about the bot itself, from what it left in its data directory.

They need neither the network nor a bot that runs, and write nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS
from bot.casework.pause import read_pause
from bot.casework.reports.measures import time_of
from bot.casework.reports.status_overview import tail
from bot.cli.doctor.context import HealthCheck, well, wrong
from bot.domain.events import record_key
from bot.domain.text.humanize import time_ago
from bot.intake.presence import connection_state, describe_presence, read_presence
from bot.ports import Store, collections, feature_collections
from bot.ports.collections import CLASSIFIED, EVENTS, Collection, CollectionSpec

SORTING_TAKES = timedelta(minutes=1)
"""How long a message may stand in the journal before the rules have looked at it."""

MAX_NAMED: Final = 5
_TYPED: Final[Mapping[str, CollectionSpec[Any]]] = {
    one.name: one
    for one in (vars(collections) | vars(feature_collections)).values()
    if isinstance(one, CollectionSpec) and one.name in ALL_COLLECTIONS
}


def process_check(store: Store, now: datetime) -> HealthCheck:
    """Whether a bot runs on this data directory."""
    seen = read_presence(store.machine)
    match connection_state(seen, now):
        case "up" | "down":
            assert seen is not None
            return well(f"process {seen.pid}, started {time_ago(now, seen.started_at)}")
        case "stuck":
            return wrong(describe_presence(seen, now), "restart it: kill the process, then `triage run`")
        case _:
            return wrong(describe_presence(seen, now), "start it with `triage run`, best as a service")


def connection_check(store: Store, now: datetime) -> HealthCheck:
    """Whether Slack is heard; only a living process can say."""
    seen = read_presence(store.machine)
    match connection_state(seen, now):
        case "up":
            return well(describe_presence(seen, now))
        case "down":
            fix = "see the reason given; check the network, SLACK_APP_TOKEN and that Socket Mode is on for the app"
            return wrong(describe_presence(seen, now), fix)
        case _:
            return wrong("not connected: the bot is not running", "start it with `triage run`")


def journal_check(store: Store, now: datetime) -> HealthCheck:
    """Whether the journals can be read, and what was heard has been sorted."""
    heard, sorted_ = tail(store, EVENTS), tail(store, CLASSIFIED)
    if not heard:
        return well("no message heard yet")
    last, done = heard[-1], {record_key(record) for record in sorted_}
    at = time_of(last.get("create_time"))
    says = f"last message written {time_ago(now, at)}" if at else "the last message has no time"
    if record_key(last) in done or (at is not None and now - at < SORTING_TAKES):
        classified = time_of(sorted_[-1].get("classified_at")) if sorted_ else None
        return well(f"{says}, last classified {time_ago(now, classified)}" if classified else says)
    fix = "restart the bot; if this happens again, look for `tick_waits` in its log and free disk space"
    return wrong(f"{says}, and it was not classified", fix)


def classifier_check(store: Store, now: datetime) -> HealthCheck:
    """When the rules last looked at a message."""
    sorted_ = [record for record in tail(store, CLASSIFIED) if record.get("classifier_version")]
    if not sorted_:
        return well("nothing classified yet")
    at, version = time_of(sorted_[-1].get("classified_at")), sorted_[-1].get("classifier_version")
    return well(f"version {version}, last classified {time_ago(now, at)}" if at else f"version {version}")


def records_check(store: Store) -> HealthCheck:
    """Whether every record can be read; what was set aside is named until somebody removes it."""
    documents = store.documents
    typed = {name: Collection(documents, spec).parsed() for name, spec in _TYPED.items()}
    plain = ((name, {one.id: one.value for one in documents.list(name)}) for name in ALL_COLLECTIONS - typed.keys())
    unread = [
        documents.place(name, doc_id)
        for name, held in (*typed.items(), *sorted(plain))
        for doc_id, value in held.items()
        if value is None
    ]
    if unread:
        fix = "put it back from a backup, or leave it: the bot sets it aside at its next start, or when it needs it"
        return wrong(f"cannot be read: {_named(unread)}", fix)
    aside = list(dict.fromkeys(one.name for name in ALL_COLLECTIONS for one in documents.damaged(name)))
    if aside:
        return HealthCheck(ok=True, says=f"set aside earlier: {_named(aside)}", fix="look at it, then remove it")
    return well("every record can be read")


def _named(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def pause_check(store: Store) -> HealthCheck:
    """Whether somebody paused the bot: on purpose, so nothing is wrong, but easily forgotten."""
    pause = read_pause(store.documents)
    if pause is None:
        return well("not paused")
    return HealthCheck(ok=True, says=f"{pause.words()}; questions wait", fix="to resume: /triage resume in Slack")
