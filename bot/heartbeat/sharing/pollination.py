"""Cross-pollination: what sessions could learn from one another becomes suggestions, few a day and none twice.

Reads every worker's playbook and writes none. A line travels unread only as a line of the template, or as one command
that is allowed where it goes, without anybody's words beside it; any other waits for a human and goes into no inbox.
Nothing goes to the session it comes from, nothing that was ever offered to the session, nothing it has.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from bot.domain.heartbeats.allowed_commands import PLACEHOLDERS, commands_in, matches
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.secrets import redact
from bot.domain.sharing.same_check import CheckKey, check_keys
from bot.domain.sharing.suggestions import MAX_TASK_CHARS, Suggestion, SuggestionStatus, new_suggestion
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import strip_hidden
from bot.domain.tiers import Tier, suggested_moves
from bot.errors import InputError, StoreError
from bot.heartbeat.playbooks.playbook_file import Checkout, can_work, checkout_at, playbook_of, read_template
from bot.heartbeat.sessions.session_registry import Session
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions

SUGGESTIONS_PER_DAY: Final = 3
"""How many suggestions a session gets in a UTC day, and how many lines a day are set aside for humans."""

UNREAD: Final = "it is no line of the template and no command that is allowed there"
PROVED, BASIC, MISPLACED, MANY_MAKE_IT, ONE_MAKES_IT, OF_A_TEAM = range(6)
"""What is offered first."""

_FREE_HOLES: Final = tuple(f"{{{name}}}" for name in PLACEHOLDERS if name not in ("number", "sha"))
"""Holes that take words; what fills one may be a sentence."""


class TeamCheck(NamedTuple):
    """A check as another team gets to see it: no session, nobody, no words of its own."""

    team: str
    tier: Tier
    task: str


class _Check(NamedTuple):
    """A line of a session, of the template or of a team, for whoever lacks it; a move is for the session itself."""

    rank: int
    source: str
    tier: Tier
    text: str
    reason: str
    moves_from: Tier | None = None


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
    def checkout(self) -> Checkout:
        """What its folder has that commands need."""
        return checkout_at(self.session.cwd)

    def is_proved(self, task: PlaybookEntry) -> bool:
        """Whether people acknowledged or fixed what a task found; a finding's key names its command."""
        acted = [found.key for found in self.state.findings.values() if found.acknowledged_by or found.fixed_by]
        ids = {task.id, *(task_id(" ".join(argv)) for argv in commands_in((task.text, *task.details)))}
        return any(f"/{each}/" in key for key in acted for each in ids)

    def checks(self, known: Sequence[_Worker]) -> Iterator[_Check]:
        """Yield what the session makes and others may lack, and what stands in the wrong tier, as was measured."""
        name = self.session.name
        for tier, task in self.playbook.all_tasks:
            others = sum(other is not self and check_keys(task.text) <= other.keys for other in known)
            rank, why = ONE_MAKES_IT, f"{name} makes this check."
            if others:
                rank, why = MANY_MAKE_IT, f"{name} and {counted(others, 'other session')} make this check."
            if self.is_proved(task):
                rank, why = PROVED, f"In {name} it found something that people acted on."
            yield _Check(rank, self.session.id, tier, task.text, why)
            for move in suggested_moves(self.state.measured) if task.is_item else ():
                if (move.from_tier, move.task_id) == (tier, task.id) and not self.playbook.is_freeform:
                    yield _Check(MISPLACED, self.session.id, move.to_tier, task.text, f"It {move.why}.", tier)

    def wants(self, check: _Check) -> bool:
        """Whether it lacks a check and can take it: no file without tiers takes an hourly task, no idle one any."""
        is_own = check.source == self.session.id and check.rank != OF_A_TEAM
        if check.moves_from or is_own:
            return is_own and check.moves_from is not None
        is_idle = self.playbook.is_effectively_empty or not self.playbook.all_tasks
        has_tier = check.tier is Tier.QUICK or not self.playbook.is_freeform
        if is_idle or not has_tier or check_keys(check.text) <= self.keys:
            return False
        return all(can_work(argv, self.checkout) for argv in commands_in([check.text]))


class Pollination:
    """Finds what sessions could use, and has it sent."""

    def __init__(self, decisions: SuggestionDecisions, *, known_secrets: frozenset[str] = frozenset()) -> None:
        self._decisions, self._on, self._secrets = decisions, decisions.on, known_secrets
        self._basics = {task.text: tier for tier, task in read_template(is_master=False).all_tasks}
        self._of_teams: Sequence[TeamCheck] = ()

    def take_checks(self, checks: Sequence[TeamCheck]) -> None:
        """Learn what other teams share at the moment; of it only what a session here allows is ever offered."""
        self._of_teams = tuple(checks)

    def checks_to_share(self, team: str) -> list[TeamCheck]:
        """Return the checks that people acted on or several sessions make, in the form that travels unread."""
        known = self._known()
        good = [
            (each.session, one) for each in known for one in each.checks(known) if one.rank in (PROVED, MANY_MAKE_IT)
        ]
        forms = {self._form(one.text, session): one.tier for session, one in good}
        return [TeamCheck(team, tier, form) for form, tier in forms.items() if form]

    def offers(self) -> list[Suggestion]:
        """Return what the master's model may send now, the best first; nobody's own words are in it."""
        return [one for one in self._new() if _is_for_models(one) and self._has_room(one)]

    def run(self, *, was_chosen: bool = False) -> list[Suggestion]:
        """Send the best of what is new, as far as a day allows; with `was_chosen` only what no model could choose.

        Raises:
            InputError: there is no master session.
            StoreError: the disk refuses.
        """
        if self._on.master is None:
            raise InputError(
                "Nothing is suggested without a master session.",
                next_step="Set `master: true` for one session in triage.yml, then type /triage pollinate run",
            )
        wanted = [one for one in self._new() if not (was_chosen and _is_for_models(one))]
        return [self._decisions.send(one) for one in wanted if self._has_room(one)]

    def send(self, offer: Suggestion) -> Suggestion:
        """Send one of the offers; raises InputError if its session has had enough today or was offered it before."""
        if not self._has_room(offer):
            raise InputError(f"{offer.to} has been offered enough for today")
        return self._decisions.send(offer)

    def workers(self) -> list[Session]:
        """Return the sessions that learn from one another: those with beats, the master aside."""
        return [session for session in self._on.sessions.all() if session.beat.enabled and not session.is_master]

    def _known(self) -> list[_Worker]:
        """Return the workers whose playbooks are there and can be read."""
        found = []
        for session in self.workers():
            with suppress(StoreError):
                if (playbook := playbook_of(session).peek()) is not None:
                    found.append(_Worker(session, playbook, self._on.states.load(session.id)))
        return found

    def _has_room(self, new: Suggestion) -> bool:
        """Whether a suggestion may be sent today; a line waits for a human once, however many sessions lack it."""
        alike = [one for one in self._on.suggestions.all() if bool(one.quarantine) == bool(new.quarantine)]
        today = [one for one in alike if one.at.date() == new.at.date() and (new.quarantine or one.to == new.to)]
        waits = any(one.task == new.task and one.status is not SuggestionStatus.ACCEPTED for one in alike)
        return len(today) < SUGGESTIONS_PER_DAY and not (new.quarantine and waits)

    def _new(self) -> list[Suggestion]:
        """Return what was not offered to its session before, the best first and of two that are alike the better."""
        offered: defaultdict[object, set[CheckKey]] = defaultdict(set)
        for one in self._on.suggestions.all():
            offered[_kind(one)] |= check_keys(one.task)
        new = []
        for one in self._found():
            if not check_keys(one.task) <= offered[_kind(one)]:
                offered[_kind(one)] |= check_keys(one.task)
                new.append(one)
        return new

    def _found(self) -> Iterator[Suggestion]:
        """Yield all that could be suggested, the best first; nothing without a master session."""
        master, known = self._on.master, self._known()
        if master is None:
            return
        checks = [one for each in known for one in each.checks(known)]
        for text, tier in self._basics.items():
            if commands_in([text]):
                checks.append(_Check(BASIC, master.id, tier, text, "Every session begins with this check."))
        for team, tier, text in self._of_teams:
            checks.append(_Check(OF_A_TEAM, team, tier, text, f"The team {team} shares this check."))
        for check in sorted(checks, key=lambda check: check.rank):
            wanting = [worker.session for worker in known if worker.wants(check)]
            yield from (made for session in wanting if (made := self._made(session, check, master.id)))

    def _made(self, to: Session, check: _Check, master: str) -> Suggestion | None:
        """Return a check as a suggestion for a session; None for a line of others than its team that it cannot use."""
        is_public, why = check.rank in (BASIC, OF_A_TEAM), None
        task = check.text if check.moves_from else self._form(check.text, to)
        if task is None and not is_public:
            task, why = strip_hidden(redact(check.text, self._secrets))[0].strip(), UNREAD
        elif check.rank == OF_A_TEAM:
            why = f"it comes from the team {check.source}, so a human decides"
        return (
            new_suggestion(
                to.id,
                check.tier,
                task[:MAX_TASK_CHARS],
                from_=master if check.moves_from else check.source,
                reason=check.reason,
                at=self._on.clock.now(),
                moves_from=check.moves_from,
                quarantine=why,
            )
            if task
            else None
        )

    def _form(self, text: str, session: Session) -> str | None:
        """Return a line as it travels unread: a line of the template, or its one command alone; None where it may not.

        The session that gets it must allow the command, with nothing but numbers in the holes of its template.
        """
        if text in self._basics and not session.refused_commands(text):
            return text
        fixed = [one for one in session.beat.commands if not any(hole in word for word in one for hole in _FREE_HOLES)]
        named = commands_in([text])
        is_allowed = len(named) == 1 and any(matches(one, named[0]) for one in fixed)
        return f"`{shlex.join(named[0])}`" if is_allowed else None


def _is_for_models(suggestion: Suggestion) -> bool:
    """Whether a suggestion holds nobody's own words."""
    return not suggestion.quarantine and not suggestion.moves_from


def _kind(suggestion: Suggestion) -> tuple[str, Tier | None]:
    """Return what a check is offered once for: a session, or a tier of a session that has it."""
    return suggestion.to, suggestion.tier if suggestion.moves_from else None
