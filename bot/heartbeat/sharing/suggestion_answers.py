"""What `pollinate …` answers, in Slack and in the terminal alike. Who may ask and decide is settled by the caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.domain.answers import Answer, Line, Part, sentence
from bot.domain.sharing.suggestions import (
    DecidedBy,
    Suggestion,
    SuggestionStatus,
    describe_decision,
    describe_suggestion,
)
from bot.domain.text.humanize import counted
from bot.errors import InputError
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions

ANYWAY: Final = "anyway"
"""The word that accepts a quarantined suggestion which somebody has read."""

DECIDED_SHOWN: Final = 5


def list_suggestions(known: Sequence[Suggestion]) -> Answer:
    """Return what waits, oldest first, and what was decided last, newest first."""
    waiting = [one for one in known if one.is_waiting]
    decided = sorted((one for one in known if one.decided_at), key=lambda one: str(one.decided_at), reverse=True)
    if not known:
        return sentence("No suggestions yet.", "pollinate run")
    past = tuple(Line(name=one.id, text=f"{one.status} {describe_decision(one)}") for one in decided[:DECIDED_SHOWN])
    parts = [*map(_part, waiting), *([Part(title="Decided last", lines=past)] if past else [])]
    return Answer(parts=tuple(parts), following=f"pollinate accept {waiting[0].id}" if waiting else "pollinate run")


def send_suggestions(pollination: Pollination) -> Answer:
    """Look around, send, and return what was sent; raises InputError and StoreError as `run` does."""
    sent = pollination.run()
    if not sent:
        return sentence("Nothing new to suggest.", "pollinate list")
    held = sum(one.quarantine is not None for one in sent)
    aside = f" {held} quarantined, for a human to read." if held else ""
    head = sentence(f"{counted(len(sent) - held, 'suggestion')} sent.{aside}")
    return Answer(parts=(*head.parts, *map(_part, sent)), following=f"pollinate accept {sent[0].id}")


def decide_suggestion(decisions: SuggestionDecisions, verb: str, found: Suggestion, rest: str, by: DecidedBy) -> Answer:
    """Accept or reject with what was typed after the id; of a quarantined one first only its text is shown, as data."""
    if verb == "reject":
        decisions.decide(found, SuggestionStatus.REJECTED, by, rest)
        return sentence(f"{found.id} rejected; {found.to} is not offered it again.", "pollinate list")
    if rest not in ("", ANYWAY):
        said = "Nothing was changed: accept takes the id and no more."
        raise InputError(said, next_step=f"/triage pollinate accept {found.id}")
    if found.quarantine and found.is_waiting and not rest:
        return Answer(parts=(_part(found),), following=f"pollinate accept {found.id} {ANYWAY}")
    decisions.decide(found, SuggestionStatus.ACCEPTED, by, has_read=bool(rest))
    done = f"moved to {found.tier}" if found.moves_from else f"added to the {found.tier} tasks"
    return sentence(f"{found.id} accepted: {done} of {found.to}.", f"heartbeat run {found.to}")


def _part(suggestion: Suggestion) -> Part:
    """Return what is suggested for whom, by whom and why; its line is quoted as it stands."""
    head = f"{describe_suggestion(suggestion)}, from {suggestion.from_}"
    why = f"quarantined: {suggestion.quarantine}" if suggestion.quarantine else suggestion.reason
    return Part(lines=(Line(name=suggestion.id, text=head, more=(why,)),), quoted=suggestion.task)
