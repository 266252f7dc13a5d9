"""`/triage pollinate …`: suggestions looked for, listed, accepted, rejected.

Approvers see and decide on all of them, an owner on those for their own sessions, nobody else on any. Reads the disk
and asks Slack nothing; the cards follow within seconds.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from slack_sdk.models.blocks import Block

from blocks.heartbeat_list import said_blocks
from blocks.suggestion import pollinate_usage, suggestion_list, unread_blocks
from bot.domain.suggestions import By, Suggestion
from bot.errors import InputError, StoreError
from bot.heartbeat.pollination import Pollination
from bot.heartbeat.suggestion_wording import accepted, ran, rejected
from handlers.suggestions import NOT_YOURS, SuggestionOffice

VERBS: Final = ("run", "list", "accept", "reject")
ANYWAY: Final = "anyway"


@dataclass(frozen=True, kw_only=True, slots=True)
class PollinateCommand:
    """Answers `/triage pollinate …`; a Command of handlers/commands."""

    office: SuggestionOffice
    pollination: Pollination

    def __call__(self, body: dict[str, Any]) -> list[Block]:
        """Return the answer, whatever was typed."""
        words = str(body.get("text") or "").split()[1:]
        verb, *arguments = words or ["list"]
        try:
            return self._answer(verb.lower(), arguments, body)
        except (InputError, StoreError) as error:
            return said_blocks(f"{error} See /triage pollinate list")

    def _answer(self, verb: str, arguments: Sequence[str], body: dict[str, Any]) -> list[Block]:
        if verb not in VERBS:
            near = difflib.get_close_matches(verb, VERBS, n=2)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            return pollinate_usage(None if verb == "help" else f"There is no /triage pollinate {verb[:40]}.{meant}")
        if verb == "list":
            return suggestion_list([one for one in self.office.store.all() if self._may(one, body)])
        if verb == "run":
            if not self.office.approvers.probably(*_who(body)):
                raise InputError("Only approvers may send suggestions.")
            return said_blocks(ran(self.pollination.run()))
        return self._decided(verb, arguments, body)

    def _decided(self, verb: str, arguments: Sequence[str], body: dict[str, Any]) -> list[Block]:
        desk = self.office.desk
        found = desk.find(arguments[0] if arguments else "")
        if not self._may(found, body):
            raise InputError(NOT_YOURS)
        by, rest = By(_who(body)[0], str(body.get("user_name") or "somebody")[:80]), list(arguments[1:])
        if verb == "reject":
            return said_blocks(rejected(desk.reject(found.id, by, " ".join(rest) or None)))
        if found.quarantine and found.is_waiting and rest != [ANYWAY]:
            return unread_blocks(found)
        return said_blocks(accepted(desk.accept(found.id, by, has_read=bool(found.quarantine))))

    def _may(self, suggestion: Suggestion, body: dict[str, Any]) -> bool:
        return self.office.may(*_who(body), suggestion, asks=False)


def _who(body: dict[str, Any]) -> tuple[str, str]:
    return str(body.get("user_id")), str(body.get("team_id"))
