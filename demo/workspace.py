"""The throw-away workspace of the demo and the journeys, as data.

Chloe asks, Ana and Ben approve: they are the people of the private ops channel, she is not. Written as the YAML file
local-slack reads. Every token here is worthless outside that server.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoUser:
    """Somebody one can act as in the page."""

    user_id: str
    name: str
    real_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoChannel:
    """A channel; `members` are user ids, the bot is always one of them."""

    channel_id: str
    name: str
    members: tuple[str, ...]
    is_private: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoWorkspace:
    """A whole workspace with one bot in it."""

    users: tuple[DemoUser, ...]
    channels: tuple[DemoChannel, ...]
    team_id: str = "T0DEMO"
    team_name: str = "Demo"
    app_id: str = "A0TRIAGE"
    bot_id: str = "U0TRIAGE"
    bot_name: str = "triage"
    bot_token: str = "xoxb-demo"  # noqa: S105 - worthless outside the throw-away server
    app_token: str = "xapp-demo"  # noqa: S105

    def channel_id(self, name: str) -> str:
        """Return the id of a channel; raises KeyError for a name the workspace does not have."""
        return {channel.name: channel.channel_id for channel in self.channels}[name]

    def config(self) -> dict[str, Any]:
        """Return what local-slack wants to read. Source: the zod schema inside its 0.1.8 binary."""
        return {
            "workspace": {"name": self.team_name, "domain": self.team_name.lower(), "teamId": self.team_id},
            "apps": [self._app()],
            "users": [{"id": u.user_id, "name": u.name, "real_name": u.real_name, "tz": "UTC"} for u in self.users],
            "channels": [self._channel(channel) for channel in self.channels],
        }

    def write(self, folder: Path) -> Path:
        """Write `ws.yaml` into `folder` and return its path."""
        path = folder / "ws.yaml"
        path.write_text(yaml.safe_dump(self.config(), allow_unicode=True, sort_keys=False), encoding="utf-8")
        return path

    def _app(self) -> dict[str, str]:
        return {
            "appId": self.app_id,
            "botUserId": self.bot_id,
            "botName": self.bot_name,
            "botToken": self.bot_token,
            "appToken": self.app_token,
            "mode": "socket",
        }

    def _channel(self, channel: DemoChannel) -> dict[str, Any]:
        members = [self.bot_id, *channel.members]
        return {"id": channel.channel_id, "name": channel.name, "is_private": channel.is_private, "members": members}


ANA: Final = DemoUser(user_id="U0ANA", name="ana", real_name="Ana Silva")
BEN: Final = DemoUser(user_id="U0BEN", name="ben", real_name="Ben Okafor")
CHLOE: Final = DemoUser(user_id="U0CHLOE", name="chloe", real_name="Chloe Park")

_EVERYBODY = (ANA.user_id, BEN.user_id, CHLOE.user_id)

HELP: Final = DemoChannel(channel_id="C0HELP", name="help", members=_EVERYBODY)
ENG: Final = DemoChannel(channel_id="C0ENG", name="eng", members=_EVERYBODY)
OPS: Final = DemoChannel(channel_id="C0OPS", name="triage-ops", members=(ANA.user_id, BEN.user_id), is_private=True)

DEMO: Final = DemoWorkspace(users=(CHLOE, ANA, BEN), channels=(HELP, ENG, OPS))
