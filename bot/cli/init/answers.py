"""How an answer of `triage init` becomes a value, and how a value reads as an answer.

Each `take_…` raises ValueError saying what would be right; `…_text` is its opposite. Nothing here reads a checkout or
asks a remote: that is done by the checks in questions.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from bot.config.codebase_settings import SHORT_FORM, CodebaseId, CodebaseSettings
from bot.config.environment import wrong_token
from bot.config.field_types import ApproverId, ChannelId, look_up
from bot.config.team_settings import WatchedChat, check_team_id
from bot.domain.heartbeats.session_state import SESSION_ID

Place = Mapping[str, str]
"""Where a codebase is: {"path": …} or {"url": …}."""

NOBODY: Final = "nobody"
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{8,200}")
_NO_ID: Final = re.compile(r"[^a-z0-9_-]+")
_LANGUAGE: Final = re.compile("[a-z]{2}")
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://|[^@/\s]{1,300}@[^/\s]{1,300}:")
_ID: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_SEVERAL: Final = "in a list each needs a name of small letters, such as shop=~/src/shop, infra=git@host:acme/infra.git"


def take_codebases(text: str) -> dict[str, Place]:
    """Return the places of `shop=~/src/shop, git@host:acme/infra.git` by id; of one path alone under SHORT_FORM."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ValueError(
            "give the path of a git checkout, such as ~/src/shop, or an address, such as git@host:acme/shop.git"
        )
    named = [_named_place(part) for part in parts]
    if len(named) == 1 and not named[0][0] and "path" in named[0][1]:
        return {SHORT_FORM: named[0][1]}
    found: dict[str, Place] = {}
    for name, place in named:
        codebase = name or _derived_id(place)
        if not _ID.fullmatch(codebase):
            raise ValueError(f"no name can be made of {next(iter(place.values()))!r}; {_SEVERAL}")
        if codebase in found:
            raise ValueError(f"there are two codebases {codebase!r}; {_SEVERAL}")
        found[codebase] = place
    return found


def _named_place(part: str) -> tuple[str, Place]:
    name, equals, place = part.partition("=")
    if not (equals and _ID.fullmatch(name.strip())):
        name, place = "", part
    return name.strip(), _place(place.strip())


def _place(text: str) -> Place:
    if not _ADDRESS.match(text):
        return {"path": str(look_up(Path(text), Path.cwd()))}
    try:
        CodebaseSettings.model_validate({"url": text})
    except ValidationError as error:
        raise ValueError(f"an address {_reason(error)}") from None  # the value may hold a password
    return {"url": text}


def _derived_id(place: Place) -> str:
    last = re.split(r"[/:]", next(iter(place.values())).rstrip("/"))[-1].removesuffix(".git")
    return _NO_ID.sub("-", last.lower()).strip("-_").lstrip("0123456789-_")[:40]


def codebases_text(codebases: Mapping[str, Place]) -> str:
    """Return codebases as `take_codebases` reads them."""
    return ", ".join(f"{name}={place}" if name else place for name, place in _places(codebases))


def _places(codebases: Mapping[str, Place]) -> Iterable[tuple[str, str]]:
    return ((name, next(iter(place.values()))) for name, place in codebases.items())


def take_id(kind: Any) -> Callable[[str], str]:
    """Return what takes one id of a kind of field_types."""

    def take(text: str) -> str:
        try:
            return str(TypeAdapter(kind).validate_python(text))
        except ValidationError as error:
            raise ValueError(_reason(error)) from error

    return take


def _reason(error: ValidationError) -> str:
    return error.errors(include_input=False)[0]["msg"].removeprefix("Value error, ")


def take_team_names(text: str) -> list[str]:
    """Return the teams of `payments, platform`; none for one team without a name."""
    names = [check_team_id(name) for name in _words(text)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice} is named twice")
    return names


def take_chats(text: str) -> list[dict[str, str]]:
    """Return the channels of `C0123HELP=help, C0123ENG`."""
    chats: list[dict[str, str]] = []
    for part in _words(text):
        chat_id, _, name = part.partition("=")
        if any(chat["chat_id"] == chat_id for chat in chats):
            raise ValueError(f"{chat_id} is named twice")
        chats.append({"chat_id": take_id(ChannelId)(chat_id), **({"name": name} if name else {})})
    return chats


def chats_text(chats: Iterable[WatchedChat]) -> str:
    """Return channels as `take_chats` reads them."""
    return ", ".join(f"{chat.chat_id}={chat.name}" if chat.name else chat.chat_id for chat in chats)


def take_approvers(text: str) -> list[str] | None:
    """Return the approvers of `U0123ALICE, S0123ONCALL`; None for everybody in the ops channel."""
    if text == NOBODY:
        return []
    return [take_id(ApproverId)(part) for part in _words(text)] or None


def approvers_text(approvers: Iterable[str] | None) -> str:
    """Return approvers as `take_approvers` reads them."""
    return "" if approvers is None else ", ".join(approvers) or NOBODY


def take_picked(text: str) -> list[str] | None:
    """Return the ids of `shop, infra`; None for all codebases."""
    return [take_id(CodebaseId)(name) for name in dict.fromkeys(_words(text))] or None


def take_language(text: str) -> str:
    """Return a language's two letters."""
    if not _LANGUAGE.fullmatch(text):
        raise ValueError("must be two small letters, such as en")
    return text


def take_sessions(text: str) -> dict[str, Path]:
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
        sessions[session_id] = path
    return sessions


def take_by_session(take: Callable[[str], str]) -> Callable[[str], dict[str, str]]:
    """Return what takes a value for each session, as `shop=X, tools=Y`; `X` alone, under "", is for all others."""

    def take_all(text: str) -> dict[str, str]:
        values: dict[str, str] = {}
        for part in _words(text):
            name, equals, value = part.rpartition("=")
            if name in values:
                raise ValueError(f"{name or 'every session'} is named twice here; give it one")
            if equals and not name:
                raise ValueError(f"{part!r} needs the session's name before the =")
            values[name] = take(value)
        return values

    return take_all


def named_text(values: Mapping[str, object]) -> str:
    """Return values by name as `shop=X, tools=Y`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def take_token(name: str) -> Callable[[str], str]:
    """Return what takes SLACK_BOT_TOKEN or SLACK_APP_TOKEN, or nothing."""

    def take(text: str) -> str:
        if problem := wrong_token(name, text) if text else None:
            raise ValueError(problem)
        return text

    return take


def take_api_key(text: str) -> str:
    """Return a key of Anthropic's, or nothing."""
    if text and not _KEY.fullmatch(text):
        raise ValueError("is not an API key (letters, digits, dashes); leave it empty to work without a model")
    return text


def take_home(text: str) -> str:
    """Return the path of a data directory, or nothing."""
    if set(text) & set("'\"\\\n$"):
        raise ValueError("contains a quote, a $ or a backslash; choose a simpler path")
    return str(look_up(Path(text), Path.cwd())) if text else ""


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", text) if word]
