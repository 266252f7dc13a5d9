"""What `triage init` wants to know: of the bot, of each team, of the secrets; and which answers do not go together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bot.adapters.git.clones import Clone, GitNetwork
from bot.agent.git.git_repo import GitRepo
from bot.cli.init.answers import (
    NOBODY,
    Place,
    take_api_key,
    take_approvers,
    take_by_session,
    take_chats,
    take_codebases,
    take_home,
    take_id,
    take_language,
    take_picked,
    take_sessions,
    take_team_names,
    take_token,
)
from bot.config.field_types import ApproverId, ChannelId
from bot.config.team_settings import across_teams, check_team_id
from bot.errors import ProviderError, TriageError

Answers = Mapping[str, Any]
REMOTE_S: Final = 20.0
"""How long a remote may take to answer."""

_APPROVERS: Final = f"ho may approve, as U0123ALICE, S0123ONCALL (empty: all in it; or {NOBODY})"
_SAY_IT_OF_EACH: Final = "with several teams say it of each, as in --team 'payments ops=C0PAYOPS channels=C0PAY'"


def _fits(_value: Any, _answers: Answers) -> None:
    """Find nothing wrong with an answer beside the earlier ones."""


def _always(_answers: Answers) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class InitQuestion:
    """One thing to know; `take` turns the answer into its value, or raises ValueError saying what would be right.

    `check` raises ValueError where the value does not go with the earlier answers or with the world. It is asked only
    `when` the earlier answers leave it open.
    """

    key: str
    asks: str
    take: Callable[[str], Any]
    default: str | None = None
    is_secret: bool = field(default=False, kw_only=True)
    check: Callable[[Any, Answers], None] = field(default=_fits, kw_only=True)
    when: Callable[[Answers], bool] = field(default=_always, kw_only=True)
    otherwise: str = field(default="leave it out", kw_only=True)
    """What to type where the answer was given and the question does not arise."""


def _readable(codebases: Mapping[str, Place], answers: Answers) -> None:
    for place in codebases.values():
        if "path" in place:
            _read_checkout(Path(place["path"]))
        elif not answers["offline"]:
            _ask_remote(place["url"])


def _read_checkout(path: Path) -> None:
    if not path.is_dir():
        raise ValueError(f"{path} is not a folder; give the path of a git checkout")
    try:
        GitRepo(path).head()
    except TriageError as error:
        raise ValueError(f"{path} is not a git checkout with a commit; give the path of one") from error


def _ask_remote(url: str) -> None:
    clone = Clone(Path("/"), url, None, GitNetwork(stall_s=REMOTE_S, limit_s=REMOTE_S))
    try:
        clone.ask_remote()
    except ProviderError as error:
        raise ValueError(
            f"git cannot read it: {error}; try `{clone.command_to_try}` as the user who is to run triage, "
            "or write it unasked with `triage init --offline`"
        ) from error


def _watch_others(chats: list[dict[str, str]], answers: Answers) -> None:
    if any(chat["chat_id"] == answers["ops_channel"] for chat in chats):
        raise ValueError(f"{answers['ops_channel']} is the channel for drafts; watch those where people ask")


def _has_folders(sessions: Mapping[str, Path], _answers: Answers) -> None:
    for path in sessions.values():
        if not path.is_dir():
            raise ValueError(f"{path} is not a folder; give the path of a checkout")


def _own_every_session(owners: Mapping[str, str], answers: Answers) -> None:
    _name_sessions(owners, list(answers["sessions"]))
    if "" not in owners and (nobodys := [name for name in answers["sessions"] if name not in owners]):
        raise ValueError(
            f"nobody is told of {nobodys[0]}; give a user (U…) or user group (S…), or leave out its folder"
        )


def _belong_to_teams(teams: Mapping[str, str], answers: Answers) -> None:
    sessions = [*answers["sessions"], *answers["kept"]]
    _name_sessions(teams, sessions)
    if strange := sorted(set(teams.values()) - set(answers["teams"])):
        raise ValueError(f"there is no team {strange[0]!r}; there are {', '.join(answers['teams'])}")
    if "" not in teams and (nobodys := [name for name in sessions if name not in teams]):
        raise ValueError(f"{nobodys[0]} belongs to no team; give one of {', '.join(answers['teams'])}")


def _name_sessions(values: Mapping[str, str], sessions: Sequence[str]) -> None:
    if strange := sorted(values.keys() - set(sessions) - {""}):
        raise ValueError(f"there is no session {strange[0]!r}; there are {', '.join(sessions) or 'none'}")


def _is_one_team(answers: Answers) -> bool:
    return not answers["team_names"]


def _has_sessions(answers: Answers) -> bool:
    return bool(answers["sessions"])


def _has_teams_and_sessions(answers: Answers) -> bool:
    return len(answers["team_names"]) > 1 and bool(answers["sessions"] or answers["kept"])


def _knows_codebases(picked: list[str] | None, answers: Answers) -> None:
    if strange := [name for name in picked or () if name not in answers["codebase"]]:
        there = ", ".join(filter(None, answers["codebase"])) or "one without a name, so leave this empty"
        raise ValueError(f"there is no codebase {strange[0]!r}; there is {there}")


def _between_teams(_value: Any, answers: Answers) -> None:
    """Refuse what bot/config/team_settings.py would refuse between the teams answered so far."""
    teams = {
        name: {"ops_channel": team["ops"], "channels": team.get("channels", []), "approvers": team.get("approvers")}
        for name, team in answers["teams"].items()
    }
    for problem in across_teams({"teams": teams}):
        raise ValueError(problem.says)


def _leaves_drafts_alone(channel: str, answers: Answers) -> None:
    for name, team in answers["teams"].items():
        if any(chat["chat_id"] == channel for chat in team.get("channels", ())):
            raise ValueError(f"{channel} is watched by {name}; drafts need a private channel that nobody watches")


OF_ALL: Final = (
    InitQuestion(
        "codebase",
        "Code that answers come from: the path of a git checkout, or several paths and\n"
        "addresses, as shop=~/src/shop, infra=git@host:acme/infra.git",
        take_codebases,
        check=_readable,
    ),
    InitQuestion(
        "team_names", "Teams that share the bot, as payments, platform (empty: one team)", take_team_names, ""
    ),
    InitQuestion(
        "ops_channel",
        "Id of the private channel for drafts (at the end of the channel's details)",
        take_id(ChannelId),
        when=_is_one_team,
        otherwise=_SAY_IT_OF_EACH,
    ),
    InitQuestion(
        "watch",
        "Channels to watch, as C0123HELP=help, C0123ENG (empty: mentions only)",
        take_chats,
        "",
        check=_watch_others,
        when=_is_one_team,
        otherwise=_SAY_IT_OF_EACH,
    ),
    InitQuestion("approvers", f"W{_APPROVERS}", take_approvers, "", when=_is_one_team, otherwise=_SAY_IT_OF_EACH),
    InitQuestion("language", "The language of the team, or of most teams", take_language, "en"),
)
"""Before the teams."""

OF_TEAM: Final = (
    InitQuestion("ops", "id of its private channel for drafts", take_id(ChannelId), check=_leaves_drafts_alone),
    InitQuestion("approvers", f"w{_APPROVERS}", take_approvers, "", check=_between_teams),
    InitQuestion(
        "channels", "channels to watch, as C0123HELP=help (empty: mentions only)", take_chats, "", check=_between_teams
    ),
    InitQuestion(
        "codebases",
        "codebases it may see (empty: all)",
        take_picked,
        "",
        check=_knows_codebases,
        when=lambda answers: len(answers["codebase"]) > 1,
    ),
    InitQuestion("language", "its language", take_language),
)
"""Of each team."""

OF_SESSIONS: Final = (
    InitQuestion(
        "sessions",
        "Folders with heartbeats, as ~/src/shop, tools=~/src/tooling (empty: no heartbeats)",
        take_sessions,
        "",
        check=_has_folders,
    ),
    InitQuestion(
        "session_teams",
        "Team of each folder, as payments, or shop=payments, tools=platform",
        take_by_session(check_team_id),
        "",
        check=_belong_to_teams,
        when=_has_teams_and_sessions,
    ),
    InitQuestion(
        "owner",
        "Who is told what they find, as U0123ANA, or shop=U0123ANA, tools=S0123OPS",
        take_by_session(take_id(ApproverId)),
        "",
        check=_own_every_session,
        when=_has_sessions,
    ),
)
SECRETS: Final = (
    InitQuestion(
        "SLACK_BOT_TOKEN", "Bot token, xoxb-… (empty: later)", take_token("SLACK_BOT_TOKEN"), "", is_secret=True
    ),
    InitQuestion(
        "SLACK_APP_TOKEN", "App token, xapp-… (empty: later)", take_token("SLACK_APP_TOKEN"), "", is_secret=True
    ),
    InitQuestion(
        "ANTHROPIC_API_KEY",
        "Anthropic API key (empty: no model; a search quotes code that a question names)",
        take_api_key,
        "",
        is_secret=True,
    ),
    InitQuestion("TRIAGE_HOME", "Data directory (empty: ~/.triage)", take_home, ""),
)
"""What .env holds."""
