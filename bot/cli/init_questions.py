"""The five questions of `triage init`, how an answer becomes a value, and the triage.yml that they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import TypeAdapter, ValidationError

from bot.agent.git.git_repo import GitRepo
from bot.cli.output import wrapped
from bot.config.codebase_settings import CodebaseSettings
from bot.config.field_types import ApproverId, ChannelId, look_up
from bot.domain.heartbeats.session_state import SESSION_ID
from bot.errors import InputError, TriageError

Answers = Mapping[str, Any]

BACK: Final = "<"
"""Typed instead of an answer, it leads to the question before."""

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://|[^@/\s]{1,300}@[^/\s]{1,300}:")
_NOT_IN_IDS: Final = re.compile(r"[^a-z0-9_-]+")
_MENTIONS: Final = "mentions"
_EVERYBODY: Final = "everybody"

_HEADER: Final = """\
# Written by `triage init`; edit it as you like. triage.example.yml shows what else can be set, and `triage doctor` says
# what is wrong. Restart the bot after a change; for new channels, codebases and sessions `kill -HUP` is enough.
"""
_SEVERAL: Final = """
# Several repositories, each under a name that stands in citations (shop:src/x.py:3-9), instead of `codebase`:
# codebases:
#   shop: {path: ~/src/shop}
#   infra: {url: "git@git.example.com:acme/infra.git"}

# Several teams, instead of `ops_channel`, `watched_chats` and `approvers`; each session then says its `team`:
# teams:
#   payments: {ops_channel: C0PAYOPS, approvers: [S0PAY], codebases: [shop], channels: [{chat_id: C0PAY}]}
"""


@dataclass(frozen=True, slots=True)
class InitQuestion:
    """One thing to know; `take` turns the answer into its value beside the earlier ones, or raises ValueError.

    What it raises says what would be right. Without a `default` an answer is needed.
    """

    key: str
    asks: str
    take: Callable[[str, Answers], Any]
    default: str = ""


def ask_all(given: Mapping[str, str], read: Callable[[str], str] | None, say: Callable[[str], object]) -> Answers:
    """Return a value for every question: of what is given, else typed; without `read` the default.

    Raises:
        InputError: an answer is missing, or what is given cannot be used.
    """
    answers: dict[str, Any] = {}
    typed: dict[str, str] = {}
    place, asked = 0, list[int]()
    while place < len(QUESTIONS):
        question = QUESTIONS[place]
        if read is None or question.key in given:
            answers[question.key] = _usable(question, given.get(question.key, question.default), answers)
            place += 1
            continue
        default = typed.get(question.key, question.default)
        text = read(f"{question.asks}{f' [{default}]' if default else ''}: ").strip() or default
        if text == BACK:
            place = asked.pop() if asked else place
            continue
        try:
            answers[question.key] = question.take(text, answers)
        except ValueError as error:
            say(wrapped(str(error), lead="  "))
            continue
        typed[question.key] = text
        asked.append(place)
        place += 1
    return answers


def _usable(question: InitQuestion, text: str, answers: Answers) -> Any:
    option = f"--{question.key.replace('_', '-')}"
    if not text.strip():
        raise InputError(f"{option} is missing; nothing was written. `triage init --help` lists the options")
    try:
        return question.take(text.strip(), answers)
    except ValueError as error:
        raise InputError(f"{option}: {error}; nothing was written") from error


def config_text(answers: Answers) -> str:
    """Return the answers as a triage.yml with a comment above each key."""
    sessions = answers["sessions"]
    parts = [
        _part("Channels whose every message is read; elsewhere only mentions count.", watched_chats=answers["watch"]),
        _part("The private channel where drafts wait for a click on Approve.", ops_channel=answers["ops_channel"]),
        _part(
            "The git repository that answers come from: what is committed. Keep a checkout fresh (git pull).",
            **answers["codebase"],
        ),
        _part("Who may approve drafts: people (U…) and user groups (S…).", approvers=answers["approvers"])
        if answers["approvers"]
        else "# approvers: [U0123ALICE, S0123ONCALL]   # absent: everybody in the ops channel may approve\n",
        _part("Folders with heartbeats: each has a HEARTBEAT.md and an owner who is told.", sessions=sessions)
        if sessions
        else "# sessions: {shop: {cwd: ~/src/shop, owner: U0123ALICE}}   # folders with heartbeats, and who is told\n",
    ]
    return "\n".join([_HEADER, *parts]) + _SEVERAL


def _part(comment: str, **keys: object) -> str:
    return f"# {comment}\n{yaml.safe_dump(keys, sort_keys=False, allow_unicode=True, width=10_000)}"


def _take_id(kind: Any, text: str) -> str:
    try:
        return str(TypeAdapter(kind).validate_python(text))
    except ValidationError as error:
        raise ValueError(_reason(error)) from error


def _reason(error: ValidationError) -> str:
    return error.errors(include_input=False)[0]["msg"].removeprefix("Value error, ")


def _take_chats(text: str, _answers: Answers) -> list[dict[str, str]]:
    """Return the channels of `C0123HELP=help, C0123ENG`."""
    chats: dict[str, dict[str, str]] = {}
    for part in () if text == _MENTIONS else _words(text):
        chat_id, _, name = part.partition("=")
        if chat_id in chats:
            raise ValueError(f"{chat_id} is named twice")
        chats[chat_id] = {"chat_id": _take_id(ChannelId, chat_id), **({"name": name} if name else {})}
    return list(chats.values())


def _take_ops_channel(text: str, answers: Answers) -> str:
    channel = _take_id(ChannelId, text)
    if any(chat["chat_id"] == channel for chat in answers["watch"]):
        raise ValueError(f"{channel} is watched; drafts need a private channel where nobody asks")
    return channel


def _take_codebase(text: str, _answers: Answers) -> dict[str, Any]:
    """Return `codebase`, the path of a checkout, or `codebases` with an address under the repository's name."""
    if not _ADDRESS.match(text):
        path = look_up(Path(text), Path.cwd())
        try:
            GitRepo(path).head()
        except (TriageError, OSError) as error:
            raise ValueError(f"{path} is not a git checkout with a commit; give the path of one") from error
        return {"codebase": str(path)}
    try:
        CodebaseSettings.model_validate({"url": text})
    except ValidationError as error:
        raise ValueError(f"an address {_reason(error)}") from None  # the value may hold a password
    last = re.split(r"[/:]", text.rstrip("/"))[-1].removesuffix(".git")
    return {"codebases": {_id_of(last).lstrip("0123456789-_") or "code": {"url": text}}}


def _take_approvers(text: str, _answers: Answers) -> list[str]:
    """Return the approvers of `U0123ALICE, S0123ONCALL`; none for everybody in the ops channel."""
    return [] if text == _EVERYBODY else [_take_id(ApproverId, part) for part in _words(text)]


def _take_sessions(text: str, answers: Answers) -> dict[str, dict[str, str]]:
    """Return the one session of the checkout and who is told of it, for `yes` the first approver."""
    if text.lower() in ("no", "n"):
        return {}
    folder = answers["codebase"].get("codebase")
    if folder is None:
        raise ValueError(
            f"heartbeats need a checkout on this machine, and the codebase is an address; type no, or {BACK}"
        )
    is_yes = text.lower() in ("yes", "y")
    if is_yes and not answers["approvers"]:
        raise ValueError("nobody is told what they find; type the user (U…) or user group (S…) instead of yes")
    name = _id_of(Path(folder).name)
    owner = answers["approvers"][0] if is_yes else _take_id(ApproverId, text)
    return {name if SESSION_ID.fullmatch(name) else "code": {"cwd": folder, "owner": owner}}


def _id_of(name: str) -> str:
    return _NOT_IN_IDS.sub("-", name.lower()).strip("-_")[:40]


def _words(text: str) -> Iterable[str]:
    return filter(None, re.split(r"[,\s]+", text))


QUESTIONS: Final = (
    InitQuestion(
        "watch", "Channels to watch, as C0123HELP=help, C0123ENG (mentions: none of them)", _take_chats, _MENTIONS
    ),
    InitQuestion(
        "ops_channel", "Id of the private channel for drafts (at the end of the channel's details)", _take_ops_channel
    ),
    InitQuestion("codebase", "Code that answers come from: the path of a git checkout, or an address", _take_codebase),
    InitQuestion("approvers", "Who may approve, as U0123ALICE, S0123ONCALL", _take_approvers, _EVERYBODY),
    InitQuestion("sessions", "Heartbeats over that checkout: yes, no, or who is told (U…)", _take_sessions, "no"),
)
