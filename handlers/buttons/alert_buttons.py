"""The buttons of an alert: checks who may act, then records the response to the finding; the card is updated at once.

Only the session's owner and approvers may act.

The buttons and dialogue of a suggestion for a HEARTBEAT.md. Only approvers and the session's owner decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.alert_card import playbook_modal, reject_modal
from bot.casework.approvers import Approvers
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import check_session_id
from bot.domain.suggestions import DecidedBy, Suggestion, SuggestionStatus
from bot.domain.text.sanitize import check_whole
from bot.errors import Conflict, InputError, ProviderError
from bot.heartbeat.pages import FindingResponses
from bot.heartbeat.playbook_file import playbook_of
from bot.heartbeat.session_registry import Owners, Session, SessionRegistry
from bot.heartbeat.suggestion_desk import NOT_YOURS, SuggestionDesk
from handlers.buttons.decision_handler import Click, DecisionHandler, Listener, Say
from handlers.cards.ops_cards import SuggestionCards

NOT_YOUR_ALERT = "Only the session's owner and approvers may do this."

WakeUp = Callable[[str, Wake], str]
AskAbout = Callable[[Session, OpenFinding, str], str]
"""Has a question asked about a session's finding by somebody, once, and returns what to tell them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertActions:
    """What the buttons act on."""

    sessions: SessionRegistry
    owners: Owners
    findings: FindingResponses
    wake: WakeUp
    ask: AskAbout


@dataclass(frozen=True, kw_only=True, slots=True)
class FindingClick:
    """What a button of an alert stands for; `snooze` is for how long, "" where the button is another one."""

    session: Session
    digest: str = ""
    snooze: str = ""


class AlertButtons:
    """The listeners of an alert."""

    def __init__(self, actions: AlertActions, approvers: Approvers, *, say: Say) -> None:
        self._actions = actions
        self._on = on = DecisionHandler(approvers, say, read=self._read, refusal=NOT_YOUR_ALERT, owner=self._owner)
        self.views: Mapping[str, Listener] = {}
        self.actions: Mapping[str, Listener] = {
            ids.ACKNOWLEDGE: on.decides(
                lambda click, one: self._change(click, one, partial(actions.findings.acknowledge, by=click.user))
            ),
            ids.SNOOZE: on.decides(self._snooze),
            ids.FIXED: on.decides(
                lambda click, one: self._change(click, one, partial(actions.findings.fix, by=click.user))
            ),
            ids.INVESTIGATE: on.decides(self._investigate),
            ids.RUN_NOW: on.decides(lambda _, one: actions.wake(one.session.id, Wake.ON_DEMAND)),
            ids.OPEN_PLAYBOOK: on.opens(self._playbook),
        }

    def run_session(self, click: Click) -> str:
        """Ask for a beat of the session a button names and return what happens.

        Raises:
            InputError: there is no such session, or whoever clicked may not.
        """
        return self._actions.wake(self._on.permitted(click, self._read_session).session.id, Wake.ON_DEMAND)

    def _read(self, value: object) -> FindingClick:
        found = ids.FINDING.decode(value)
        session = self._actions.sessions.get(found.session_id)
        return FindingClick(session=session, digest=found.digest, snooze=found.snooze)

    def _read_session(self, value: object) -> FindingClick:
        return FindingClick(session=self._actions.sessions.get(check_session_id(str(value))))

    def _owner(self, click: Click, one: FindingClick, asks: bool) -> str:
        """Return whoever clicked if the session is theirs, or a page of it was escalated to them."""
        return self._actions.owners.claim(one.session, click.user, click.channel, asks=asks)

    def _snooze(self, click: Click, one: FindingClick) -> str:
        """Silence the finding for a while."""
        self._change(click, one, partial(self._actions.findings.snooze, words=one.snooze))
        return f"Snoozed for {one.snooze}. Checks keep running."

    def _investigate(self, click: Click, one: FindingClick) -> str:
        """Have a question asked in the ops channel about the finding, to be worked on like any other."""
        session, ask, by = one.session, self._actions.ask, click.user
        finding, said = self._actions.findings.investigate(
            session.id, one.digest, by=by, ask=lambda found: ask(session, found, by)
        )
        self._show(click, session, finding)
        return said

    def _playbook(self, _: Click, one: FindingClick) -> View:
        """Show HEARTBEAT.md."""
        playbook = playbook_of(one.session).peek()
        if playbook is None:
            raise InputError("There is no HEARTBEAT.md; the next check creates it.")
        return playbook_modal(one.session.name, playbook.shown)

    def _change(self, click: Click, one: FindingClick, change: Callable[[str, str], OpenFinding]) -> None:
        """Make a change and show it; a card that is behind, for somebody was first, is brought up to date too."""
        try:
            finding = change(one.session.id, one.digest)
        except Conflict:
            self._show(click, one.session, self._actions.findings.find(one.session.id, one.digest))
            raise
        if click.channel.startswith("D") and self._actions.owners.claim(one.session, click.user):
            self._actions.findings.owner_acted(one.session.id, click.user)  # alerts go where the owner acted last
        self._show(click, one.session, finding)

    def _show(self, click: Click, session: Session, finding: OpenFinding) -> None:
        """Show on the card that was clicked, and on the others, how the finding stands."""
        self._actions.findings.show(session, finding, clicked=(click.channel, click.message_ts))


class SuggestionButtons:
    """The listeners of the card; `cards` brings it in line after a decision, or at the next tick."""

    def __init__(
        self, desk: SuggestionDesk, owners: Owners, cards: SuggestionCards, approvers: Approvers, *, say: Say
    ) -> None:
        self.cards = cards

        def claim(click: Click, suggestion: Suggestion, asks: bool) -> str:
            with suppress(InputError):  # its session is gone
                return owners.claim(desk.sessions.get(suggestion.to), click.user, asks=asks)
            return ""

        def decide(click: Click, one: Suggestion, status: SuggestionStatus, why: str | None = None) -> None:
            decided = desk.decide(one.id, status, DecidedBy(click.user, click.name), why or "")
            with suppress(ProviderError):
                cards.show(decided)

        on = DecisionHandler(
            approvers,
            say,
            read=lambda value: desk.suggestions.get(ids.decode_suggestion(value)),
            refusal=NOT_YOURS,
            owner=claim,
        )
        self.actions: Mapping[str, Listener] = {
            ids.ACCEPT_SUGGESTION: on.decides(lambda click, one: decide(click, one, SuggestionStatus.ACCEPTED)),
            ids.REJECT_SUGGESTION: on.opens(lambda _, one: reject_modal(one)),
        }
        self.views: Mapping[str, Listener] = {
            ids.REJECT_VIEW: on.submits(
                lambda click, one, why: decide(click, one, SuggestionStatus.REJECTED, why),
                block=ids.REASON,
                check=lambda _, said: said and check_whole(said),
            ),
        }
