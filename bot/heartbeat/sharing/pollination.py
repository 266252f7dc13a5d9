"""Cross-pollination: what sessions could learn from one another becomes suggestions, few a day and none twice.

Reads every worker's playbook and writes none. A line travels unread only as a line of the template, or as one command
that is allowed where it goes, without anybody's words beside it; any other waits for a human and goes into no inbox.
Nothing goes to the session it comes from, nothing that was ever offered to the session, nothing it has.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Final

from bot.domain.heartbeats.allowed_commands import FLAGS_COMMAND, PLACEHOLDERS, commands_in, is_allowed
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.secrets import redact
from bot.domain.sharing.suggestions import (
    MAX_TASK_CHARS,
    CheckKey,
    Offer,
    Suggestion,
    SuggestionStatus,
    check_keys,
)
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import strip_hidden
from bot.domain.tiers import Tier, suggested_moves
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import can_work, checkout_at, playbook_of, read_template
from bot.heartbeat.sessions.session_registry import PLAYBOOK, Session
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions

SUGGESTIONS_PER_DAY: Final = 3
"""How many suggestions a session gets in a UTC day, and how many lines a day are set aside for humans."""

UNREAD: Final = "it is no line of the template and no command that is allowed there"
PROVED, BASIC, MANY_MAKE_IT, ONE_MAKES_IT, OF_A_TEAM = range(5)
"""What is offered first, after tasks in the wrong tier."""

OF_TEAM: Final = "it comes from the team {}, so a human decides"
NAME_CHARS: Final = 60

_FREE_HOLES: Final = tuple(f"{{{name}}}" for name in PLACEHOLDERS if name not in ("number", "sha"))
"""Holes that take words; what fills one may be a sentence."""


@dataclass(frozen=True)
class _Worker:
    """A session with its playbook and what is remembered of it."""

    session: Session
    playbook: Playbook
    state: SessionState

    @cached_property
    def keys(self) -> frozenset[CheckKey]:
        """Every check of the playbook."""
        return frozenset().union(*(check_keys(task.text, *task.details) for _, task in self.playbook.all_tasks))

    @cached_property
    def tasks(self) -> list[tuple[Tier, PlaybookEntry]]:
        """The tasks that can be offered: none too long for a card, none about the file itself."""
        every = self.playbook.all_tasks
        return [one for one in every if 0 < len(one[1].text) <= MAX_TASK_CHARS and not _reads_playbook(one[1].text)]

    @cached_property
    def checkout(self) -> frozenset[str]:
        """What its folder has that commands need."""
        return checkout_at(self.session.cwd)

    def is_proved(self, task: PlaybookEntry) -> bool:
        """Whether people acknowledged or fixed what a task found; a finding's key names its command."""
        acted = [found.key for found in self.state.findings.values() if found.acknowledged_by or found.fixed_by]
        ids = {task.id, *(task_id(" ".join(argv)) for argv in commands_in((task.text, *task.details)))}
        return any(f"/{each}/" in key for key in acted for each in ids)

    def makes(self, known: Sequence[_Worker]) -> Iterator[tuple[int, Offer]]:
        """Yield its checks, and why others should make them."""
        name = self.session.name[:NAME_CHARS]
        for tier, task in self.tasks:
            others = sum(other is not self and check_keys(task.text) <= other.keys for other in known)
            if self.is_proved(task):
                rank, why = PROVED, f"In {name} it found something that people acted on."
            elif others:
                rank, why = MANY_MAKE_IT, f"{name} and {counted(others, 'other session')} make this check."
            else:
                rank, why = ONE_MAKES_IT, f"{name} makes this check."
            yield rank, Offer(tier=tier, task=task.text, from_=self.session.id, reason=why)

    def moves(self, master: str) -> Iterator[Offer]:
        """Yield its tasks in the wrong tier, by what was measured; only where they still stand where that was."""
        measured = () if self.playbook.is_freeform else suggested_moves(self.state.measured)
        wrong = {(move.from_tier, move.task_id): move for move in measured}
        for tier, task in self.tasks:
            if task.is_item and (move := wrong.get((tier, task.id))):
                why = f"It {move.why}."
                yield Offer(tier=move.to_tier, task=task.text, from_=master, reason=why, moves_from=tier)

    def can_use(self, offer: Offer) -> bool:
        """Whether it lacks a check and can make it: no file without tiers takes an hourly task, no idle one any."""
        is_idle = self.playbook.is_effectively_empty or not self.playbook.all_tasks
        has_tier = offer.tier is Tier.QUICK or not self.playbook.is_freeform
        if is_idle or not has_tier or check_keys(offer.task) <= self.keys:
            return False
        return all(can_work(argv, self.session.cwd, self.checkout) for argv in commands_in([offer.task]))


class Pollination:
    """Finds what sessions could use, and has it sent."""

    def __init__(self, decisions: SuggestionDecisions, *, known_secrets: frozenset[str] = frozenset()) -> None:
        self.on, self._secrets = decisions, known_secrets
        self._basics = {task.text: tier for tier, task in read_template(is_master=False).all_tasks}
        self._of_teams: Sequence[Offer] = ()

    def take_checks(self, checks: Sequence[Offer]) -> None:
        """Learn what other teams share at the moment; of it only what a session here allows is ever offered."""
        self._of_teams = tuple(checks)

    def checks_to_share(self, team: str) -> list[Offer]:
        """Return the checks that people acted on or several sessions make: no session's name, nobody's own words."""
        known, shared = self._known(), {}
        for worker in known:
            for rank, offer in worker.makes(known):
                form = self._form(offer.task, worker.session)
                if form and rank in (PROVED, MANY_MAKE_IT):
                    why = f"The team {team} shares this check."
                    shared[form] = offer.evolve(task=form, from_=team, reason=why, quarantine=OF_TEAM.format(team))
        return list(shared.values())

    def offers(self) -> list[Suggestion]:
        """Return what the master's model may send now, the best first; nobody's own words are in it."""
        return [one for one in self._new() if _is_for_models(one) and self._has_room(one)]

    def run(self, *, was_chosen: bool = False) -> list[Suggestion]:
        """Send the best of what is new, as far as a day allows; with `was_chosen` only what no model could choose.

        Raises:
            InputError: there is no master session.
            StoreError: the disk refuses.
        """
        if self.on.master is None:
            raise InputError(
                "Nothing is suggested without a master session.",
                next_step="Set `master: true` for one session in triage.yml, then type /triage pollinate run",
            )
        wanted = [one for one in self._new() if not (was_chosen and _is_for_models(one))]
        return [self.on.send(one) for one in wanted if self._has_room(one)]

    def send(self, offer: Suggestion) -> Suggestion:
        """Send one of the offers; raises InputError if its session has had enough today or was offered it before."""
        if not self._has_room(offer):
            raise InputError(f"{offer.to} has been offered enough for today")
        return self.on.send(offer)

    def workers(self) -> list[Session]:
        """Return the sessions that learn from one another: those with beats, the master aside."""
        return [session for session in self.on.sessions.all() if session.beat.enabled and not session.is_master]

    def _known(self) -> list[_Worker]:
        """Return the workers whose playbooks are there and can be read."""
        found = []
        for session in self.workers():
            with suppress(StoreError):
                if (playbook := playbook_of(session).peek()) is not None:
                    found.append(_Worker(session, playbook, self.on.states.load(session.id)))
        return found

    def _has_room(self, new: Suggestion) -> bool:
        """Whether a suggestion may be sent today; a line waits for a human once, however many sessions lack it."""
        alike = [one for one in self.on.suggestions.all() if bool(one.quarantine) == bool(new.quarantine)]
        today = [one for one in alike if one.at.date() == new.at.date() and (new.quarantine or one.to == new.to)]
        waits = any(one.task == new.task and one.status is not SuggestionStatus.ACCEPTED for one in alike)
        return len(today) < SUGGESTIONS_PER_DAY and not (new.quarantine and waits)

    def _new(self) -> list[Suggestion]:
        """Return what was not offered to its session before, the best first and of two that are alike the better."""
        offered = {one.id_for(one.to) for one in self.on.suggestions.all()}
        new: dict[str, Suggestion] = {}
        for one in self._found():
            if one.id not in offered:
                new.setdefault(one.id, one)
        return list(new.values())

    def _found(self) -> Iterator[Suggestion]:
        """Yield all that could be suggested, the best first; nothing without a master session."""
        master, known, now = self.on.master, self._known(), self.on.clock.now()
        if master is None:
            return
        for worker in known:
            for offer in worker.moves(master.id):
                if redact(offer.task, self._secrets) == offer.task:
                    yield offer.made_to(worker.session.id, now)
        offers = [one for worker in known for one in worker.makes(known)]
        offers += [(OF_A_TEAM, offer) for offer in self._of_teams]
        why = "Every session begins with this check."
        names_command = (text for text in self._basics if commands_in([text]) and not _reads_playbook(text))
        for text in names_command:
            offers.append((BASIC, Offer(tier=self._basics[text], task=text, from_=master.id, reason=why)))
        for rank, offer in sorted(offers, key=itemgetter(0)):
            for worker in known:
                is_its_own = rank != OF_A_TEAM and offer.from_ == worker.session.id
                if not is_its_own and worker.can_use(offer) and (form := self._readable(offer, worker.session)):
                    yield form.made_to(worker.session.id, now)

    def _readable(self, offer: Offer, to: Session) -> Offer | None:
        """Return an offer as it travels, else as a human reads it; None for another team's line of no known form."""
        if form := self._form(offer.task, to):
            return offer.evolve(task=form)
        shown = strip_hidden(redact(offer.task, self._secrets))[0].strip()
        if offer.quarantine or offer.task in self._basics or not shown:
            return None
        return offer.evolve(task=shown[:MAX_TASK_CHARS], quarantine=UNREAD)

    def _form(self, text: str, session: Session) -> str | None:
        """Return a line as it travels unread: a line of the template, or its one command alone; None where it may not.

        The session that gets it must allow the command, with nothing but numbers in the holes of its template.
        """
        if text in self._basics and not session.refused_commands(text):
            return text
        fixed = [one for one in session.beat.commands if not any(hole in word for word in one for hole in _FREE_HOLES)]
        named = commands_in([text])
        is_fixed = len(named) == 1 and is_allowed(named[0], fixed, session.cwd)
        return f"`{shlex.join(named[0])}`" if is_fixed else None


def _reads_playbook(text: str) -> bool:
    """Whether a task looks at its own HEARTBEAT.md, as the one for urgent flags does; every session has a way to."""
    return any(argv == FLAGS_COMMAND or PLAYBOOK in argv for argv in commands_in([text]))


def _is_for_models(suggestion: Suggestion) -> bool:
    """Whether a suggestion holds nobody's own words."""
    return not suggestion.quarantine and not suggestion.moves_from
