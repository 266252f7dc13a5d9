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
from blocks.views.answers import answer_blocks, message_blocks, typed_blocks, without_tables
from bot.casework.approvers import Approvers
from bot.domain.answers import WORD_CHARS, Answer, help_on, unknown_command, unknown_verb
from bot.domain.command_specs import CommandLine, CommandSpec, Who, command_names, read_line, subcommands, typed_verb
from bot.domain.text.sanitize import storable
from bot.errors import Conflict, InputError, TriageError
from handlers.answers import TABLES, TableAnswers, respond_privately
from handlers.buttons.decision_handler import NAME_CHARS

log = logging.getLogger(__name__)

SHOWN_CHARS = 80

Body = dict[str, Any]

PATIENCE_S: Final = 1.0
"""After this the one who typed is told that it takes longer; Slack gives up after 3 s. Source:
https://docs.slack.dev/interactivity/implementing-slash-commands, which also limits a response_url to 5 uses in 30
minutes: an answer that comes later uses one, a promise that failed another."""

HELP_WORDS: Final = ("help", "-h", "--help")
"""After a command: what it is, instead of doing it."""

ONLY_APPROVERS: Final = "Only approvers may do that."
WHO_APPROVES: Final = "Who they are: /triage approve-list"
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


def reject_extra_words(entry: CommandSpec, given: Sequence[str]) -> None:
    """Refuse words that a command which changes something takes no notice of; `given` is what follows its path.

    Raises:
        InputError: there are more words than the manual names.
    """
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

    answer: Answer
    work: Callable[[], object]


Command = Callable[[TypedCommand], Answer | DeferredAnswer]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """An answer laid out for Slack, and what is done after it."""

    blocks: list[Block]
    work: Callable[[], object] | None = None


class CommandDispatcher:
    """Answers `/triage <word> …` with an ephemeral message; `table` maps the first word to its function.

    Which words there are, who may type them and how many may follow stands in bot/domain/command_specs.yml and
    is held to here. Guests and people of other workspaces are answered nothing else; sister workspaces of an Enterprise
    Grid count as ours.
    """

    def __init__(
        self,
        table: Mapping[str, Command],
        approvers: Approvers,
        *,
        patience_s: float = PATIENCE_S,
        tables: TableAnswers = TABLES,
    ) -> None:
        self._table, self._approvers = table, approvers
        self._patience_s, self._tables = patience_s, tables

    def __call__(self, ack: Ack, body: Body, respond: Respond) -> None:
        """Answer at once, or say that it takes longer and answer then; then keep what was promised."""
        answer_in_time(self.answer, TypedCommand.from_payload(body), ack, respond, self._patience_s, self._tables)

    def answer(self, typed: TypedCommand) -> Shown:
        """Return the answer; an error is one, too."""
        if not self._approvers.knows(*typed.who):
            return Shown(blocks=message_blocks(NO_MEMBER))
        try:
            found = self._answer(typed)
        except TriageError as error:
            return Shown(blocks=[*message_blocks(_refusal(error, typed)), *typed_blocks(typed.line.text)])
        if isinstance(found, DeferredAnswer):
            return Shown(blocks=answer_blocks(found.answer), work=found.work)
        return Shown(blocks=answer_blocks(found))

    def _answer(self, typed: TypedCommand) -> Answer | DeferredAnswer:
        line, word = typed.line, typed.line.word(0) or "help"
        if word == "help":
            about = line.words[1:]
            return help_on(about[1:] if [one.lower() for one in about[:1]] == ["triage"] else about)
        command = self._table.get(word)
        if command is None:
            return unknown_command(word)
        if line.word(1) in HELP_WORDS and _is_plain(typed, word):
            return help_on([word, *line.words[2:3]] if subcommands(word) else [word])
        entry, unknown = typed_verb(line)
        if unknown:
            return unknown_verb(line, unknown)
        reject_extra_words(entry, line.words[entry.words :])
        if entry.who is Who.APPROVERS:
            self._approvers.require(*typed.who, ONLY_APPROVERS, next_step=WHO_APPROVES)
        return command(typed)


def answer_in_time(
    answer_to: Callable[[TypedCommand], Shown],
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
    blocks = fit_message(answer.blocks)
    text = f"/triage {word}"
    if tables.wanted_for(blocks):
        acknowledged()  # Slack answers only what is sent to the response_url, so that a refusal is heard there
        tables.respond(respond, text, blocks)
    else:
        said: dict[str, Any] = {"text": text, "blocks": [block.to_dict() for block in without_tables(blocks)]}
        if not acknowledged(**said):
            respond_privately(respond, **said)
    if answer.work is not None:
        _keep(answer.work, respond)


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


def _keep(work: Callable[[], object], respond: Respond) -> None:
    try:
        work()
    except TriageError as error:
        log.warning("a promise was not kept: %s", error, extra={"action": "promise_broken"})
        respond_privately(respond, answer_text(f"That did not work: {error}"))
