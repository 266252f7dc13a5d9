"""Who took which check out of a playbook, for the alerts that are closed by it; one small file beside the sessions.

Written by whoever edits playbooks for people (commands in Slack and on the terminal, accepted proposals); what somebody
does in an editor leaves no name.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError

from bot.domain.heartbeats.session_state import Removal
from bot.domain.playbook import Playbook
from bot.errors import StoreError
from bot.heartbeat.playbooks.check_identity import checks_in, identity_of_lines
from bot.heartbeat.run.beat_view import EditKind, PlaybookEditLog
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

AGENT: Final = "its agent"
KEPT: Final = 500


class Removals:
    """The last removals of all sessions, in one document."""

    def __init__(self, slate: SingleDocument) -> None:
        self._slate, self._lock = slate, threading.Lock()

    def note(self, session_id: str, before: Playbook, after: Playbook, *, by: str, at: datetime) -> None:
        """Remember who edited checks away; a disk that refuses costs the name, not the edit."""
        gone = checks_in(before).keys() - checks_in(after).keys()
        if not gone:
            return
        entry = Removal(at=at, by=by).model_dump(mode="json")
        new = {f"{session_id}/{identity}": entry for identity in sorted(gone)}
        try:
            with self._lock:
                known = {key: value for key, value in self._slate.read().items() if key not in new}
                self._slate.write(dict([*known.items(), *new.items()][-KEPT:]))
        except StoreError:
            log.warning("who removed a check is not remembered", extra={"action": "removal_forgotten"}, exc_info=True)

    def of(self, session_id: str) -> dict[str, Removal]:
        """Return the removals of one session by the identity of the check; none where they cannot be read."""
        try:
            entries = self._slate.read()
        except StoreError:
            return {}
        mine = {key.partition("/")[2]: entry for key, entry in entries.items() if key.startswith(f"{session_id}/")}
        return {identity: removal for identity, entry in mine.items() if (removal := _read(entry)) is not None}


def removed_by_agent(edits: PlaybookEditLog, at: datetime) -> Mapping[str, Removal]:
    """Return the checks a beat's own agent took out."""
    gone = [identity_of_lines(edit.text) for edit in edits.made if edit.what is EditKind.REMOVE_TASK]
    return dict.fromkeys(gone, Removal(at=at, by=AGENT))


def _read(entry: Any) -> Removal | None:
    try:
        return Removal.model_validate(entry)
    except ValidationError:
        return None
