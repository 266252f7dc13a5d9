"""What sessions could learn from one another, computed from their playbooks and what became of their checks. Pure.

A candidate never goes to the session it comes from, and never names what the session has already. Whether it was
offered before, and how many a day are enough, is asked in pollination.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.heartbeats.checks import checks_of
from bot.domain.playbook import Playbook
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.sharing.suggestions import MAX_TASK_CHARS, is_same_task, suggestion_id
from bot.domain.tiers import Tier, TierMove

ACTED_ON: Final = 5
BASIC: Final = 4
MISPLACED: Final = 3
SHARED_BY_MANY: Final = 2
SHARED: Final = 1
OF_A_TEAM: Final = 0


@dataclass(frozen=True, kw_only=True)
class SessionPlaybook:
    """One session: its playbook, the moves its beats' measurements speak for, the checks people acted on."""

    id: str
    name: str
    playbook: Playbook
    moves: tuple[TierMove, ...] = ()
    acted_on: frozenset[str] = frozenset()

    def has(self, text: str) -> bool:
        """Whether it makes this check already, in whatever words."""
        return any(is_same_task(task.text, text) for _, task in self.playbook.all_tasks)

    def accepts_tier(self, tier: Tier) -> bool:
        """Whether a task of this tier can be added; a file without tiers holds quick ones, an idle file stays idle."""
        if self.playbook.is_effectively_empty or not self.playbook.all_tasks:
            return False
        return tier is Tier.QUICK or not self.playbook.is_freeform


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A task line that would help a session, and why; `weight` says how much, the most first."""

    to: str
    tier: Tier
    task: str
    from_: str
    reason: str
    weight: int
    moves_from: Tier | None = None
    team: str | None = None
    """The team that shares it, where that is another one; a human decides on it."""

    @property
    def id(self) -> str:
        """The id its suggestion would have."""
        return suggestion_id(self.to, self.task, self.tier if self.moves_from else None)


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamCheck:
    """A check as another team gets to see it: no session, nobody, no words of its own."""

    team: str
    tier: Tier
    task: str


def good_checks(known: Sequence[SessionPlaybook]) -> list[tuple[SessionPlaybook, Tier, PlaybookEntry]]:
    """Return the checks that proved themselves: people acted on what one found, or several sessions make it."""
    return [
        (source, tier, task)
        for source in known
        for tier, task in source.playbook.all_tasks
        if not source.acted_on.isdisjoint(checks_of(task)) or sum(each.has(task.text) for each in known) > 1
    ]


def candidates_of_teams(
    known: Sequence[SessionPlaybook], checks: Sequence[TeamCheck], own: Sequence[Candidate]
) -> list[Candidate]:
    """Return what other teams share and a session lacks, each check once for a session and not beside its `own`."""
    found: list[Candidate] = []
    for check in checks:
        why = f"The team {check.team} shares this check."
        for one in _to_all(known, check.tier, check.task, why, OF_A_TEAM, from_=check.team, team=check.team):
            if not any(_is_the_same(one, other) for other in (*own, *found)):
                found.append(one)
    return found


def candidates(known: Sequence[SessionPlaybook], basics: Playbook, sender: str) -> list[Candidate]:
    """Return everything worth offering, the best first; of two that are alike the better.

    `basics` is the template every session begins with, `sender` who speaks where no other session is the source.
    """
    found = [*_of_peers(known), *_basics(known, basics, sender), *_misplaced(known, sender)]
    kept: list[Candidate] = []
    for one in sorted(found, key=lambda one: -one.weight):
        if not any(_is_the_same(one, other) for other in kept):
            kept.append(one)
    return kept


def _is_the_same(one: Candidate, other: Candidate) -> bool:
    return (one.to, bool(one.moves_from)) == (other.to, bool(other.moves_from)) and is_same_task(one.task, other.task)


def _of_peers(known: Sequence[SessionPlaybook]) -> Iterator[Candidate]:
    """Checks that others make, and those that found something people did something about."""
    for source in known:
        for tier, task in source.playbook.all_tasks:
            if not source.acted_on.isdisjoint(checks_of(task)):
                why = f"In {source.name} it found something that people acted on."
                yield from _to_all(known, tier, task.text, why, ACTED_ON, source=source)
            holders = [each.name for each in known if each.has(task.text)]
            weight = SHARED_BY_MANY if len(holders) > 1 else SHARED
            why = f"{_listed(holders)} {'make' if len(holders) > 1 else 'makes'} this check."
            yield from _to_all(known, tier, task.text, why, weight, source=source)


def _basics(known: Sequence[SessionPlaybook], basics: Playbook, sender: str) -> Iterator[Candidate]:
    """Checks every session begins with."""
    for tier, task in basics.all_tasks:
        yield from _to_all(known, tier, task.text, "A basic check that every session begins with.", BASIC, from_=sender)


def _to_all(
    known: Sequence[SessionPlaybook],
    tier: Tier,
    text: str,
    why: str,
    weight: int,
    *,
    source: SessionPlaybook | None = None,
    from_: str = "",
    team: str | None = None,
) -> Iterator[Candidate]:
    task, from_ = text[:MAX_TASK_CHARS], source.id if source else from_
    for other in known:
        if other is not source and other.accepts_tier(tier) and not other.has(text):
            yield Candidate(to=other.id, tier=tier, task=task, from_=from_, reason=why, weight=weight, team=team)


def _misplaced(known: Sequence[SessionPlaybook], sender: str) -> Iterator[Candidate]:
    """Tasks in the wrong tier, by what was measured; only where they still stand where that was."""
    for session in known:
        standing = (
            {} if session.playbook.is_freeform else {(tier, task.id): task for tier, task in session.playbook.all_tasks}
        )
        for move in session.moves:
            task = standing.get((move.from_tier, move.task_id))
            if task is not None and task.is_item:
                yield Candidate(
                    to=session.id,
                    tier=move.to_tier,
                    task=task.text[:MAX_TASK_CHARS],
                    from_=sender,
                    reason=f"It {move.why}.",
                    weight=MISPLACED,
                    moves_from=move.from_tier,
                )


def _listed(names: Sequence[str]) -> str:
    shown = [" ".join(name.split())[:40] for name in names[:3]]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (" and ".join(shown) if len(shown) < 3 and not more else ", ".join(shown)) + more
