"""Follows a run from outside: its card shows how far it is, its thread in the ops channel each step, and it ends early.

A run ends as soon as its thread has moved on: somebody clicked Stop or Dismiss, here or at another replica. The record
on disk says so, and is looked at once a second. Steps whose run ended with its process are folded by whoever works on
the thread next; those that nobody works on, at a tick.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from bot.agent.model_run import RunWatch, report_progress
from bot.casework.thread_service import ThreadService
from bot.domain.threads import ThreadState
from bot.errors import StoreError, TriageError
from bot.ports import LiveRun

log = logging.getLogger(__name__)

LOOK_EVERY_S: Final = 1.0
STEP_CHARS: Final = 150

_STEPS: Final = {
    "search_code": ("Searching for", "query"),
    "read_file": ("Reading", "path"),
    "list_files": ("Listing", "path"),
    "git_log": ("Reading the history of", "path"),
    "git_show": ("Reading commit", "commit"),
    "git_blame": ("Looking who wrote", "path"),
    "search_memory": ("Searching the notes for", "query"),
}


_TITLES: Final = {"round 1": "Investigating", "validation": "Second opinion"}
"""What a run is called below its card; any later round corrects a draft."""


def step_of(call: str) -> str:
    """Return what a tool call does, in words; its arguments may be cut.

    >>> step_of('read_file {"path": "a.py", "start": 1}'), step_of("grafana_query {"), step_of('search_code {"query')
    ('Reading a.py', 'Asking grafana_query', 'Searching for …')
    """
    name, _, given = call.partition(" ")
    words, key = _STEPS.get(name, ("Asking", ""))
    if not key:
        return f"{words} {name}"[:STEP_CHARS]
    try:
        arguments = json.loads(given)
    except ValueError:
        arguments = {}
    about = arguments.get(key) if isinstance(arguments, dict) else None
    return f"{words} {about or '…'}"[:STEP_CHARS]


@contextmanager
def follow_run(service: ThreadService, state: ThreadState, what: str) -> Iterator[RunWatch]:
    """Yield what a run of a thread reports to; `what` is its name in the records, such as `round 1`."""
    title = _TITLES.get(what, "Correcting the draft")
    live = _live(service, state, title)
    watches: list[RunWatch] = []

    def steps() -> list[str]:
        return [title, *map(step_of, watches[0].calls if watches else ())]

    def show(line: str) -> bool:
        service.cards.show_progress(state.thread_id, line)
        return live is None or _quietly(lambda: live.show(steps()))

    said = "done"
    try:
        with report_progress(show) as watch, _ended_when_moved_on(service, state, watch):
            watches.append(watch)
            yield watch
    except TriageError:
        said = "stopped" if watches and watches[0].cancel.is_set() else "not finished"
        raise
    finally:
        if live is not None:
            _quietly(lambda: live.end(steps(), said))


def fold_left(service: ThreadService, thread_id: str) -> None:
    """Fold the steps of a run that ended with its process; the thread's job must be ours, or nobody's."""
    live = service.live
    if live is not None:
        _quietly(lambda: live.fold_left(thread_id))


def fold_all_left(service: ThreadService) -> None:
    """Do the same for every thread that nobody works on; raises StoreError."""
    for thread_id, shown in service.shown.by_id().items():
        if shown.live is not None and not service.jobs.holds(thread_id):
            fold_left(service, thread_id)


def _live(service: ThreadService, state: ThreadState, title: str) -> LiveRun | None:
    """Return where steps are shown: below a card that stands in the ops channel, and nowhere else."""
    is_ours = state.card_ts is not None and state.card_channel == service.settings.ops_channel
    return service.live.begin(state, title) if service.live is not None and is_ours else None


def _quietly(show: Callable[[], None]) -> bool:
    """Show something and return whether that worked; a chat that cannot be reached is no reason to end a run."""
    try:
        show()
    except TriageError:
        log.info("steps are not shown", extra={"action": "steps_unshown"}, exc_info=True)
        return False
    return True


@contextmanager
def _ended_when_moved_on(service: ThreadService, state: ThreadState, watch: RunWatch) -> Iterator[None]:
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_EVERY_S):
            try:
                now = service.store.get(state.thread_id)
            except StoreError:
                continue
            if now is None or (now.status, now.rounds) != (state.status, state.rounds):
                watch.cancel.set()
                return

    looking = threading.Thread(target=look, name="stop", daemon=True)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()
