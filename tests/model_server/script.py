"""What a script says: for each role, lists of turns; in each turn what the model says and how the wire misbehaves.

A conversation belongs to the role whose `match` stands earliest in the system prompt, and plays the first of the role's
lists whose `when` is found in its first message. When a list is used up its last turn repeats.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(_Block):
    """One tool call; `cut` sends only that many characters of its arguments and no end of the block."""

    name: str
    input: Any = {}
    """The arguments; a whole model sends an object."""
    cut: int | None = None


class Turn(_Block):
    """One reply. Texts and inputs may hold `${…}` (templates.py); `answer` is sent as a JSON text;
    beside calls, only to whoever allows no tools. Whoever forces a tool gets only its calls."""

    thinking: str = ""
    text: str = ""
    blanks: tuple[str, ...] = ()
    """Texts of nothing or white space before the rest, as the API itself sends them at times."""
    answer: dict[str, Any] | None = None
    calls: tuple[Call, ...] = ()
    stop: str | None = "auto"
    """The stop reason; `auto`: tool_use if there are calls, else end_turn; null: a terminator that names none."""
    usage: dict[str, int] = {}
    """Overrides of what the server counts: input_tokens, output_tokens, cache_read_input_tokens, …"""
    chunk_chars: int = 24
    drip_ms: float = 0
    stall_s: float = 0
    """Silence in the middle of the reply."""
    ping_ms: float = 0
    """During the silence send a ping each so many milliseconds: the socket lives, the model does not."""
    after_chunks: int = 1
    """How many content chunks go out before `stall_s`, `cut` or `error` strikes."""
    holds: bool = False
    """After `after_chunks` chunks repeat the next one, so that nobody takes it for silence, until `released` is set."""
    silent_start_s: float = 0
    """Silence before the status line."""
    cut: Literal["end", "tcp"] | None = None
    """`end`: the stream ends in order but without message_stop; `tcp`: the connection is reset."""
    error: str | None = None
    """The type of an `error` event in the middle of the stream, such as overloaded_error."""
    page: bool = False
    """Answer with a web page, as a proxy or a wrong address does."""
    status: int = 200
    message: str = "scripted failure"
    retry_after: str | None = None

    @property
    def fails(self) -> bool:
        """Whether a client is expected to ask again after this turn."""
        is_cut = self.cut or any(call.cut is not None for call in self.calls)
        return self.status != 200 or bool(is_cut or self.error or self.stall_s or self.silent_start_s)


class Part(_Block):
    """One list of turns, for conversations whose first message matches `when`."""

    when: str = ""
    turns: tuple[Turn, ...] = Field(min_length=1)


class Role(_Block):
    """The parts one kind of conversation may play; `match` is a regex for the system prompt, else the role's name."""

    match: str | None = None
    parts: tuple[Part, ...] = Field(min_length=1)


class Script(_Block):
    """Every role of one script."""

    roles: dict[str, Role]

    def part(self, system: str, first: str) -> tuple[str, int, Part]:
        """Return the role's name, the part's number and the part for a conversation.

        Raises:
            LookupError: no role or no part matches.
        """
        places = {
            name: found.start()
            for name, role in self.roles.items()
            if (found := re.search(rf"(?i)\b{name}" if role.match is None else role.match, system))
        }
        if not places:
            raise LookupError(f"no role of {sorted(self.roles)} matches the system prompt")
        name = min(places, key=lambda role: places[role])
        for number, part in enumerate(self.roles[name].parts):
            if re.search(part.when, first):
                return name, number, part
        raise LookupError(f"no part of role {name} matches the first message")


def load_script(path: Path) -> Script:
    """Return the script in a YAML file."""
    return Script.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def single(*turns: Turn) -> Script:
    """Return a script that plays these turns whoever asks."""
    return Script(roles={"any": Role(match="", parts=(Part(turns=turns),))})
