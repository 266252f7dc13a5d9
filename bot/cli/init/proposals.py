"""What a triage.yml that is there already says, as answers to the questions of `triage init`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.cli.init.answers import approvers_text, chats_text, codebases_text, named_text
from bot.cli.init.config_text import Config, config_of
from bot.cli.init.interview import Texts
from bot.cli.init.questions import OF_ALL, OF_SESSIONS, OF_TEAM, InitQuestion
from bot.config.codebase_settings import CodebaseSettings
from bot.config.session_settings import SessionSettings
from bot.config.settings import Settings, load_settings
from bot.config.strict_yaml import load_strict
from bot.errors import ConfigError, InputError


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
        config = load_strict(path.read_text(encoding="utf-8"))
    except (ConfigError, OSError) as error:
        problems = "; ".join(error.problems) if isinstance(error, ConfigError) else str(error)
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
