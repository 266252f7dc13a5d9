"""What `pollinate …` answers: approvers see and decide on everything, owners on what is for their own sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.domain.answers import Answer, Line, Part, sentence
from bot.domain.commands.command_line import CommandLine
from bot.domain.sharing.suggestions import DecidedBy, Suggestion, SuggestionStatus
from bot.domain.text.did_you_mean import near_ones
from bot.domain.text.humanize import counted
from bot.errors import InputError
from bot.heartbeat.sessions.session_registry import Asker
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions

ANYWAY: Final = "anyway"
"""The word that accepts a quarantined suggestion which somebody has read."""

DECIDED_SHOWN: Final = 5
NOT_YOURS: Final = "Only approvers and the owner of the session it is for may decide on a suggestion."
_WHO: Final = "Who they are: /triage approve-list"


@dataclass(frozen=True, slots=True)
class SuggestionAnswers:
    """Answers every verb of `pollinate`; what it changes the cards follow within seconds."""

    decisions: SuggestionDecisions
    pollination: Pollination

    def answer(self, line: CommandLine, by: Asker) -> Answer:
        """Do what a line says, or list what waits; raises InputError and StoreError."""
        verb = line.word(1) or "list"
        if verb == "run":
            by.require("Only approvers may send suggestions.", next_step=_WHO)
            return _sent(self.pollination.run())
        seen = self._seen_by(by)
        if verb == "list":
            return list_suggestions(seen)
        return self._decided(verb, find_suggestion(line.word(2), seen), line.words_after(3), by)

    def _seen_by(self, by: Asker) -> list[Suggestion]:
        """Return what somebody may decide on; others are refused before any id is named."""
        known = self.decisions.suggestions.all()
        if by.may():
            return known
        mine = [session for session in self.decisions.sessions.all() if by.owns(session)]
        by.require(NOT_YOURS, next(iter(mine), None), next_step=_WHO)
        return [one for one in known if one.to in [session.id for session in mine]]

    def _decided(self, verb: str, found: Suggestion, rest: str, asker: Asker) -> Answer:
        """Decide with what was typed after the id; of a quarantined one first only its text is shown, as data."""
        by = DecidedBy(asker.id, asker.name)
        if verb == "reject":
            self.decisions.decide(found, SuggestionStatus.REJECTED, by, rest)
            return sentence(f"{found.id} rejected; {found.to} is not offered it again.", "pollinate list")
        if rest not in ("", ANYWAY):
            said = "Nothing was changed: accept takes the id and no more."
            raise InputError(said, next_step=f"/triage pollinate accept {found.id}")
        if found.quarantine and found.is_waiting and not rest:
            return Answer(parts=(_part(found),), following=f"pollinate accept {found.id} {ANYWAY}")
        self.decisions.decide(found, SuggestionStatus.ACCEPTED, by, has_read=bool(rest))
        done = f"moved to {found.tier}" if found.moves_from else f"added to the {found.tier} tasks"
        return sentence(f"{found.id} accepted: {done} of {found.to}.", f"heartbeat run {found.to}")


def find_suggestion(name: str, known: list[Suggestion]) -> Suggestion:
    """Return the suggestion of an id, or of the end of one; raises InputError with the near ones."""
    meant = [one for one in known if one.id == name] or [one for one in known if one.id.endswith(f"-{name}")]
    if len(meant) == 1:
        return meant[0]
    waiting = [one.id for one in known if one.is_waiting]
    near = near_ones(name, waiting, cutoff=0.5) or waiting[:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "nothing waits"
    raise InputError(f"there is no suggestion {name[:60]!r}; {hint}" if name else f"name a suggestion; {hint}")


def list_suggestions(known: list[Suggestion]) -> Answer:
    """Return what waits, oldest first, and what was decided last, newest first."""
    if not known:
        return sentence("No suggestions yet.", "pollinate run", data=[])
    waiting = [one for one in known if one.is_waiting]
    decided = sorted((one for one in known if one.decided_at), key=lambda one: str(one.decided_at), reverse=True)
    past = tuple(Line(name=one.id, text=one.decision) for one in decided[:DECIDED_SHOWN])
    parts = [*map(_part, waiting), *([Part(title="Decided last", lines=past)] if past else [])]
    following = f"pollinate accept {waiting[0].id}" if waiting else "pollinate run"
    return Answer(parts=tuple(parts), following=following, data=[one.model_dump(mode="json") for one in known])


def _sent(sent: list[Suggestion]) -> Answer:
    if not sent:
        return sentence("Nothing new to suggest.", "pollinate list")
    held = sum(one.quarantine is not None for one in sent)
    aside = f" {held} quarantined, for a human to read." if held else ""
    head = sentence(f"{counted(len(sent) - held, 'suggestion')} sent.{aside}")
    return Answer(parts=(*head.parts, *map(_part, sent)), following=f"pollinate accept {sent[0].id}")


def _part(suggestion: Suggestion) -> Part:
    """Return what is suggested for whom, by whom and why; its line is quoted as it stands."""
    head = f"{suggestion.place}, from {suggestion.from_}"
    why = f"quarantined: {suggestion.quarantine}" if suggestion.quarantine else suggestion.reason
    return Part(lines=(Line(name=suggestion.id, text=head, more=(why,)),), quoted=suggestion.task)
