"""The parts of triage.yml that are a team's matter: they stand at the top, or in a block of `teams`, which inherits.

A team's block goes over the top level key by key, inside blocks too; a list replaces a list. One team without a name
(`codebase`, `ops_channel`, `watched_chats` at the top) is the same thing, and is called `default`.
Values only; bot/config/settings.py reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from bot.config.codebase_settings import (
    EXPIRE_AFTER,
    REMIND_AFTER,
    Autonomy,
    BriefSettings,
    EscalationSettings,
    PageSettings,
    Picked,
)
from bot.config.field_types import (
    ApproverId,
    ChannelId,
    InheritedValue,
    PerhapsInterval,
    SettingsBlock,
    WorkingHoursSettings,
)
from bot.config.home import DEFAULT_TEAM
from bot.config.model_settings import BudgetSettings
from bot.config.written_keys import Problem, blocks_in, merged_blocks
from bot.domain.acknowledgement import AcknowledgeMode
from bot.domain.command_specs import manual
from bot.domain.threads import QuestionType

_TEAM_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")

RubricPoint = Annotated[str, Field(min_length=1, max_length=200)]


def check_team_id(value: str) -> str:
    """Return a team's id; raises ValueError for what is none: it is the name of a folder, too."""
    if not _TEAM_ID.fullmatch(value) or value == DEFAULT_TEAM:
        raise ValueError(
            f"{value[:60]!r} is no name for a team; use up to 40 small letters, digits and dashes, not `{DEFAULT_TEAM}`"
        )
    if value in manual():
        raise ValueError(f"{value!r} is a command, `/triage {value}`, so no team can be called so; choose another name")
    return value


TeamId = Annotated[str, AfterValidator(check_team_id)]


class WatchedChat(SettingsBlock):
    """One channel the bot watches."""

    chat_id: ChannelId
    """The channel; the bot must be a member."""
    name: str | None = None
    """How it is called on cards and in logs, without #."""
    codebases: Picked = None
    """What questions here are about, of the team's codebases; absent: all of them."""


class TeamMatters(SettingsBlock):
    """What each team may decide for itself."""

    ops_channel: ChannelId
    """The private channel where drafts wait for approval. With `teams`, each team has its own."""
    approvers: Annotated[tuple[ApproverId, ...] | None, InheritedValue()] = None
    """Who may approve; absent: everybody in the ops channel. An empty list: nobody."""
    team_language: Annotated[str, Field(pattern="^[a-z]{2}$")] = "en"
    """Two small letters. With a model, a question in another language has a translation on its card."""
    tone: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    """How replies should sound, in your own words; models only."""
    rubrics: dict[QuestionType, Annotated[tuple[RubricPoint, ...], Field(max_length=8)]] = {}
    """More points that an answer to a kind of question must meet."""
    escalation: EscalationSettings = EscalationSettings()
    budget: BudgetSettings = BudgetSettings()
    remind_after: PerhapsInterval = REMIND_AFTER
    """When the ops channel is reminded of a waiting card, once; null: never."""
    expire_after: PerhapsInterval = EXPIRE_AFTER
    """When a waiting card that nobody touched is closed; null: never."""
    acknowledge: AcknowledgeMode = "reaction"
    """How an asker hears that their question is being looked into. `reaction`: 👀 on their message, ✅ once the reply
    stands. `ephemeral`: one line that only they see. `none`: not at all."""
    feedback: bool = True
    """Helpful and Not helpful under each posted reply; one that did not help comes back to the approvers once."""
    pages: PageSettings = PageSettings()
    brief: BriefSettings = BriefSettings()
    working_hours: WorkingHoursSettings | None = None
    """When reminders and briefs may be said, and on whose clock; null: at any hour, on the machine's."""
    autonomy: Autonomy = "off"
    """Replies without a human. `off`: never. `shadow`: cards say which drafts would have been sent. `on`: an approver
    may arm it (`/triage metrics --arm`) once the record allows it; it disarms itself when the record does not."""
    baseline_reply_s: Annotated[float, Field(gt=0, le=604_800)] | None = None
    """How long an answer took before the bot, median, in seconds; `triage metrics` compares with it."""
    share: Annotated[tuple[Literal["notes", "checks"], ...], InheritedValue()] = ()
    """What other teams get to see of this one. `notes`: what was remembered of its answers. `checks`: commands of its
    sessions' HEARTBEAT.md whose findings people acted on, or that several sessions make; other teams get them as
    suggestions, on which a human there decides."""

    @model_validator(mode="before")
    @classmethod
    def _take_over_the_zone_of_briefs(cls, given: Any) -> Any:
        """Read `brief.timezone`, as earlier versions had beside `working_hours.timezone`, where that is not given."""
        brief = given.get("brief") if isinstance(given, Mapping) else None
        if not isinstance(brief, Mapping) or "timezone" not in brief:
            return given
        hours = given.get("working_hours") or {}
        both = {"timezone": brief["timezone"], **hours} if isinstance(hours, Mapping) else hours
        rest = {key: value for key, value in brief.items() if key != "timezone"}
        return {**given, "brief": rest, "working_hours": both}

    @property
    def timezone(self) -> str:
        """The zone of the team's clock: an IANA name, or `local`."""
        return (self.working_hours or WorkingHoursSettings()).timezone


class TeamSettings(TeamMatters):
    """One team: where it is asked, where its drafts wait, and its own values for any key of the top level named here.

    An absent key inherits from the top level of the file, block by block and key by key; a list replaces a list.
    """

    channels: tuple[WatchedChat, ...] = ()
    """The channels whose every message is read, and answered for this team; no other team may watch them."""
    codebases: Picked = None
    """What the team may see, of the codebases at the top; absent: all of them."""


INHERITED: Final = frozenset(TeamMatters.model_fields)
"""The keys that a team inherits from the top level."""


def inherit_teams(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config whose teams hold what the top level says wherever they say nothing of their own.

    The top level takes `ops_channel` from the first team, where it has none itself.

    >>> inherit_teams({"team_language": "de", "teams": {"pay": {"ops_channel": "C1"}}})["teams"]
    {'pay': {'team_language': 'de', 'ops_channel': 'C1'}}
    """
    teams = config.get("teams")
    if not isinstance(teams, Mapping) or not teams:
        return dict(config)
    shared = {key: value for key, value in config.items() if key in INHERITED}
    blocks = {name: merged_blocks(shared, team) if isinstance(team, Mapping) else team for name, team in teams.items()}
    first = next(iter(blocks.values()))
    ops_channel = {"ops_channel": first["ops_channel"]} if isinstance(first, Mapping) and "ops_channel" in first else {}
    return {**ops_channel, **config, "teams": blocks}


def across_teams(config: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong between the teams of a raw config, for each alone may be right."""
    teams = blocks_in(config.get("teams"))
    if not teams:
        return
    if config.get("watched_chats"):
        yield Problem(("watched_chats",), "with `teams`, each team has its `channels`; move these there")
    ops = {name: team.get("ops_channel", config.get("ops_channel")) for name, team in teams.items()}
    watched: dict[str, str] = {}
    for name, team in teams.items():
        for chat in _chats(team):
            path = ("teams", name, "channels")
            if chat in ops.values():
                yield Problem(path, f"{chat} is an ops channel; watch the channels where people ask")
            elif watched.setdefault(chat, name) != name:
                yield Problem(path, f"{chat} is watched by {watched[chat]} too; a channel has one team")
    yield from _shared_ops_channels(teams, ops, config)
    yield from _sessions(teams, config)


def _shared_ops_channels(
    teams: Mapping[str, Mapping[str, Any]], ops: Mapping[str, object], config: Mapping[str, Any]
) -> Iterator[Problem]:
    approvers = {name: team.get("approvers", config.get("approvers")) for name, team in teams.items()}
    owners: dict[object, str] = {}
    for name, channel in ops.items():
        first = owners.setdefault(channel, name) if isinstance(channel, str) else name
        if approvers[first] != approvers[name]:
            says = (
                f"{channel} is {first}'s too, with other approvers; "
                "give each team an ops channel of its own, or both the same approvers"
            )
            yield Problem(("teams", name, "ops_channel"), says)


def _sessions(teams: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[Problem]:
    for name, session in blocks_in(config.get("sessions")).items():
        team = session.get("team")
        if team is None and len(teams) > 1:
            yield Problem(("sessions", name, "team"), f"is required with several teams; one of {', '.join(teams)}")
        elif team is not None and str(team) not in teams:
            says = f"there is no team {str(team)[:60]!r}; one of {', '.join(teams)}"
            yield Problem(("sessions", name, "team"), says)
        else:
            team, codebase = str(team or next(iter(teams))), str(session.get("codebase"))
            seen = teams[team].get("codebases")
            if codebase in blocks_in(config.get("codebases")) and isinstance(seen, list) and codebase not in seen:
                says = f"{team} does not see {codebase}; add it to teams.{team}.codebases"
                yield Problem(("sessions", name, "codebase"), says)


def _chats(team: Mapping[str, Any]) -> Iterator[str]:
    channels = team.get("channels")
    for chat in channels if isinstance(channels, list | tuple) else ():
        if isinstance(chat, Mapping) and isinstance(chat.get("chat_id"), str):
            yield chat["chat_id"]
