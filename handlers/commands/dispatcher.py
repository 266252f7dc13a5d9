"""`/triage`: runs the command that the first word names; for an unknown word it lists the near ones and does nothing.

Who typed what, and where, is read from what Slack sends as hostile.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt import Ack, Respond
from slack_sdk.models.blocks import Block

from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import answer_text
from blocks.text.tables import without_tables
from blocks.views.answers import message_blocks
from blocks.views.help_view import WORD_CHARS, entry_blocks, help_blocks, typed_blocks, unknown_text
from bot.domain.commands.command_line import CommandLine, read_line
from bot.domain.commands.command_specs import command_names, manual, near_commands, subcommands
from bot.domain.text.did_you_mean import near_ones
from bot.domain.text.sanitize import storable
from bot.errors import Conflict, InputError, TriageError
from handlers.answers import TABLES, TableAnswers, respond_privately
from handlers.clicks import NAME_CHARS

log = logging.getLogger(__name__)

SHOWN_CHARS = 80

Body = dict[str, Any]

PATIENCE_S: Final = 1.0
"""After this the one who typed is told that it takes longer; Slack gives up after 3 s. Source:
https://docs.slack.dev/interactivity/implementing-slash-commands, which also limits a response_url to 5 uses in 30
minutes: an answer that comes later uses one, a promise that failed another."""

HELP_WORDS: Final = ("help", "-h", "--help")
"""After a command: what it is, instead of doing it."""

NO_MEMBER: Final = "Only full members of this workspace can use /triage: no guests, nobody of another workspace."


@dataclass(frozen=True, kw_only=True, slots=True)
class TypedCommand:
    """A typed command; `channel_id` is where, which may be a channel the bot is not in."""

    line: CommandLine
    user_id: str
    team_id: str
    user_name: str
    channel_id: str

    @classmethod
    def from_payload(cls, body: dict[str, Any]) -> TypedCommand:
        """Return what a slash command's body says."""
        user = _text(body, "user_id")
        return cls(
            line=read_line(storable(_text(body, "text"))),
            user_id=user,
            team_id=_text(body, "team_id") or _text(body, "enterprise_id"),
            user_name=storable(_text(body, "user_name") or user or "somebody")[:NAME_CHARS],
            channel_id=_text(body, "channel_id"),
        )

    @property
    def who(self) -> tuple[str, str]:
        """The user and their team."""
        return self.user_id, self.team_id


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    return value if isinstance(value, str) else ""


def reject_extra_words(path: str, given: Sequence[str]) -> None:
    """Refuse words that a command which changes something takes no notice of; `given` is what follows its path.

    Raises:
        InputError: there are more words than the manual names.

    >>> reject_extra_words("heartbeat off", ["shop"])
    """
    entry = manual()[path]
    if entry.extra_words is None or len(given) <= entry.extra_words:
        return
    extra = " ".join(given[entry.extra_words :])[:SHOWN_CHARS]
    raise InputError(
        f"Nothing was changed: this command does not accept “{extra}”.",
        next_step=f"Usage: /triage {entry.form}. More: /triage help {entry.path}",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class DeferredAnswer:
    """An answer for now, and what is done after it: Slack waits 3 s for the answer, and may itself take longer.

    `work` returns nothing; what it raises the one who typed is told.
    """

    blocks: list[Block]
    work: Callable[[], object]


Answer = list[Block] | DeferredAnswer
Command = Callable[[TypedCommand], Answer]


class CommandDispatcher:
    """Answers `/triage <word> …` with an ephemeral message; `table` maps the first word to its function.

    What it says of a command stands in bot/domain/commands/command_specs.py. Guests and people of other workspaces are
    answered nothing else; `knows` says of a user and a team whether they are a full member, sister workspaces of an
    Enterprise Grid included.
    """

    def __init__(
        self,
        table: Mapping[str, Command],
        *,
        team_id: str,
        knows: Callable[[str, str], bool] | None = None,
        patience_s: float = PATIENCE_S,
        tables: TableAnswers = TABLES,
    ) -> None:
        self._table: dict[str, Command] = {"help": self._help, **table}
        self._patience_s, self._tables = patience_s, tables
        self._knows = knows or (lambda _, team: team == team_id)

    def __call__(self, ack: Ack, body: Body, respond: Respond) -> None:
        """Answer at once, or say that it takes longer and answer then; then keep what was promised."""
        answer_in_time(self.answer, TypedCommand.from_payload(body), ack, respond, self._patience_s, self._tables)

    def answer(self, typed: TypedCommand) -> Answer:
        """Return the answer; an error is one, too."""
        if not self._knows(*typed.who):
            return message_blocks(NO_MEMBER)
        word = typed.line.word(0) or "help"
        command = self._table.get(word)
        if command is None:
            return help_blocks(unknown_text(word, near_commands(word)))
        try:
            _refuse_more(typed, word)
            return self._help_on(typed, word) or command(typed)
        except TriageError as error:
            return [*message_blocks(_refusal(error, typed)), *typed_blocks(typed.line.text)]

    def _help_on(self, typed: TypedCommand, word: str) -> list[Block] | None:
        """Return help where it was asked for at the end: `pause help`, `tiers help`, `tiers help add`."""
        if word == "help" or typed.line.word(1) not in HELP_WORDS:
            return None
        return _about([word, *([typed.line.word(2)] if subcommands(word) else [])]) if _is_plain(typed, word) else None

    def _help(self, typed: TypedCommand) -> list[Block]:
        about = [word.lower() for word in typed.line.words[1:]]
        return _about(about[1:] if about[:1] == ["triage"] else about)


def answer_in_time(
    answer_to: Command,
    typed: TypedCommand,
    ack: Ack,
    respond: Respond,
    patience_s: float,
    tables: TableAnswers = TABLES,
) -> None:
    """Answer at once, or say that it takes longer and answer then; then keep what was promised."""
    word = answer_text(typed.line.word(0)[:WORD_CHARS]) or "help"
    acknowledged = _AnswerOnce(lambda **said: ack(response_type="ephemeral", **said) if said else ack())
    looking = threading.Timer(patience_s, acknowledged, kwargs={"text": f"Working … (/triage {word})"})
    looking.daemon = True
    looking.start()
    try:
        answer = answer_to(typed)
    finally:
        looking.cancel()
    blocks = fit_message(answer.blocks if isinstance(answer, DeferredAnswer) else answer)
    text = f"/triage {word}"
    if tables.wanted_for(blocks):
        acknowledged()  # Slack answers only what is sent to the response_url, so that a refusal is heard there
        tables.respond(respond, text, blocks)
    else:
        said: dict[str, Any] = {"text": text, "blocks": [block.to_dict() for block in without_tables(blocks)]}
        if not acknowledged(**said):
            respond_privately(respond, **said)
    if isinstance(answer, DeferredAnswer):
        _keep(answer, respond)


class _AnswerOnce:
    """Says one thing, the first; True to the caller whose it was. Timer and listener may come at the same moment."""

    def __init__(self, say: Callable[..., object]) -> None:
        self._say, self._lock, self._said = say, threading.Lock(), False

    def __call__(self, **said: Any) -> bool:
        with self._lock:
            if self._said:
                return False
            self._say(**said)
            self._said = True
            return True


def _about(words: list[str]) -> list[Block]:
    """Return the help on a command, a subcommand, or what may have been meant."""
    if not words or not words[0]:
        return help_blocks()
    command, verb = words[0], next((word for word in words[1:] if word), "")
    if command not in manual():
        return help_blocks(unknown_text(command, [f"help {path}" for path in near_commands(command)]))
    for word in reversed(words[1:]):  # `help tiers shop add` and `help tiers add`
        if (found := manual().get(f"{command} {word}")) is not None:
            return entry_blocks(found)
    if verb and subcommands(command):
        near = [f"help {command} {one}" for one in near_ones(verb, command_names(command))]
        return entry_blocks(manual()[command], unknown_text(verb, near, after=f"{command} …") if near else "")
    return entry_blocks(manual()[command])


def _refusal(error: TriageError, typed: TypedCommand) -> str:
    """Return an error as a sentence that ends with what to type next; a conflict begins with somebody's name."""
    said = str(error)
    sentence = said if isinstance(error, Conflict) else f"{said[:1].upper()}{said[1:]}"
    if isinstance(error, InputError) and error.next_step:
        return sentence
    word = typed.line.word(0)
    path = next((f"{word} {one}" for one in command_names(word) if one in typed.line.words[1:3]), word)
    end = "" if sentence.endswith(("?", ".")) else "."
    return f"{sentence}{end} More: /triage help {path}"


def _is_plain(typed: TypedCommand, word: str) -> bool:
    """Whether `help` is no part of what is said: `investigate help …` is a question."""
    return word != "investigate" or len(typed.line.words) == 2


def _refuse_more(typed: TypedCommand, word: str) -> None:
    """Refuse what changes something and takes no more words: `pause shop` is not `pause`."""
    more = typed.line.words[1:]
    if word not in ("pause", "resume") or not more or typed.line.word(1) == "help":
        return
    session = f"/triage heartbeat {'off' if word == 'pause' else 'on'} {more[0][:WORD_CHARS]}"
    raise InputError(
        f"/triage {word} is for all of triage and takes no more words; nothing was changed.",
        next_step=f"For one session: {session}",
    )


def _keep(promise: DeferredAnswer, respond: Respond) -> None:
    try:
        promise.work()
    except TriageError as error:
        log.warning("a promise was not kept: %s", error, extra={"action": "promise_broken"})
        respond_privately(respond, answer_text(f"That did not work: {error}"))
