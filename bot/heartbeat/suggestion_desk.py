"""The life of a suggestion: it is sent, waits, and is accepted or rejected, once; few a day and none twice.

Accepted, its task is added to the session's own playbook; no other file of a session is written. What is to be done is
on file before it is done, and doing it twice changes nothing, so that a crash in between costs neither a decision nor a
second line. Who may decide for a session is asked by the caller. Nothing else writes to decisions.md.

What sessions could learn from one another, as offers: found by code, in their playbooks.

A line travels unread only as one command that is allowed where it goes, without anybody's words beside it; any other
waits for a human. Nothing is offered to a session that has it or cannot use it. A line with a secret or a character
that nobody sees goes nowhere.
"""

from __future__ import annotations

import logging
import re
import shlex
from collections.abc import Collection as Items
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from bot.domain.answers import Answer, Line, Part, sentence
from bot.domain.command_specs import CommandLine
from bot.domain.heartbeats.allowed_commands import FLAGS_COMMAND, commands_in, is_allowed
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind, SessionState
from bot.domain.playbook import Playbook, add, move_task
from bot.domain.playbook_entries import MAX_TEXT_CHARS, PlaybookEntry, task_of_line
from bot.domain.secrets import redact
from bot.domain.suggestions import (
    CheckKey,
    DecidedBy,
    Offer,
    Suggestion,
    SuggestionStatus,
    check_keys,
    decision_lines,
    keys_of,
)
from bot.domain.text.humanize import counted, near_ones
from bot.domain.text.sanitize import strip_hidden
from bot.domain.tiers import Tier, suggested_moves
from bot.errors import InputError, StoreError
from bot.heartbeat.playbook_file import can_work, checkout_at, playbook_of
from bot.heartbeat.session_registry import PLAYBOOK, Asker, Session, SessionMemory, SessionRegistry
from bot.ports import Clock, DecisionLog
from bot.ports.collections import Collection

UNREAD: Final = "it is not just an allowed command"

_FREE_HOLE: Final = re.compile(r"\{(?!(?:number|sha)\})")
"""A hole of a template that takes words; what fills one may be a sentence."""


@dataclass(frozen=True)
class Worker:
    """A session with its playbook, what is remembered of it, and its tasks that can be offered, each as one line."""

    session: Session
    playbook: Playbook
    state: SessionState
    keys: frozenset[CheckKey]
    secrets: Items[str]

    @cached_property
    def lines(self) -> list[tuple[PlaybookEntry, str]]:
        """The tasks that a playbook takes, each as one line that names its commands; none about the file itself.

        Every session has a way to look at its own HEARTBEAT.md, as the task for urgent flags does.
        """
        found = []
        for task in self.playbook.all_tasks:
            below = [] if commands_in([task.text]) else [f"`{shlex.join(argv)}`" for argv in task.commands]
            line = " ".join([task.text, *below])
            is_clean = redact(line, self.secrets) == line and not strip_hidden(line)[1]
            reads_playbook = any(argv == FLAGS_COMMAND or PLAYBOOK in argv for argv in task.commands)
            if is_clean and not reads_playbook and 0 < len(line) <= MAX_TEXT_CHARS:
                found.append((task, line))
        return found

    @cached_property
    def checkout(self) -> frozenset[str]:
        """What its folder has that commands need."""
        return checkout_at(self.session.cwd)

    def makes(self, known: Sequence[Worker]) -> Iterator[tuple[int, Offer]]:
        """Yield its checks, why others should make them, and their worth: of one that people acted on the most."""
        name = self.session.name
        acted = {found.task for found in self.state.findings.values() if found.acknowledged_by or found.fixed_by}
        for task, line in self.lines:
            others = sum(other is not self and check_keys(line) <= other.keys for other in known)
            worth = others if acted.isdisjoint(task.checks) else len(known)
            also = f" and {counted(others, 'other session')} make" if others else " makes"
            why = f"{name}{also} this check." if worth < len(known) else f"In {name} it found what people acted on."
            yield worth, Offer(tier=task.tier, task=line, from_=self.session.id, reason=why)

    def moves(self) -> Iterator[Offer]:
        """Yield its tasks in the wrong tier, by what was measured; only where they still stand where that was."""
        measured = () if self.playbook.is_freeform else suggested_moves(self.state.measured)
        wrong = {(move.from_tier, move.task_id): move for move in measured}
        for task, line in self.lines:
            if move := wrong.get((task.tier, task.id)):
                why = f"It {move.why}."
                yield Offer(tier=move.to_tier, task=line, from_=self.session.id, reason=why, moves_from=task.tier)

    def can_use(self, offer: Offer) -> bool:
        """Whether it lacks a check and can make it: no file without tiers takes an hourly task, no idle one any."""
        has_tier = bool(self.playbook.all_tasks) and (offer.tier is Tier.QUICK or not self.playbook.is_freeform)
        lacks_it = has_tier and not check_keys(offer.task) <= self.keys
        return lacks_it and all(can_work(argv, self.session.cwd, self.checkout) for argv in commands_in([offer.task]))


def find_offers(known: Sequence[Worker], of_teams: Sequence[Offer]) -> Iterator[tuple[Session, Offer]]:
    """Yield all that could be suggested, and to whom: first what stands in the wrong tier, then the best."""
    yield from ((worker.session, offer) for worker in known for offer in worker.moves())
    makes = [*((-1, each) for each in of_teams), *(one for worker in known for one in worker.makes(known))]
    for _, offer in sorted(makes, key=lambda one: -one[0]):
        lack_it = [worker.session for worker in known if worker.can_use(offer)]
        yield from ((session, form) for session in lack_it if (form := travelling(offer, session)))


def checks_to_share(known: Sequence[Worker], team: str) -> list[Offer]:
    """Return the checks that people acted on or several sessions make: no session's name, nobody's own words."""
    forms = [travelling(offer, worker.session) for worker in known for worth, offer in worker.makes(known) if worth]
    why, held = f"The team {team} shares this check.", f"it comes from the team {team}, so a human decides"
    shared = [one.evolve(from_=team, reason=why, quarantine=held) for one in forms if one and not one.quarantine]
    return list({one.task: one for one in shared}.values())


def travelling(offer: Offer, to: Session) -> Offer | None:
    """Return an offer as it travels: as its one command alone, or for a human to read; another team's only so.

    The session that gets it must allow the command, with nothing but numbers in the holes of its template.
    """
    named = commands_in([offer.task])
    fixed = [template for template in to.beat.commands if not _FREE_HOLE.search(" ".join(template))]
    if len(named) == 1 and is_allowed(named[0], fixed, to.cwd):
        return offer.evolve(task=f"`{shlex.join(named[0])}`")
    return None if offer.quarantine else offer.evolve(quarantine=UNREAD)


def with_offer(playbook: Playbook, offer: Offer) -> Playbook:
    """Return the playbook with what is offered; unchanged where the check stands there, whoever put it there.

    Raises:
        InputError: the playbook cannot take it, or the task to be moved is gone.
    """
    tier, task = offer.tier, offer.task
    if offer.moves_from is None:
        return playbook if check_keys(task) <= keys_of(playbook) else add(playbook, tier, task)
    standing = {each.tier: each for each in playbook.all_tasks if each.id == task_of_line(task).id}
    if offer.moves_from in standing:
        return move_task(playbook, standing[offer.moves_from], tier)
    if tier not in standing:
        raise InputError(f"{task!r} is no {offer.moves_from} task any more; somebody changed that.")
    return playbook


log = logging.getLogger(__name__)

SUGGESTIONS_PER_DAY: Final = 3
"""How many suggestions a session gets in a UTC day."""

DECIDED_SHOWN: Final = 5
NOT_YOURS: Final = "Only approvers and the owner of the session it is for may decide on a suggestion."
_WHO: Final = "Who they are: /triage approve-list"


@dataclass(slots=True)
class SuggestionDesk:
    """Finds and sends suggestions, carries out decisions on them, and answers every verb of `pollinate`.

    Approvers see and decide on everything, owners on what is for their own sessions; the cards follow within seconds.
    `of_teams` is what other teams share at the moment; of it only what a session here allows is ever offered.
    """

    sessions: SessionRegistry
    states: SessionMemory
    suggestions: Collection[Suggestion]
    decisions: DecisionLog
    clock: Clock
    known_secrets: frozenset[str] = frozenset()
    of_teams: Sequence[Offer] = ()

    @property
    def master(self) -> Session | None:
        """The master session, if there is one."""
        return next((session for session in self.sessions.all() if session.is_master), None)

    @property
    def workers(self) -> list[Session]:
        """The sessions that learn from one another: those with beats, the master aside."""
        return [session for session in self.sessions.all() if session.beat.enabled and not session.is_master]

    def offers(self) -> list[Suggestion]:
        """Return what the master's model may send now, the best first; nobody's own words are in it."""
        return [one for one in self._new() if not (one.quarantine or one.moves_from) and self.has_room(one)]

    def run(self, *, was_chosen: bool = False) -> list[Suggestion]:
        """Send the best of what is new, as far as a day allows; with `was_chosen` only what no model could choose.

        Raises:
            InputError: there is no master session.
            StoreError: the disk refuses.
        """
        if self.master is None:
            next_step = "Set `master: true` for one session in triage.yml, then type /triage pollinate run"
            raise InputError("Nothing is suggested without a master session.", next_step=next_step)
        wanted = [one for one in self._new() if not was_chosen or one.quarantine or one.moves_from]
        return [self.send(one) for one in wanted if self.has_room(one)]

    def has_room(self, new: Suggestion) -> bool:
        """Whether a suggestion may be sent today; a line waits for a human once, however many sessions lack it."""
        today = [one for one in self.suggestions.where("to", new.to) if one.at.date() == new.at.date()]
        same = self.suggestions.where("task", new.task) if new.quarantine else ()
        is_held = any(one.quarantine and one.status is not SuggestionStatus.ACCEPTED for one in same)
        return len(today) < SUGGESTIONS_PER_DAY and not is_held

    def send(self, suggestion: Suggestion) -> Suggestion:
        """Put a new suggestion on file, then into its session's inbox unless a human decides.

        Raises:
            InputError: it was offered before, or its session has had enough today.
            StoreError: the disk refuses; where it is on file the rest is done later.
        """
        if not (self.has_room(suggestion) and self.suggestions.add(suggestion.id, suggestion)):
            raise InputError(f"{suggestion.to} was offered {suggestion.id} before, or enough for today.")
        return self._settled(suggestion)

    def decide(self, suggestion_id: str, status: SuggestionStatus, by: DecidedBy, why: str = "") -> Suggestion:
        """Accept or reject: add the task to its session's playbook, or remember that the session does not want it.

        Raises:
            Conflict: somebody has decided; it says who.
            InputError: there is none of this id, it is not theirs, or the playbook does not take it; it still waits.
            StoreError: the disk refuses; a decision that is on file is carried out later.
        """

        def decided(now: Suggestion) -> Suggestion:
            after = now.decided(status, by, self.clock.now(), why)
            if status is SuggestionStatus.ACCEPTED:
                with_offer(playbook_of(self.sessions.get(now.to)).read(), now)
            return after

        return self._settled(self.suggestions.change(suggestion_id, decided))

    def settle(self) -> None:
        """Carry out what is on file and not carried out: by a process that died, or while the disk refused."""
        for one in [one for one in self.suggestions.all() if one.settled_at is None]:
            try:
                self._settled(one)
            except (InputError, StoreError) as error:
                log.warning("%s is not carried out: %s", one.id, error, extra={"action": "suggestion_unsettled"})

    def _settled(self, one: Suggestion) -> Suggestion:
        """Carry out what the status says and write it down; a second time changes nothing."""
        if one.status is SuggestionStatus.OPEN:
            text, data = f"a {one.tier} task is suggested: {one.task}", {"suggestion": one.model_dump(mode="json")}
            kind = MessageKind.SUGGESTION
            self.states.send(InboxMessage(at=one.at, from_=one.from_, to=one.to, kind=kind, text=text, data=data))
        if one.status is SuggestionStatus.ACCEPTED:
            playbook_of(self.sessions.get(one.to)).change(lambda now: with_offer(now, one))
        for mark, line in decision_lines(one):
            self.decisions.note(mark, line)
        return self.suggestions.evolve(one.id, settled_at=self.clock.now())

    def answer(self, line: CommandLine, by: Asker) -> Answer:
        """Do what a line says, or list what waits; raises InputError and StoreError."""
        verb = line.word(1) or "list"
        if verb == "run":
            by.require("Only approvers may send suggestions.", next_step=_WHO)
            return list_suggestions(self.run(), "Sent: ")
        seen = self._seen_by(by)
        if verb == "list":
            return list_suggestions(seen)
        status = SuggestionStatus.ACCEPTED if verb == "accept" else SuggestionStatus.REJECTED
        found = _named(line.word(2), seen)
        self.decide(found.id, status, DecidedBy(by.id, by.name), line.words_after(3))
        return sentence(f"{found.id} is {status}: {found.place}.", "pollinate list")

    def known(self) -> list[Worker]:
        """Return the workers whose playbooks are there and can be read."""
        found = []
        for session in self.workers:
            with suppress(StoreError):
                if (playbook := playbook_of(session).peek()) is not None:
                    state = self.states.load(session.id)
                    found.append(Worker(session, playbook, state, keys_of(playbook), self.known_secrets))
        return found

    def _new(self) -> list[Suggestion]:
        """Return what was not offered to its session before, the best first and of two that are alike the better.

        What was rejected is not offered again, also where only the line about it is left.
        """
        offered, new = {one.id_for(one.to) for one in self.suggestions.all()}, dict[str, Suggestion]()
        decided = self.decisions.text()
        found = [offer.made_to(to.id, self.clock.now()) for to, offer in find_offers(self.known(), self.of_teams)]
        for one in sorted(found, key=lambda one: bool(one.quarantine)):
            if one.id not in offered and one.mark(SuggestionStatus.REJECTED) not in decided:
                new.setdefault(one.id, one)
        return list(new.values())

    def _seen_by(self, by: Asker) -> list[Suggestion]:
        """Return what somebody may decide on; others are refused before any id is named."""
        known = self.suggestions.all()
        if by.may():
            return known
        mine = [session for session in self.sessions.all() if by.may(session)]
        by.require(NOT_YOURS, next(iter(mine), None), next_step=_WHO)
        return [one for one in known if one.to in [session.id for session in mine]]


def _named(name: str, known: Sequence[Suggestion]) -> Suggestion:
    """Return the suggestion of an id, or of the end of one; raises InputError with the near ones."""
    meant = [one for one in known if one.id == name] or [one for one in known if one.id.endswith(f"-{name}")]
    if len(meant) == 1:
        return meant[0]
    waiting = [one.id for one in known if one.is_waiting]
    near = " or ".join(near_ones(name, waiting, cutoff=0.5) or waiting[:3])
    raise InputError(
        f"Name a suggestion; did you mean {near}?" if near else "There is no such suggestion; nothing waits."
    )


def list_suggestions(known: Sequence[Suggestion], head: str = "") -> Answer:
    """Return what waits, oldest first, and what was decided last, newest first; `head` begins the first line."""
    waiting = [one for one in known if one.is_waiting]
    decided = sorted((one for one in known if one.decided_at), key=lambda one: str(one.decided_at), reverse=True)
    past = tuple(Line(name=one.id, text=f"{one.status} {one.decision}") for one in decided[:DECIDED_SHOWN])
    parts = [*map(_part, waiting), *([Part(title="Decided last", lines=past)] if past else [])]
    told = sentence(f"{head}{counted(len(waiting), 'suggestion')}.").parts
    following = f"pollinate accept {waiting[0].id}" if waiting else "pollinate run"
    return Answer(parts=(*told, *parts), following=following, data=[one.model_dump(mode="json") for one in known])


def _part(suggestion: Suggestion) -> Part:
    """Return what is suggested for whom, by whom and why; its line is quoted as it stands."""
    head = f"{suggestion.place}, from {suggestion.from_}"
    why = f"read it first: {suggestion.quarantine}" if suggestion.quarantine else suggestion.reason
    return Part(lines=(Line(name=suggestion.id, text=head, more=(why,)),), quoted=suggestion.task)
