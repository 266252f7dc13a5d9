"""From the answers of `triage init` to the text of triage.yml, and from a triage.yml that is there to answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill, indent
from typing import Any, Final

import yaml

from bot.cli.init.answers import Place, approvers_text, chats_text, codebases_text, named_text
from bot.cli.init.interview import Texts
from bot.cli.init.questions import OF_ALL, OF_SESSIONS, OF_TEAM, InitQuestion
from bot.config.codebase_settings import SHORT_FORM, CodebaseSettings
from bot.config.session_settings import SessionSettings
from bot.config.settings import Settings, load_settings, read_config
from bot.domain.tables import read_table
from bot.errors import ConfigError, InputError

Config = Mapping[str, Any]
_HEADER: Final = """\
# Written by `triage init`; edit it as you like. Everything else that can be set: triage.example.yml.
# `triage doctor` says what is wrong with it. Restart the bot after a change; for some, `kill -HUP` is enough.
"""
_COMMENTS: Final = read_table(__file__, "config_comments.yml", dict[str, str])
_BY_NAME: Final = ("codebases", "teams", "sessions")
"""What is in an order of its own: the first team hears what is said to nobody's."""

_COMMENT_COLUMNS: Final = 110
_INHERITED: Final = {"ops_channel": None, "approvers": None, "team_language": "en"}
"""What a team takes from the top of the file, and what holds where that says nothing."""


def config_of(answers: Config, base: Config) -> dict[str, Any]:
    """Return what the answers say as keys of triage.yml; of `base` counts what a team inherits and channels narrow."""
    teams = answers["team_names"]
    narrowed = _narrowed_chats(base)
    language = (
        {} if answers["language"] == "en" and "team_language" not in base else {"team_language": answers["language"]}
    )
    config = {**_code(answers["codebase"])}
    if not teams:
        config |= _present(ops_channel=answers["ops_channel"], watched_chats=_chats(answers["watch"], narrowed))
        config |= {} if answers["approvers"] is None else {"approvers": answers["approvers"]}
    config |= language
    if teams:
        top = {**_INHERITED, **{key: base[key] for key in _INHERITED if key in base and "teams" in base}, **language}
        config["teams"] = {name: _team(team, top, narrowed) for name, team in answers["teams"].items()}
    return {**config, **_present(sessions=_session_keys(answers))}


def _present(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}


def _code(codebases: Mapping[str, Place]) -> dict[str, Any]:
    if SHORT_FORM in codebases:
        return {"codebase": codebases[SHORT_FORM]["path"]}
    return {"codebases": {name: dict(place) for name, place in codebases.items()}}


def _team(answers: Config, top: Config, narrowed: Mapping[str, list[str]]) -> dict[str, Any]:
    own = {
        "ops_channel": answers["ops"],
        "approvers": answers["approvers"],
        "team_language": answers["language"],
    }
    picked = answers["codebases"]
    fits = {chat: ids for chat, ids in narrowed.items() if picked is None or set(ids) <= set(picked)}
    return {
        **{key: value for key, value in own.items() if value != top[key]},
        **_present(channels=_chats(answers["channels"], fits), codebases=picked),
    }


def _chats(chats: Iterable[Mapping[str, str]], narrowed: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    return [{**chat, **_present(codebases=narrowed.get(chat["chat_id"]))} for chat in chats]


def _narrowed_chats(base: Config) -> dict[str, list[str]]:
    """Return the codebases that a channel is about, by channel, where a file says so: the questions do not."""
    lists = [base.get("watched_chats"), *(team.get("channels") for team in (base.get("teams") or {}).values())]
    return {chat["chat_id"]: chat["codebases"] for chats in lists for chat in chats or () if chat.get("codebases")}


def _session_keys(answers: Config) -> dict[str, Any]:
    owners, teams = answers["owner"] or {}, answers["session_teams"] or {}
    said = {
        name: {"cwd": str(folder), "owner": owners.get(name, owners.get(""))}
        for name, folder in answers["sessions"].items()
    }
    own: dict[str, dict[str, Any]] = {**{name: {} for name in answers["kept"]}, **said}
    return {name: {**one, **_present(team=teams.get(name, teams.get("")))} for name, one in own.items()}


def patched(base: Config, old: Config, new: Config) -> dict[str, Any]:
    """Return `base` with what became of `old` when it became `new`; what neither speaks of stays.

    >>> patched({"a": 1, "b": {"x": 1, "y": 1}, "c": 1}, {"a": 1, "b": {"x": 1}}, {"b": {"x": 2}, "d": 3})
    {'b': {'x': 2, 'y': 1}, 'c': 1, 'd': 3}
    """
    result = dict(base)
    for key in {**old, **new}:
        before, after, there = old.get(key), new.get(key), base.get(key)
        if key not in new:
            result.pop(key, None)
        elif key in old and before == after:
            continue
        elif isinstance(before, Mapping) and isinstance(after, Mapping) and isinstance(there, Mapping):
            inner = patched(there, before, after)
            result[key] = {name: inner[name] for name in {**after, **inner}} if key in _BY_NAME else inner
        else:
            result[key] = after
    return result


def with_fitting_places(config: Config) -> dict[str, Any]:
    """Return a config whose codebases with a path keep nothing of the address they had before."""
    codebases = config.get("codebases") or {}
    fitting = {
        name: {key: value for key, value in one.items() if "path" not in one or key not in ("branch", "refresh")}
        for name, one in codebases.items()
    }
    return {**config, "codebases": fitting} if codebases else dict(config)


def rendered(config: Config) -> str:
    """Return a config as text, each part that `triage init` knows with a comment."""
    return "\n".join([_HEADER, *(_comment(key) + _part(key, value) for key, value in config.items())])


def _comment(key: str) -> str:
    words = _COMMENTS.get(key)
    return indent(fill(words, _COMMENT_COLUMNS, break_on_hyphens=False) + "\n", "# ") if words else ""


def _part(key: str, value: object) -> str:
    """Return one key of the top level, with what lies innermost on one line."""
    if not value or not isinstance(value, dict | list):
        return _dumped({key: value}, flow=False)
    text = _dumped(value, flow=None)
    return f"{key}: {text}" if text[0] in "{[" else f"{key}:\n{indent(text, '  ')}"


def _dumped(value: object, *, flow: bool | None) -> str:
    return yaml.dump(
        value, Dumper=_WithoutAliases, sort_keys=False, allow_unicode=True, default_flow_style=flow, width=10_000
    )


class _WithoutAliases(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature is yaml's
        return True


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposals:
    """A triage.yml as it stands, the answers it amounts to, and the keys these make; empty where there is none."""

    config: Config = field(default_factory=dict)
    answers: Texts = field(default_factory=Texts)
    spoken_of: Config = field(default_factory=dict)


def read_proposals(path: Path) -> Proposals:
    """Return what a triage.yml says.

    Raises:
        InputError: it cannot be read, or says something no answer can say.
    """
    try:
        settings = load_settings(path)
        config, _ = read_config(path)
    except ConfigError as error:
        problems = "; ".join(error.problems)
        raise InputError(
            f"{path} is there and cannot be used: {problems}. Mend it, or give another --folder. Nothing was written."
        ) from error
    try:
        kept = tuple(name for name, one in settings.sessions.items() if not _can_be_said(one))
        texts = Texts(of_all=_of_all(settings), of_team=_of_teams(settings), kept=kept)
        spoken_of = config_of(_values(texts), config)
    except ValueError as error:
        raise InputError(
            f"{path} is there and holds what no answer here can say ({error}); edit it, or give another --folder. "
            "Nothing was written."
        ) from error
    return Proposals(config=config, answers=texts, spoken_of=spoken_of)


def _of_all(settings: Settings) -> dict[str, str]:
    first = next(iter(settings.by_team().values()))
    sessions = {name: one for name, one in settings.sessions.items() if _can_be_said(one)}
    teams = {name: one.team for name, one in settings.sessions.items() if len(settings.teams) > 1}
    return {
        "codebase": codebases_text({name: _place(one) for name, one in settings.all_codebases.items()}),
        "team_names": ", ".join(settings.teams),
        "ops_channel": first.ops_channel,
        "watch": chats_text(first.watched_chats),
        "approvers": approvers_text(first.approvers),
        "language": settings.team_language,
        "sessions": named_text({name: one.cwd for name, one in sessions.items()}),
        "owner": named_text({name: one.owner for name, one in sessions.items()}),
        "session_teams": named_text(teams),
    }


def _can_be_said(session: SessionSettings) -> bool:
    """Whether a session has one owner and a folder that a list can hold; of any other only the team is asked for."""
    return isinstance(session.owner, str) and not set(str(session.cwd)) & set(",=\n")


def _place(codebase: CodebaseSettings) -> dict[str, str]:
    place = {"url": codebase.url} if codebase.url is not None else {"path": str(codebase.path)}
    text = next(iter(place.values()))
    if "," in text or text != text.strip() or not text.isprintable():
        raise ValueError(f"the place {text[:80]!r}")
    return place


def _of_teams(settings: Settings) -> dict[str, dict[str, str]]:
    return {
        name: {
            "ops": one.ops_channel,
            "approvers": approvers_text(one.approvers),
            "channels": chats_text(one.watched_chats),
            "codebases": ", ".join(settings.teams[name].codebases or ()),
            "language": one.team_language,
        }
        for name, one in settings.by_team().items()
        if settings.teams
    }


def _values(texts: Texts) -> dict[str, Any]:
    """Return the values of proposed answers, which need no check."""
    answers = {**_taken(OF_ALL, texts.of_all), **_taken(OF_SESSIONS, texts.of_all)}
    teams = {name: _taken(OF_TEAM, team) for name, team in texts.of_team.items()}
    return {**answers, "kept": texts.kept, "teams": teams}


def _taken(questions: tuple[InitQuestion, ...], texts: Mapping[str, str]) -> dict[str, Any]:
    return {question.key: question.take(texts.get(question.key, "")) for question in questions}
