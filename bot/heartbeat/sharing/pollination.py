"""What sessions could learn from one another, as offers: found by code, in their playbooks.

A line travels unread only as one command that is allowed where it goes, without anybody's words beside it; any other
waits for a human. Nothing is offered to a session that has it or cannot use it. A line with a secret or a character
that nobody sees goes nowhere.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from bot.domain.heartbeats.allowed_commands import FLAGS_COMMAND, commands_in, is_allowed
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.playbook import Playbook, add, move_task
from bot.domain.playbook_entries import MAX_TEXT_CHARS, PlaybookEntry, task_of_line
from bot.domain.secrets import redact
from bot.domain.suggestions import CheckKey, Offer, check_keys, keys_of
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import strip_hidden
from bot.domain.tiers import Tier, suggested_moves
from bot.errors import InputError
from bot.heartbeat.playbooks.playbook_file import can_work, checkout_at
from bot.heartbeat.session_registry import PLAYBOOK, Session

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
    secrets: Collection[str]

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
