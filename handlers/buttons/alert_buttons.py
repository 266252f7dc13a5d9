"""The buttons of an alert: who may, then what they say about the finding; the card shows it at once.

Only the session's owner and approvers may act. Whatever the click carries is read as hostile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt import Ack
from slack_sdk import WebClient

from blocks import ids
from blocks.cards.alert_card import playbook_modal
from bot.casework.approvers import Approvers
from bot.domain.heartbeats.alerts import Alert, Posted
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import OpenFinding, check_session_id
from bot.errors import Conflict, InputError, TriageError
from bot.heartbeat.alerts.finding_responses import FindingResponses
from bot.heartbeat.alerts.notifications import finding_alert
from bot.heartbeat.playbooks.playbook_file import playbook_of
from bot.heartbeat.sessions.owners import Owners
from bot.heartbeat.sessions.session_registry import Session, SessionRegistry
from bot.ports import Clock
from handlers.answers import Ephemeral, answer
from handlers.clicks import clicking_person
from handlers.ops_channel import Ask
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

Body = dict[str, Any]
_SLACK = ("C", "D", "G")
NOT_YOURS = "Only the session's owner and approvers may do this."

WakeUp = Callable[[str, Wake], str]
Show = Callable[[Posted, Alert], None]
"""Brings the card that stands there up to date; raises ProviderError where it cannot."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertActions:
    """What the buttons act on."""

    sessions: SessionRegistry
    owners: Owners
    findings: FindingResponses
    show: Show
    wake: WakeUp
    ask: Ask
    zone_of: Callable[[Session], str]
    clock: Clock


class AlertButtons:
    """The listeners of an alert; every answer goes to the one who clicked, and to nobody else."""

    def __init__(self, desk: AlertActions, approvers: Approvers, *, tell: Ephemeral) -> None:
        self._desk, self._approvers, self._tell = desk, approvers, tell

    def acknowledge(self, ack: Ack, body: Body, action: Body) -> None:
        """Note who has it."""
        ack()
        self._change(body, action, lambda session, digest, by: self._desk.findings.acknowledge(session, digest, by=by))

    def fixed(self, ack: Ack, body: Body, action: Body) -> None:
        """Close the finding."""
        ack()
        self._change(body, action, lambda session, digest, by: self._desk.findings.fix(session, digest, by=by))

    def snooze(self, ack: Ack, body: Body, action: Body) -> None:
        """Silence the finding for a while."""
        ack()

        def snoozed() -> str:
            words, session_id, digest = ids.decode_snooze((action.get("selected_option") or {}).get("value"))
            session = self._permitted(body, session_id)
            self._carry_out(body, session, digest, lambda: self._desk.findings.snooze(session_id, digest, words))
            return f"Snoozed for {words}; the beats go on."

        self._answer_with(body, snoozed)

    def run_now(self, ack: Ack, body: Body, action: Body) -> None:
        """Ask for a beat."""
        ack()

        def woken() -> str:
            session_id, _ = ids.decode_finding(action.get("value"))
            return self.run_session(body, session_id)

        self._answer_with(body, woken)

    def run_session(self, body: Body, session_id: object) -> str:
        """Ask for a beat of a session and return what happens; raises InputError if whoever clicked may not."""
        session = self._permitted(body, check_session_id(str(session_id)))
        return self._desk.wake(session.id, Wake.ON_DEMAND)

    def investigate(self, ack: Ack, body: Body, action: Body) -> None:
        """Open a thread in the ops channel and have the finding looked into like any question."""
        ack()

        def asked() -> str:
            session_id, digest = ids.decode_finding(action.get("value"))
            session = self._permitted(body, session_id)
            by = clicking_person(body)[0]
            return self._desk.findings.investigate(
                session_id,
                digest,
                by=by,
                ask=lambda found: self._desk.ask(question_about(session.name, found.text), by),
            )

        self._answer_with(body, asked)

    def open_playbook(self, ack: Ack, body: Body, action: Body, client: WebClient) -> None:
        """Show HEARTBEAT.md; permission comes from memory, for the dialogue must open within 3 s."""
        ack()
        try:
            session_id, _ = ids.decode_finding(action.get("value"))
            session = self._session(session_id)
            self._approvers.require_probably(*clicking_person(body), NOT_YOURS, owner=self._claim(body, session))
            playbook = playbook_of(session).peek()
            if playbook is None:
                raise InputError("There is no HEARTBEAT.md; the next beat creates it.")
            with translate_slack_errors("open the playbook"):
                client.views_open(trigger_id=body["trigger_id"], view=playbook_modal(session.name, playbook.shown))
        except TriageError as error:
            self._answer(body, str(error))

    def _change(self, body: Body, action: Body, change: Callable[[str, str, str], OpenFinding]) -> None:
        def changed() -> str:
            session_id, digest = ids.decode_finding(action.get("value"))
            session = self._permitted(body, session_id)
            self._carry_out(body, session, digest, lambda: change(session_id, digest, clicking_person(body)[0]))
            return ""

        self._answer_with(body, changed)

    def _carry_out(self, body: Body, session: Session, digest: str, change: Callable[[], OpenFinding]) -> None:
        """Make a change and show it; a card that is behind, for somebody was first, is brought up to date too."""
        try:
            finding = change()
        except Conflict:
            self._show(body, session, self._desk.findings.find(session.id, digest))
            raise
        self._note_place(body, session)
        self._show(body, session, finding)

    def _show(self, body: Body, session: Session, finding: OpenFinding) -> None:
        """Show on the card that was clicked how the finding stands."""
        clicked = (_channel(body), str((body.get("container") or {}).get("message_ts") or ""))
        known = ((finding.place or "", finding.reference or ""), *finding.copies)
        others = [each for each in known if each != clicked and each[0][:1] in _SLACK and not finding.is_listed]
        place = Posted(*clicked, tuple(others))
        at, zone = self._desk.clock.now(), self._desk.zone_of(session)
        alert = finding_alert(session, finding, at=at, wake=Wake.ON_DEMAND, zone=zone)
        self._desk.show(place, alert)

    def _permitted(self, body: Body, session_id: str) -> Session:
        session = self._session(session_id)
        self._approvers.require(*clicking_person(body), NOT_YOURS, owner=self._claim(body, session))
        return session

    def _claim(self, body: Body, session: Session) -> str:
        """Return whoever clicked if the session is theirs, or a page of it was escalated to them; else ""."""
        user, owners = clicking_person(body)[0], self._desk.owners
        return user if owners.was_told(session, user, _channel(body)) else owners.claim(session, user)

    def _note_place(self, body: Body, session: Session) -> None:
        """Note that the owner acted in private, for alerts that go where they acted last."""
        if self._is_owner(body, session) and _channel(body).startswith("D"):
            self._desk.findings.owner_acted(session.id, clicking_person(body)[0])

    def _is_owner(self, body: Body, session: Session) -> bool:
        return self._desk.owners.includes(session, clicking_person(body)[0])

    def _session(self, session_id: str) -> Session:
        return self._desk.sessions.get(session_id)

    def _answer_with(self, body: Body, work: Callable[[], str]) -> None:
        try:
            said = work()
        except TriageError as error:
            log.info("a click was refused: %s", error, extra={"action": "click_refused"})
            said = str(error)
        if said:
            self._answer(body, said)

    def _answer(self, body: Body, text: str) -> None:
        answer(self._tell, _channel(body), clicking_person(body)[0], text)


def question_about(session_name: str, text: str) -> str:
    """Return the question an alert becomes in the ops channel."""
    return f"A heartbeat of {session_name} reports: {text.strip()}\n\nWhat is the cause, and what should be done?"


def _channel(body: Body) -> str:
    return str((body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id") or "")
