"""A suggestion: one task line offered to one session, and what became of it. Pure.

Its id is made of the session and the check, so that the same check is offered to a session once, ever. Tasks make the
same check by the commands they name, not by their wording: program, subcommand and operands are the same in the same
order, whatever the options. In doubt two commands differ: a check too many is offered once and rejected, one that is
taken to be there already is never offered.
A suggestion waits, open or quarantined, until one decision makes it accepted or rejected, for good. A human may decide
on either, the model of its session on an open one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Annotated, Final, NamedTuple, Self

from pydantic import AwareDatetime, StringConstraints

from bot.domain.frozen_value import WITHOUT_UNDERSCORE, FrozenValue
from bot.domain.heartbeats.allowed_commands import commands_in
from bot.domain.playbook import Playbook
from bot.domain.playbook_entries import task_id
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import Tier
from bot.errors import Conflict, InputError

CheckKey = tuple[str, ...]
SUGGESTION_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}-[0-9a-f]{6}")
MAX_REASON_CHARS: Final = 300
_MARKDOWN: Final = re.compile(r"([\\\[\]<>*_])")

_NUMBER: Final = re.compile(r"\d+[a-z.]*")
"""A number with or without a unit, as in `-n 5`, `--since 1h` and `--since 2.weeks`."""

_NAMED_WORDS: Final = 3
"""Programs called as `gh pr list` and `kubectl get pods` take an option's value from the next word."""


class SuggestionStatus(StrEnum):
    """How a suggestion stands; `quarantined` waits too, but for a human alone."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class DecidedBy(NamedTuple):
    """Who decides: a Slack user's id, `session:<id>` (its model) or `terminal:<name>`, and what people read."""

    id: str
    name: str


class Offer(FrozenValue):
    """A task that sessions could use, from a session or a team, and why.

    `moves_from` is the tier it stands in already, where only its tier is wrong; `quarantine` says why only a human may
    decide on it, and stays after the decision.
    """

    model_config = WITHOUT_UNDERSCORE

    tier: Tier
    task: str
    from_: str
    reason: str
    moves_from: Tier | None = None
    quarantine: str | None = None

    def id_for(self, session_id: str) -> str:
        """Return the id of offering it to a session."""
        return suggestion_id(session_id, self.task, self.tier if self.moves_from else None)

    def made_to(self, session_id: str, at: datetime) -> Suggestion:
        """Return it as a suggestion to a session."""
        status = SuggestionStatus.QUARANTINED if self.quarantine else SuggestionStatus.OPEN
        return Suggestion(id=self.id_for(session_id), to=session_id, at=at, status=status, **dict(self))


class Suggestion(Offer):
    """One line of suggestions/: the offer, the decision, and where its card stands.

    `settled_at` is when what its status says had been carried out and written down; `card_shows` is what the card said
    last.
    """

    id: Annotated[str, StringConstraints(pattern=SUGGESTION_ID.pattern)]
    to: str
    at: AwareDatetime
    status: SuggestionStatus = SuggestionStatus.OPEN
    decided_by: str | None = None
    decided_by_name: str | None = None
    decided_at: AwareDatetime | None = None
    decision_reason: str | None = None
    settled_at: AwareDatetime | None = None
    card_channel: str | None = None
    card_ts: str | None = None
    card_shows: SuggestionStatus | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether nobody has decided."""
        return self.status in (SuggestionStatus.OPEN, SuggestionStatus.QUARANTINED)

    @property
    def place(self) -> str:
        """Where the task would stand: `hourly, for shop-api`, or `quick → hourly, for shop-api`."""
        before = f"{self.moves_from} → " if self.moves_from else ""
        return f"{before}{self.tier}, for {self.to}"

    @property
    def decision(self) -> str:
        """By whom it was decided and why: `by ana: too noisy`."""
        why = f": {self.decision_reason}" if self.decision_reason else ""
        return f"by {self.decided_by_name or 'somebody'}{why}"

    def mark(self, what: str) -> str:
        """Return what the line of decisions.md holds that says `what` became of it, and no other line."""
        return f"{what} [{self.id}](suggestions/{self.id}.json)"

    def decided(self, status: SuggestionStatus, by: DecidedBy, at: datetime, reason: str | None) -> Self:
        """Return it accepted or rejected, to be carried out.

        Raises:
            Conflict: somebody has decided; it says who.
            InputError: a model decides on what is another session's, or waits for a human.
        """
        if not self.is_waiting:
            raise Conflict(f"{self.decided_by_name} {self.status} {self.id} already; nothing was changed.")
        if by.id.startswith("session:") and (self.quarantine or by.id != f"session:{self.to}"):
            raise InputError(f"{self.id} is not for you to decide; nothing was changed.")
        return self.evolve(
            status=status,
            decided_by=by.id,
            decided_by_name=by.name,
            decided_at=at,
            decision_reason=(reason or "").strip()[:MAX_REASON_CHARS] or None,
            settled_at=None,
        )


def suggestion_id(to: str, task: str, move_to: Tier | None = None) -> str:
    """Return the id of offering a check to a session, or of moving the session's own task to another tier.

    >>> suggestion_id("shop", "Look at CI") == suggestion_id("shop", "look at  ci"), suggestion_id("shop", "x")
    (True, 'shop-67c680')
    """
    said = repr((move_to and move_to.value, sorted(check_keys(task))))
    return f"{to}-{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def check_suggestion_id(suggestion_id: str) -> str:
    """Return an id that is safe as a file name; raises InputError for anything else."""
    if not SUGGESTION_ID.fullmatch(suggestion_id):
        raise InputError(f"{suggestion_id[:60]!r} is no suggestion's id; one looks like shop-api-3f2a91")
    return suggestion_id


def decision_lines(suggestion: Suggestion) -> Iterator[tuple[str, str]]:
    """Yield its lines of decisions.md, each with what no other line there holds: that it was sent, what became of it.

    Whatever was typed stands on one line there, and makes no link.
    """
    did = "quarantined" if suggestion.quarantine else "suggested"
    lines = [(suggestion.at, did, suggestion.quarantine or suggestion.reason)]
    if suggestion.decided_at:
        lines.append((suggestion.decided_at, suggestion.status, suggestion.decision))
    for at, what, said in lines:
        mark = suggestion.mark(what)
        told = _MARKDOWN.sub(r"\\\1", one_line(f"“{suggestion.task}”, from {suggestion.from_}; {said}"))
        yield mark, f"{at:%Y-%m-%d %H:%M} UTC {mark}, {suggestion.place}: {told}"


@lru_cache(maxsize=4_096)
def check_keys(text: str, *details: str) -> frozenset[CheckKey]:
    """Return one key for each command in a task's lines, or one for its title where it names none.

    >>> check_keys("Tree: `git status --porcelain`") == check_keys("`git status --porcelain=v1 --branch`")
    True
    >>> check_keys("`df -h`") == check_keys("`df -h /var`")
    False
    """
    return frozenset(map(command_key, commands_in((text, *details)))) or frozenset({(task_id(text),)})


def keys_of(playbook: Playbook) -> frozenset[CheckKey]:
    """Return the keys of all checks of a playbook."""
    return frozenset().union(*(check_keys(task.text, *task.details) for task in playbook.all_tasks))


def command_key(argv: Sequence[str]) -> CheckKey:
    """Return a command without its options and their values; all that follows `--` are operands.

    A value is joined to its option by `=`, or is the next word: a number always, any other word without a slash where
    the command begins with `_NAMED_WORDS` words that are no options.

    >>> command_key(("git", "log", "-n", "5", "main")), command_key(("gh", "pr", "list", "--state", "open"))
    (('git', 'log', 'main'), ('gh', 'pr', 'list'))
    """
    words = [*takewhile(lambda word: word != "--", argv)]
    takes_words = not any(map(_is_option, words[:_NAMED_WORDS])) and len(words) >= _NAMED_WORDS
    kept = []
    for before, word in pairwise(("", *words)):
        may_follow = _NUMBER.fullmatch(word) or (takes_words and "/" not in word)
        is_value = _is_option(before) and "=" not in before and may_follow
        if not (_is_option(word) or is_value):
            kept.append(word)
    return (*kept, *argv[len(words) + 1 :])


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"
