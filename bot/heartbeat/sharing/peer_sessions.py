"""What a beat has to do with other sessions: workers report to the master, the master sends suggestions.

What is done stands in the playbook: without its line "Report to the master session" a worker reports nothing, without
"Cross-pollinate" the master sends nothing. Reports and suggestions wake nobody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from bot.domain.heartbeats.beats import Receipt, Reported
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.sharing.suggestions import Suggestion, SuggestionStatus
from bot.domain.tiers import Tier
from bot.errors import StoreError
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.run.beat_record import BeatEnd
from bot.heartbeat.run.beat_view import PeerData
from bot.heartbeat.sessions.session_inbox import SessionInbox
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_candidates import Candidate
from bot.ports.collections import Collection

MAX_CHARS: Final = 1_500
LISTED: Final = 8
LINE_CHARS: Final = 160


SILENT_AFTER: Final = timedelta(hours=36)
"""A daily report may wait for the morning; after this long it is missing."""

OFFERS: Final = 20
PLAYBOOKS: Final = 40
PLAYBOOK_CHARS: Final = 4_000
_REPORT: Final = re.compile(r"\breports? to the master\b", re.IGNORECASE)
_SILENCE: Final = re.compile(r"\bsent no (?:daily )?report\b", re.IGNORECASE)
_POLLINATE: Final = re.compile(r"\bcross.?pollinat", re.IGNORECASE)


def daily_report(session: Session, ending: BeatEnd) -> str:
    """Return the report of a beat that carried out its tasks."""
    receipts = ending.report.receipts if ending.report else ()
    found = [f"Found: {_line(one.evidence)}" for one in receipts if one.result == "finding"]
    seen = [f"Saw: {_line(one.evidence)}" for one in receipts if one.result == "ok" and one.evidence.strip()]
    new = [f"New: {_line(line)}" for line in ending.changes]
    skipped = sum(receipt.result == "skipped" for receipt in receipts)
    head = f"Daily report of {session.id}: {ending.result}, {len(receipts)} tasks, {skipped} skipped."
    return "\n".join([head, *found[:LISTED], *new[:LISTED], *seen[:LISTED]])[:MAX_CHARS]


def _line(text: str) -> str:
    return " ".join(text.split())[:LINE_CHARS]


class PeerSessions:
    """What a beat gets from other sessions and what it gives them."""

    def __init__(
        self,
        sessions: SessionRegistry,
        states: SessionMemory,
        suggestions: Collection[Suggestion],
        pollination: Pollination,
        mail: SessionInbox,
    ) -> None:
        self._sessions, self._states, self._suggestions = sessions, states, suggestions
        self._pollination, self._mail = pollination, mail

    def collect(self, session: Session, tasks: Sequence[PlaybookEntry], now: datetime) -> PeerData:
        """Return what a beat of the session, with these tasks due, has to do with others."""
        waiting = tuple(
            one for one in self._suggestions.all() if one.to == session.id and one.status is SuggestionStatus.OPEN
        )
        offers: list[Candidate] = []
        playbooks: dict[str, str] = {}
        silent: tuple[str, ...] = ()
        receipts: list[Receipt] = []
        if session.is_master and (task := _due(tasks, _POLLINATE)):
            offers, playbooks = self._pollination.offers()[:OFFERS], self._playbooks()
            said = f"{len(offers)} tasks could be suggested; code sends the best of them"
            receipts.append(Receipt(task=task.id, result="ok", evidence=said))
        if session.is_master and (task := _due(tasks, _SILENCE)):
            silent = self._silent(now)
            receipts.append(_silence(task, silent))
        if not session.is_master and (task := _due(tasks, _REPORT)):
            receipts.append(Receipt(task=task.id, result="ok", evidence="code sends the report"))
        return PeerData(
            offers=tuple(offers),
            playbooks=playbooks,
            silent=silent,
            offered=waiting,
            receipts={one.task: one for one in receipts},
        )

    def report_to_master(self, session: Session, ending: BeatEnd, now: datetime) -> None:
        """Send what a good daily beat sends; where a model chose the suggestions, they are sent already.

        Raises:
            StoreError: the disk refuses it.
        """
        view = ending.view
        if not ending.good or view is None or view.tier is not Tier.DAILY:
            return
        if not session.is_master and _due(view.tasks, _REPORT):
            self._report(session, ending, now)
        if session.is_master and _due(view.tasks, _POLLINATE):
            has_model = ending.report is not None and ending.report.usage is not None
            (self._pollination.set_aside if has_model else self._pollination.run)()

    def _report(self, session: Session, ending: BeatEnd, now: datetime) -> None:
        master = next((one for one in self._sessions.all() if one.is_master), None)
        if master is None:
            return
        text = daily_report(session, ending)
        self._mail.send(InboxMessage(at=now, from_=session.id, to=master.id, kind=MessageKind.REPORT, text=text))
        self._states.evolve(session.id, report_awaited_since=now)

    def _playbooks(self) -> dict[str, str]:
        """Return what may be read of each worker's task lines, as far as they fit."""
        found: dict[str, str] = {}
        for session in self._pollination.workers()[:PLAYBOOKS]:
            try:
                playbook = playbook_of(session).peek()
            except StoreError:
                continue
            if playbook is not None:
                found[session.id] = self._task_lines(playbook)
        return found

    def _task_lines(self, playbook: Playbook) -> str:
        """Return the tasks without those a human reads first, and how many these are."""
        tasks = [(tier, task.text) for tier, task in playbook.all_tasks]
        shown = [f"{tier}: {text}" for tier, text in tasks if not self._pollination.is_suspicious(text)]
        hidden = len(tasks) - len(shown)
        left_out = [f"({hidden} more that a human reads first)"] if hidden else []
        return "\n".join([*left_out, *shown])[:PLAYBOOK_CHARS]

    def _silent(self, now: datetime) -> tuple[str, ...]:
        """Return the workers without a report for too long; the first look only begins the wait."""
        silent = []
        for session in self._pollination.workers():
            since = self._states.load(session.id).report_awaited_since
            if since is None:
                self._states.evolve(session.id, report_awaited_since=now)
            elif now - since > SILENT_AFTER:
                silent.append(session.id)
        return tuple(silent)


def _due(tasks: Sequence[PlaybookEntry], what: re.Pattern[str]) -> PlaybookEntry | None:
    return next((task for task in tasks if what.search(task.text)), None)


def _silence(task: PlaybookEntry, silent: Sequence[str]) -> Receipt:
    if not silent:
        return Receipt(task=task.id, result="ok", evidence="every session reported")
    hours = int(SILENT_AFTER.total_seconds() // 3600)
    text = f"No daily report for more than {hours} hours: {', '.join(silent)}"
    found = Reported(key="silent-" + "-".join(silent)[:60], text=text)
    return Receipt(task=task.id, result="finding", evidence=text, finding=found)
