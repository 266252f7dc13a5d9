"""What `triage init` wants to know, and how each answer becomes a value; the questions come last."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from bot.agent.git.git_repo import GitRepo
from bot.config.environment import wrong_token
from bot.config.field_types import ApproverId, ChannelId, look_up
from bot.domain.heartbeats.session_state import SESSION_ID
from bot.errors import TriageError

_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{8,200}")
_NO_ID: Final = re.compile(r"[^a-z0-9_-]+")
_LANGUAGE: Final = re.compile("[a-z]{2}")


def _fits(_value: Any, _answers: Mapping[str, Any]) -> None:
    """Find nothing wrong with an answer beside the earlier ones."""


@dataclass(frozen=True, slots=True)
class InitQuestion:
    """One thing to know; `take` turns the answer into its value, or raises ValueError saying what would be right.

    `check` raises ValueError where the value does not go with the earlier answers. With `after` it is asked only where
    that answer is not empty.
    """

    key: str
    asks: str
    take: Callable[[str], Any]
    default: str | None = None
    is_secret: bool = field(default=False, kw_only=True)
    check: Callable[[Any, Mapping[str, Any]], None] = field(default=_fits, kw_only=True)
    after: str = field(default="", kw_only=True)


def _codebase(text: str) -> Path:
    if not text:
        raise ValueError("give the path of a git checkout, such as ~/src/shop")
    path = look_up(Path(text), Path.cwd())
    try:
        GitRepo(path).head()
    except TriageError as error:
        raise ValueError(f"{path} is not a git checkout with a commit; give the path of one") from error
    return path


def _slack_id(kind: Any, text: str) -> str:
    try:
        return str(TypeAdapter(kind).validate_python(text))
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from error


def _watch(text: str) -> list[dict[str, str]]:
    """Return the channels of `C0123HELP=help, C0123ENG`."""
    chats: list[dict[str, str]] = []
    for part in filter(None, re.split(r"[,\s]+", text)):
        chat_id, _, name = part.partition("=")
        if any(chat["chat_id"] == chat_id for chat in chats):
            raise ValueError(f"{chat_id} is named twice")
        chats.append({"chat_id": _slack_id(ChannelId, chat_id), **({"name": name} if name else {})})
    return chats


def _watch_others(chats: Sequence[Mapping[str, str]], answers: Mapping[str, Any]) -> None:
    if any(chat["chat_id"] == answers["ops_channel"] for chat in chats):
        raise ValueError(f"{answers['ops_channel']} is the channel for drafts; watch those where people ask")


def _sessions(text: str) -> dict[str, Path]:
    """Return the folders of `~/src/shop, tools=~/src/tooling` by session id: the name of the folder, unless given."""
    sessions: dict[str, Path] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, folder = part.partition("=")
        path = look_up(Path((folder if equals else name).strip()), Path.cwd())
        session_id = name.strip() if equals else _NO_ID.sub("-", path.name.lower()).strip("-_")[:40]
        if not SESSION_ID.fullmatch(session_id):
            raise ValueError(f"{part!r} needs a name of small letters, digits, - or _ before it, as in shop=~/src/shop")
        if session_id in sessions:
            raise ValueError(f"there are two sessions {session_id!r}; name them, as in shop={path}")
        if path in sessions.values():
            raise ValueError(f"{path} is named twice; one session looks after a folder")
        if not path.is_dir():
            raise ValueError(f"{path} is not a folder; give the path of a checkout")
        sessions[session_id] = path
    return sessions


def _owners(text: str) -> dict[str, str]:
    """Return the owners of `U0123ANA`, or of `shop=U0123ANA, tools=S0123OPS`; under "" who owns the others."""
    owners: dict[str, str] = {}
    for part in filter(None, re.split(r"[,\s]+", text)):
        name, equals, owner = part.rpartition("=")
        if name in owners:
            raise ValueError(f"{name or 'every session'} gets two owners here; a user group (S…) tells several people")
        if equals and not name:
            raise ValueError(f"{part!r} needs the session's name before the =")
        owners[name] = _slack_id(ApproverId, owner)
    return owners


def _own_every_session(owners: Mapping[str, str], answers: Mapping[str, Any]) -> None:
    sessions = answers["sessions"]
    if strange := sorted(owners.keys() - sessions.keys() - {""}):
        raise ValueError(f"there is no session {strange[0]!r}; there are {', '.join(sessions)}")
    if "" not in owners and (nobodys := [name for name in sessions if name not in owners]):
        raise ValueError(
            f"nobody is told of {nobodys[0]}; give a user (U…) or user group (S…), or leave out its folder"
        )


def _approvers(text: str) -> list[str]:
    return [_slack_id(ApproverId, part) for part in filter(None, re.split(r"[,\s]+", text))]


def _language(text: str) -> str:
    if not _LANGUAGE.fullmatch(text):
        raise ValueError("must be two small letters, such as en")
    return text


def _token(name: str) -> Callable[[str], str]:
    def take(text: str) -> str:
        problem = wrong_token(name, text) if text else None
        if problem:
            raise ValueError(problem)
        return text

    return take


def _api_key(text: str) -> str:
    if text and not _KEY.fullmatch(text):
        raise ValueError("is not an API key (letters, digits, dashes); leave it empty to work without a model")
    return text


def _home(text: str) -> str:
    if not text:
        return ""
    if set(text) & set("'\"\\\n$"):
        raise ValueError("contains a quote, a $ or a backslash; choose a simpler path")
    return str(look_up(Path(text), Path.cwd()))


QUESTIONS: Final = (
    InitQuestion("codebase", "Path of the code that answers come from (a git checkout)", _codebase),
    InitQuestion(
        "ops_channel",
        "Id of the private channel for drafts (at the end of the channel's details)",
        lambda text: _slack_id(ChannelId, text),
    ),
    InitQuestion(
        "watch",
        "Channels to watch, as C0123HELP=help, C0123ENG (empty: mentions only)",
        _watch,
        "",
        check=_watch_others,
    ),
    InitQuestion("approvers", "Who may approve, as U0123ALICE, S0123ONCALL (empty: all in it)", _approvers, ""),
    InitQuestion("language", "The team's language", _language, "en"),
    InitQuestion(
        "sessions", "Folders with heartbeats, as ~/src/shop, tools=~/src/tooling (empty: no heartbeats)", _sessions, ""
    ),
    InitQuestion(
        "owner",
        "Who is told what they find, as U0123ANA, or shop=U0123ANA, tools=S0123OPS",
        _owners,
        "",
        check=_own_every_session,
        after="sessions",
    ),
    InitQuestion("SLACK_BOT_TOKEN", "Bot token, xoxb-… (empty: later)", _token("SLACK_BOT_TOKEN"), "", is_secret=True),
    InitQuestion("SLACK_APP_TOKEN", "App token, xapp-… (empty: later)", _token("SLACK_APP_TOKEN"), "", is_secret=True),
    InitQuestion("ANTHROPIC_API_KEY", "Anthropic API key (empty: no model, search only)", _api_key, "", is_secret=True),
    InitQuestion("TRIAGE_HOME", "Data directory (empty: ~/.triage)", _home, ""),
)
