"""Cross-pollination: what sessions could learn from one another becomes suggestions, few a day and none twice.

Reads every worker's playbook and writes none. Only lines of a known form travel unread
(bot/domain/sharing/quarantine.py); any other is set aside for a human and goes into no inbox. Nothing is sent to the
session it comes from, nothing that was ever offered to the session before, nothing it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.domain.heartbeats.allowed_commands import commands_in
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind, SessionState
from bot.domain.sharing.quarantine import QuarantineCode, quarantine_code, travelling_form
from bot.domain.sharing.suggestions import MAX_REASON_CHARS, Suggestion, SuggestionStatus, is_any_alike
from bot.domain.tiers import suggested_moves
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import can_work, checkout_at, playbook_of, read_template
from bot.heartbeat.sessions.session_inbox import SessionInbox
from bot.heartbeat.sessions.session_registry import Session, SessionMemory, SessionRegistry
from bot.heartbeat.sharing.suggestion_candidates import (
    Candidate,
    SessionPlaybook,
    TeamCheck,
    candidates,
    candidates_of_teams,
    good_checks,
)
from bot.ports import Clock
from bot.ports.collections import Collection

TRIAGE: Final = "triage"
"""Who speaks where there is no master session."""

SUGGESTIONS_PER_DAY: Final = 3
"""How many tasks of other sessions a session is offered in a UTC day."""

MAX_SET_ASIDE: Final = 3
"""How many suspicious lines a run shows to humans."""


class Pollination:
    """Gathers candidates and sends suggestions."""

    def __init__(
        self,
        sessions: SessionRegistry,
        states: SessionMemory,
        suggestions: Collection[Suggestion],
        mail: SessionInbox,
        *,
        clock: Clock,
        known_secrets: frozenset[str] = frozenset(),
    ) -> None:
        self._sessions, self._states, self._suggestions, self._mail = sessions, states, suggestions, mail
        self._clock, self._secrets = clock, known_secrets
        self._of_teams: tuple[TeamCheck, ...] = ()

    def take_checks(self, checks: Sequence[TeamCheck]) -> None:
        """Learn what other teams share at the moment; of it only what a session here allows is ever offered."""
        self._of_teams = tuple(checks)

    def checks_to_share(self, team: str) -> list[TeamCheck]:
        """Return the good checks of this team's sessions; lines of a known form only, so no words of anybody."""
        known = [each for each in map(self._known, self.workers()) if each is not None]
        found = {}
        for source, tier, task in good_checks(known):
            commands = self._commands(source.id)
            text = travelling_form(task.text, commands)
            if quarantine_code(text, self._secrets, commands=commands) is None:
                found[text] = TeamCheck(team=team, tier=tier, task=text)
        return list(found.values())

    def offers(self) -> list[Candidate]:
        """Return what may be offered now, the best first: nothing suspicious, nothing a second time."""
        return self._permitted(self._new())

    def run(self) -> list[Suggestion]:
        """Send the best of what may be offered, as far as each session's day allows, and set suspicious lines aside."""
        new = self._new()
        sent = [self.send(each) for each in self._permitted(new) if self._room(each.to) > 0]
        return [*sent, *self._set_aside(new)]

    def send(self, candidate: Candidate) -> Suggestion:
        """Offer a candidate to its session, with code's words for why: nobody's own words travel.

        Raises:
            InputError: it is suspicious, was offered before, or the session has been offered enough today.
            StoreError: the disk refuses it.
        """
        if self._room(candidate.to) <= 0:
            raise InputError(f"{candidate.to} has been offered enough for today")
        if self._suspicious(candidate):
            raise InputError(f"{candidate.id} waits for a human, who reads it first")
        suggestion = self._stored(candidate, candidate.reason)
        self._mail.send(_message(suggestion, self.sender()))
        return suggestion

    def set_aside(self) -> list[Suggestion]:
        """Put lines of no known form on file for humans, and into no inbox.

        A line goes on file for one session; where a human added it, for the next session that lacks it.
        """
        return self._set_aside(self._new())

    def is_suspicious(self, text: str) -> bool:
        """Whether a playbook's line is not for another session's model: it reads like an order, or holds a secret."""
        return quarantine_code(text, self._secrets) not in (None, QuarantineCode.NEW_WORDING)

    def sender(self) -> str:
        """Return who sends: the master session, if there is one."""
        return next((session.id for session in self._sessions.all() if session.is_master), TRIAGE)

    def _permitted(self, found: Sequence[Candidate]) -> list[Candidate]:
        rooms = {session.id: self._room(session.id) for session in self.workers()}
        return [each for each in found if rooms[each.to] > 0 and not self._suspicious(each)]

    def _set_aside(self, found: Sequence[Candidate]) -> list[Suggestion]:
        known = [
            one.task
            for one in self._suggestions.all()
            if one.quarantine and one.status is not SuggestionStatus.ACCEPTED
        ]
        held: list[Suggestion] = []
        for each in found:
            why = self._suspicious(each)
            if why and not is_any_alike(each.task, known) and len(held) < MAX_SET_ASIDE:
                held.append(self._stored(each, each.reason, quarantine=why))
                known.append(each.task)
        return held

    def _new(self) -> list[Candidate]:
        """Return the candidates that were not offered to their session before, in whatever words."""
        known = [each for each in map(self._known, self.workers()) if each is not None]
        own = candidates(known, read_template(is_master=False), self.sender())
        of_teams = candidates_of_teams(known, self._of_teams, own)
        found = [*own, *(each for each in of_teams if self._code(each) is None)]
        past = self._suggestions.all()
        places = {session.id: checkout_at(session.cwd) for session in self.workers()} if found else {}
        able = [each for each in found if all(can_work(argv, places[each.to]) for argv in commands_in([each.task]))]
        return [each for each in map(self._as_it_travels, able) if not _was_offered(each, past)]

    def _as_it_travels(self, candidate: Candidate) -> Candidate:
        """Return a candidate without the title of its command, where the title is nobody's template's."""
        if candidate.moves_from:
            return candidate
        return replace(candidate, task=travelling_form(candidate.task, self._commands(candidate.to)))

    def _commands(self, session_id: str) -> tuple[tuple[str, ...], ...]:
        return self._sessions.get(session_id).beat.commands

    def workers(self) -> list[Session]:
        """Return the sessions that learn from one another: those with beats, the master aside."""
        return [session for session in self._sessions.all() if session.beat.enabled and not session.is_master]

    def _known(self, session: Session) -> SessionPlaybook | None:
        """Return what is known of a session; None where its playbook cannot be read, or is not there yet."""
        try:
            playbook = playbook_of(session).peek()
        except StoreError:
            return None
        if playbook is None:
            return None
        state = self._states.load(session.id)
        return SessionPlaybook(
            id=session.id,
            name=session.name,
            playbook=playbook,
            moves=suggested_moves(state.measured),
            acted_on=_acted_on(state),
        )

    def _room(self, session_id: str) -> int:
        """Return how many more a session may be offered in this UTC day."""
        today = f"{self._clock.now():%Y-%m-%d}"
        had = [one for one in self._suggestions.all() if one.to == session_id and f"{one.at:%Y-%m-%d}" == today]
        return SUGGESTIONS_PER_DAY - len([one for one in had if not one.quarantine])

    def _suspicious(self, candidate: Candidate) -> str | None:
        """Return why a human reads it first; a line that only moves stands in its session's own playbook already."""
        if candidate.team:
            return f"it comes from the team {candidate.team}, so a human decides"
        code = self._code(candidate)
        if code is None or (candidate.moves_from and code is QuarantineCode.NEW_WORDING):
            return None
        return code.words

    def _code(self, candidate: Candidate) -> QuarantineCode | None:
        return quarantine_code(candidate.task, self._secrets, commands=self._commands(candidate.to))

    def _stored(self, candidate: Candidate, reason: str, quarantine: str | None = None) -> Suggestion:
        suggestion = Suggestion(
            id=candidate.id,
            to=candidate.to,
            tier=candidate.tier,
            task=candidate.task,
            from_=candidate.from_,
            reason=reason[:MAX_REASON_CHARS],
            at=self._clock.now(),
            status=SuggestionStatus.QUARANTINED if quarantine else SuggestionStatus.OPEN,
            moves_from=candidate.moves_from,
            quarantine=quarantine,
        )
        if not self._suggestions.add(suggestion.id, suggestion):
            raise InputError(f"{suggestion.id} was offered before")
        return suggestion


def _was_offered(candidate: Candidate, past: Sequence[Suggestion]) -> bool:
    if any(one.id == candidate.id for one in past):
        return True
    return not candidate.moves_from and is_any_alike(
        candidate.task, (one.task for one in past if one.to == candidate.to and not one.moves_from)
    )


def _acted_on(state: SessionState) -> frozenset[str]:
    """Return the tasks whose findings people acknowledged or fixed; the key of a finding names its task."""
    acted = [found.key for found in state.findings.values() if found.acknowledged_by or found.fixed_by]
    return frozenset(key.split("/")[1] for key in acted if key.count("/") >= 2)


def _message(suggestion: Suggestion, sender: str) -> InboxMessage:
    """Return a suggestion as its session's inbox holds it."""
    fields = suggestion.model_dump(mode="json", include={"id", "to", "tier", "task", "from_", "reason"}, by_alias=True)
    return InboxMessage(
        at=suggestion.at,
        from_=sender,
        to=suggestion.to,
        kind=MessageKind.SUGGESTION,
        text=f"{suggestion.id}: a {suggestion.tier} task is suggested: {suggestion.task}",
        data={"suggestion": fields},
    )
