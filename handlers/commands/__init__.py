"""`/triage`: one word chooses the command; an unknown one lists the near ones."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from slack_bolt import Ack
from slack_sdk.models.blocks import Block

from blocks.status import help_blocks

Body = dict[str, Any]
Command = Callable[[Body], list[Block]]


class Commands:
    """Answers `/triage <word> …` with an ephemeral message; `table` maps each word to its help line and function."""

    def __init__(self, table: dict[str, tuple[str, Command]]) -> None:
        self._table = {"help": ("this list", self._help), **table}

    def __call__(self, ack: Ack, body: Body) -> None:
        """Answer at once; every command here reads the disk and nothing else."""
        word = str(body.get("text") or "").strip().partition(" ")[0].lower() or "help"
        known = self._table.get(word)
        blocks = known[1](body) if known else self._list(unknown=word[:40])
        ack(response_type="ephemeral", text=f"/triage {word}", blocks=[block.to_dict() for block in blocks])

    def _help(self, _: Body) -> list[Block]:
        return self._list()

    def _list(self, *, unknown: str | None = None) -> list[Block]:
        """Return the list of commands, led by the nearest ones where the word is unknown."""
        near = difflib.get_close_matches(unknown, self._table, n=2) if unknown else []
        return help_blocks({name: what for name, (what, _) in self._table.items()}, unknown=unknown, near=near)
