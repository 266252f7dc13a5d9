"""The part of triage.yml called `sessions`: which workspace folders are watched, for whom.

A session's own `heartbeat` block goes over the shared one key by key, inside blocks too; a list replaces a list.
Values only; bot/config/settings.py reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from bot.config.field_types import ApproverId, PerhapsFolder, SettingsBlock, look_up
from bot.config.heartbeat_settings import BeatSettings, DeliverSettings
from bot.config.strict_yaml import blocks_in, merged_blocks
from bot.config.written_keys import Problem
from bot.domain.heartbeats.session_state import check_session_id
from bot.errors import InputError


def _session_id(value: str) -> str:
    try:
        return check_session_id(value)
    except InputError as error:
        raise ValueError(str(error)) from error


SessionId = Annotated[str, AfterValidator(_session_id)]


def _owner(value: object) -> object:
    """Return the owner as it is checked: a rota of earlier versions, whose keys are removed or stored, is nobody."""
    return None if isinstance(value, Mapping) and (not value or "rota" in value) else value


class SessionSettings(SettingsBlock):
    """One watched workspace folder."""

    name: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    """What people read; absent: the id."""
    cwd: PerhapsFolder
    """The checkout that is looked after; no two sessions share one. Its HEARTBEAT.md is made when missing."""
    codebase: str | None = None
    """Instead of `cwd`: the checkout of this one of `codebases`, which must have a `path`."""
    owner: Annotated[ApproverId | None, BeforeValidator(_owner)] = None
    """Who is told: a user or a user group; absent: `deliver` must be `explicit` or `none`."""
    team: str | None = None
    """Whose it is; needed with several `teams`."""
    master: bool = False
    """Whether it looks after the other sessions' playbooks; one may."""
    heartbeat: BeatSettings = BeatSettings()
    """This session's own values for any key of `heartbeat`. An absent key inherits, a list replaces a list, null and ""
    are values.
    """


def inherit(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config whose sessions hold the shared `heartbeat` block wherever they say nothing of their own.

    That block, in turn, holds what `pages` says: of the session's team, whose blocks inherited before.

    >>> shared = {"heartbeat": {"every": "1h"}, "pages": {"then": "C1"}}
    >>> inherit({**shared, "sessions": {"a": {"heartbeat": {"model": "m"}}}})["sessions"]
    {'a': {'heartbeat': {'then': 'C1', 'every': '1h', 'model': 'm'}}}
    """
    own, teams, checkouts = config.get("heartbeat"), blocks_in(config.get("teams")), _checkouts(config)
    sessions = config.get("sessions")
    whole = {**config, "heartbeat": _over(_rings(config), own)}
    if not isinstance(sessions, Mapping):
        return whole
    first = next(iter(teams), "")
    for name, session in sessions.items():
        if isinstance(session, Mapping):
            shared = _over(_rings(teams.get(str(session.get("team") or first), config)), own)
            placed = _placed(session, checkouts)
            sessions = {**sessions, name: {**placed, "heartbeat": _over(shared, session.get("heartbeat"))}}
    return {**whole, "sessions": sessions}


def _rings(team: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a team's `pages` says of beats, too."""
    pages = team.get("pages")
    return {key: pages[key] for key in ("again_after", "then") if key in pages} if isinstance(pages, Mapping) else {}


def _over(shared: Any, own: Any) -> Any:
    """Return a block over the shared one; what is no block stays as it is, to be refused."""
    if own is None or not isinstance(shared, Mapping):
        return shared
    return merged_blocks(shared, own) if isinstance(own, Mapping) else own


def across(config: Mapping[str, Any], base: Path) -> Iterator[Problem]:
    """Yield what is wrong between the sessions of a raw config, for each alone may be right."""
    masters: dict[str, str] = {}
    folders: dict[Path, str] = {}
    for name, session in blocks_in(config.get("sessions")).items():
        if session.get("master") is True and (first := masters.setdefault(str(session.get("team")), name)) != name:
            says = f"only one session of a team may be the master, and {first} is"
            yield Problem(("sessions", name, "master"), says)
        checkouts = _checkouts(config)
        if problem := _wrong_codebase(session, checkouts):
            yield Problem(("sessions", name, "codebase"), problem)
        folder = _folder(_placed(session, checkouts).get("cwd"), base)
        if folder is not None and folders.setdefault(folder, name) != name:
            says = f"is {folders[folder]}'s too; two sessions cannot share one HEARTBEAT.md"
            yield Problem(("sessions", name, "cwd"), says)


def unreachable(name: str, deliver: DeliverSettings, *, has_telegram: bool) -> str | None:
    """Return why the alerts of the session `name` have no way to go, and what to do; None where they have one."""
    if has_telegram or deliver.mode != "explicit" or deliver.channel != "telegram":
        return None
    return (
        "its alerts go to Telegram, and TELEGRAM_BOT_TOKEN is not set. Put it into .env and start triage again, or "
        f"change sessions.{name}.heartbeat.deliver in triage.yml"
    )


def _checkouts(config: Mapping[str, Any]) -> dict[str, object]:
    """Return the folder of each codebase by its id, None where triage clones it."""
    return {name: one.get("path") for name, one in blocks_in(config.get("codebases")).items()}


def _placed(session: Any, checkouts: Mapping[str, object]) -> Any:
    """Return a session with the folder of the codebase it names."""
    if not isinstance(session, Mapping) or "cwd" in session:
        return session
    folder = checkouts.get(str(session.get("codebase")))
    return session if folder is None else {**session, "cwd": folder}


def _wrong_codebase(session: Mapping[str, Any], checkouts: Mapping[str, object]) -> str | None:
    """Return what is wrong with the codebase a session names; None where nothing is, or it names none."""
    name = session.get("codebase")
    if name is None:
        return None
    if "cwd" in session:
        return "stands beside `cwd`; leave one of them out"
    if not isinstance(name, str):
        return None  # which is refused as what it is
    if name not in checkouts:
        return f"there is no codebase {str(name)[:60]!r}; one of {', '.join(checkouts)}"
    if checkouts[name] is None:
        return f"triage's own clone of {name} has no files to run checks on; give `cwd`, a checkout on this machine"
    return None


def _folder(given: object, base: Path) -> Path | None:
    try:
        return look_up(Path(given), base) if isinstance(given, str) and given.strip() else None
    except ValueError:
        return None
