"""`/triage`: one word chooses the command; an unknown one lists the near ones."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt import Ack, Respond
from slack_sdk.models.blocks import Block

from blocks.command_help import help_blocks, word_blocks
from blocks.heartbeat_list import said_blocks
from bot.errors import ConfigError, InputError, StoreError, TriageError
from handlers.transport import translated

log = logging.getLogger(__name__)

Body = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Promise:
    """An answer for now, and what is done after it: Slack waits 3 s for the answer, and may itself take longer.

    `work` returns nothing; what it raises the one who typed is told.
    """

    blocks: list[Block]
    work: Callable[[], object]


Command = Callable[[Body], list[Block] | Promise]


class Commands:
    """Answers `/triage <word> …` with an ephemeral message; `table` maps each word to its help line and function."""

    def __init__(self, table: dict[str, tuple[str, Command]]) -> None:
        self._table: dict[str, tuple[str, Command]] = {
            "help": ("this list; `help open` says more", self._help),
            **table,
        }

    def __call__(self, ack: Ack, body: Body, respond: Respond) -> None:
        """Answer at once, from the disk and nothing else; then keep what was promised."""
        word = str(body.get("text") or "").strip().partition(" ")[0].lower() or "help"
        answer = self._answer(word, body)
        blocks = answer.blocks if isinstance(answer, Promise) else answer
        ack(response_type="ephemeral", text=f"/triage {word}", blocks=[block.to_dict() for block in blocks])
        if isinstance(answer, Promise):
            self._keep(answer, respond)

    def _answer(self, word: str, body: Body) -> list[Block] | Promise:
        known = self._table.get(word)
        if known is None:
            return self._list(unknown=word[:40])
        try:
            return known[1](body)
        except (ConfigError, InputError, StoreError) as error:
            return said_blocks(str(error))

    def _keep(self, promise: Promise, respond: Respond) -> None:
        try:
            promise.work()
        except TriageError as error:
            log.warning("a promise was not kept: %s", error, extra={"action": "promise_broken"})
            with translated("answer you"):
                respond(text=f"That did not work: {error}", response_type="ephemeral", replace_original=False)

    def _help(self, body: Body) -> list[Block]:
        about = str(body.get("text") or "").split()[1:2]
        if not about:
            return self._list()
        word = about[0].lower().removeprefix("/triage")
        known = self._table.get(word)
        return word_blocks(word, known[0]) if known else self._list(unknown=word[:40])

    def _list(self, *, unknown: str | None = None) -> list[Block]:
        """Return the list of commands, led by the nearest ones where the word is unknown."""
        near = difflib.get_close_matches(unknown, self._table, n=2) if unknown else []
        return help_blocks({name: what for name, (what, _) in self._table.items()}, unknown=unknown, near=near)
