"""What a beat has to do with other sessions: workers report to the master, the master sends suggestions.

What is done stands in the playbook: without its line "Report to the master session" a worker reports nothing, without
"Cross-pollinate" the master sends nothing. Reports and suggestions wake nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from bot.domain.heartbeats.beats import Receipt, Reported
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.sharing.suggestions import SuggestionStatus
from bot.domain.text.sanitize import one_line
from bot.heartbeat.run.beat_record import Beat, PeerData
from bot.heartbeat.sessions.session_registry import Session
from bot.heartbeat.sharing.pollination import Pollination

MAX_CHARS: Final = 1_500
LISTED: Final = 8
LINE_CHARS: Final = 160
OFFERS: Final = 20

SILENT_AFTER: Final = timedelta(hours=36)
"""A daily report may wait for the morning; after this long it is missing."""

_REPORT: Final = "to the master"
_SILENCE: Final = "no daily report"
_POLLINATE: Final = "cross-pollinat"
"""What the lines of the templates say that code carries out."""


def daily_report(beat: Beat, changes: Sequence[str]) -> str:
    """Return the report of a beat that carried out its tasks."""
    receipts = beat.report.receipts if beat.report else ()
    skipped = sum(receipt.result == "skipped" for receipt in receipts)
    head = f"Daily report of {beat.begun.session.id}: {beat.result}, {len(receipts)} tasks, {skipped} skipped."
    found = [one.evidence for one in receipts if one.result == "finding"]
    seen = [one.evidence for one in receipts if one.result == "ok" and one.evidence.strip()]
    told = (("Found", found), ("New", changes), ("Saw", seen))
    lines = [f"{word}: {one_line(text, LINE_CHARS)}" for word, texts in told for text in texts[:LISTED]]
    return "\n".join([head, *lines])[:MAX_CHARS]


class PeerSessions:
    """What a beat gets from other sessions and what it gives them."""

    def __init__(self, pollination: Pollination) -> None:
        self._on, self._pollination = pollination.on, pollination

    def collect(self, session: Session, tasks: Sequence[PlaybookEntry], now: datetime) -> PeerData:
        """Return what a beat of the session, with these tasks due, has to do with others."""
        waiting = (one for one in self._on.suggestions.all() if one.status is SuggestionStatus.OPEN)
        for_code = (_POLLINATE, _SILENCE) if session.is_master else (_REPORT,)
        due = {words: task.id for words in for_code if (task := _due(tasks, words))}
        offers = self._pollination.offers()[:OFFERS] if _POLLINATE in due else []
        silent = self._silent(now) if _SILENCE in due else []
        said = {
            _POLLINATE: f"{len(offers)} tasks could be suggested; code sends the best of them",
            _SILENCE: "every session reported",
            _REPORT: "code sends the report",
        }
        receipts = {task: Receipt(task=task, result="ok", evidence=said[words]) for words, task in due.items()}
        if silent:
            text = f"No daily report for more than {SILENT_AFTER // timedelta(hours=1)} hours: {', '.join(silent)}"
            found = Reported(key="silent-" + "-".join(silent)[:60], text=text)
            late = Receipt(task=due[_SILENCE], result="finding", evidence=text, finding=found)
            receipts[late.task] = late
        offered = tuple(one for one in waiting if one.to == session.id)
        return PeerData(offers=tuple(offers), silent=tuple(silent), offered=offered, receipts=receipts)

    def report_to_master(self, beat: Beat, changes: Sequence[str], now: datetime) -> None:
        """Send what a good daily beat sends; where a model chose among the offers, only what it could not choose.

        `changes` is what commands printed anew in the day before it.

        Raises:
            StoreError: the disk refuses it.
        """
        session, master, tasks = beat.begun.session, self._on.master, beat.view.tasks if beat.view else ()
        if master and not session.is_master and _due(tasks, _REPORT):
            text = daily_report(beat, changes)
            report = InboxMessage(at=now, from_=session.id, to=master.id, kind=MessageKind.REPORT, text=text)
            self._on.states.send(report)
            self._on.states.evolve(session.id, report_awaited_since=now)
        if session.is_master and _due(tasks, _POLLINATE):
            self._pollination.run(was_chosen=beat.report is not None and beat.report.usage is not None)

    def _silent(self, now: datetime) -> list[str]:
        """Return the workers without a report for too long; the first look only begins the wait."""
        silent = []
        for session in self._pollination.workers():
            since = self._on.states.load(session.id).report_awaited_since
            if since is None:
                self._on.states.evolve(session.id, report_awaited_since=now)
            elif now - since > SILENT_AFTER:
                silent.append(session.id)
        return silent


def _due(tasks: Sequence[PlaybookEntry], words: str) -> PlaybookEntry | None:
    return next((task for task in tasks if words in task.text.casefold()), None)
