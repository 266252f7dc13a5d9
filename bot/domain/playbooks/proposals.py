"""A proposal: a change of a playbook that somebody asked for in a chat, and what became of it. Pure.

One message makes one proposal, whose id is made of where the message stands. Only an open one can be decided; whoever
comes second is told who was first.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import AwareDatetime, StringConstraints

from bot.domain.frozen_value import FrozenValue
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_edits import NumberedTask, add_task, move_task, numbered, remove
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.playbooks.playbook_requests import RequestVerb
from bot.domain.text.humanize import LATE
from bot.domain.tiers import Tier
from bot.errors import Conflict, InputError

PROPOSAL_ID: Final = re.compile(r"[0-9a-f]{16}")
_WORD: Final = re.compile(r"\w+")
_FILLERS: Final = frozenset(
    {"the", "a", "an", "our", "your", "for", "of", "in", "on", "check", "checks", "task", "tasks"}
)


class ProposalStatus(StrEnum):
    """How a proposal stands; `failed`: it was accepted and could not be carried out."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    FAILED = "failed"


class Proposal(FrozenValue):
    """One file of proposals/.

    `task` is the line to add, or what stands in the playbook under `task_id`; `tier` where it goes, `from_tier` where
    it stands.
    `session` is None until somebody chose one of `choices`. `said_intent` is when the line in the thread was about to
    be posted, `settled_at` when all that a decision leads to was done.
    """

    id: Annotated[str, StringConstraints(pattern=PROPOSAL_ID.pattern)]
    verb: RequestVerb
    wanted: str
    """The task as the message names it."""
    task: str
    task_id: str | None = None
    tier: Tier | None = None
    from_tier: Tier | None = None
    session: str | None = None
    choices: tuple[str, ...] = ()
    asked_by: str
    words: str
    """The message, as the chat has it."""
    chat_id: str
    thread_ts: str
    permalink: str | None = None
    at: AwareDatetime
    standing: ProposalStatus = ProposalStatus.OPEN
    decided_by: str | None = None
    decided_at: AwareDatetime | None = None
    problem: str | None = None
    said_intent: AwareDatetime | None = None
    said_ts: str | None = None
    settled_at: AwareDatetime | None = None
    card_channel: str | None = None
    card_ts: str | None = None

    def decided(self, standing: ProposalStatus, by: str, at: datetime) -> Self:
        """Return it with a decision; raises Conflict, saying who was first, where there is one."""
        if self.standing is not ProposalStatus.OPEN:
            raise Conflict(f"<@{self.decided_by}> decided this already: {self.standing}. Nothing was changed.")
        return self.evolve(standing=standing, decided_by=by, decided_at=at)

    @property
    def is_said_late(self) -> bool:
        """Whether its line in the thread comes long after the decision."""
        said_at, decided_at = self.said_intent, self.decided_at
        return said_at is not None and decided_at is not None and said_at - decided_at >= LATE


def proposal_id(team_id: str, chat_id: str, message_id: str) -> str:
    """Return the id of what a message proposes."""
    return hashlib.sha256(f"{team_id}.{chat_id}.{message_id}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def check_proposal_id(proposal_id: str) -> str:
    """Return an id that is safe as a file name; raises InputError for anything else."""
    if not PROPOSAL_ID.fullmatch(proposal_id):
        raise InputError("This button is from another version of triage; nothing was changed.")
    return proposal_id


def tasks_named(playbook: Playbook, words: str) -> list[NumberedTask]:
    """Return the tasks that words may mean: the one that says just that, else every one that holds all of the words.

    >>> from bot.domain.playbook import parse
    >>> [one.task.text for one in tasks_named(parse("- Stale branches: `git branch`\\n- Disk\\n"), "the stale branch")]
    ['Stale branches: `git branch`']
    """
    tasks = numbered(playbook)
    if exact := [one for one in tasks if one.task.id == task_id(words)]:
        return exact
    wanted = _stems(words)
    return [one for one in tasks if wanted and wanted <= _stems(one.task.text)]


def apply_proposal(playbook: Playbook, proposal: Proposal) -> Playbook:
    """Return the playbook with the proposal carried out; where that was done already, it is unchanged.

    Raises:
        InputError: the task or its place cannot take it.
    """
    if proposal.verb is RequestVerb.ADD:
        tier = _tier(proposal.tier)
        held = any(task.id == task_id(proposal.task) for task in playbook.tasks(tier))
        return playbook if held else add_task(playbook, tier, proposal.task)
    found = standing_task(playbook, proposal)
    if found is None:
        return playbook
    return (
        remove(playbook, found)
        if proposal.verb is RequestVerb.REMOVE
        else move_task(playbook, found, _tier(proposal.tier))
    )


def is_carried_out(playbook: Playbook, proposal: Proposal) -> bool:
    """Whether a playbook is as an accepted proposal left it, as far as its task goes."""
    try:
        return apply_proposal(playbook, proposal).render() == playbook.render()
    except InputError:
        return False


def standing_task(playbook: Playbook, proposal: Proposal) -> PlaybookEntry | None:
    """Return the task a proposal is about where it stood when it was made; None if it is not there any more."""
    tasks = playbook.tasks(_tier(proposal.from_tier))
    return next((task for task in tasks if task.id == proposal.task_id), None)


def _tier(tier: Tier | None) -> Tier:
    if tier is None:
        raise InputError("This proposal names no tier; reject it and ask again.")
    return tier


def _stems(text: str) -> frozenset[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in _FILLERS)


def _stem(word: str) -> str:
    for end in ("ies", "es", "s"):
        if word.endswith(end) and len(word) > len(end) + 2:
            return word.removesuffix(end)
    return word.removesuffix("y") if len(word) > 4 else word
