"""The `slack` block of triage.yml: how Slack reaches the bot, and how fast the bot speaks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class HttpSettings(_Block):
    """Where the bot listens in HTTP mode; a reverse proxy with TLS stands in front of it."""

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """The address it listens on; only the proxy should reach it."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 3000
    """The port it listens on; 0 takes a free one."""


class SlackSettings(_Block):
    """How Slack reaches the bot, and how fast the bot speaks."""

    mode: Literal["socket", "http"] = "socket"
    """`socket`: the bot dials out (Socket Mode). `http`: Slack sends signed requests (Events API)."""
    http: HttpSettings = HttpSettings()
    """Used in `http` mode only."""
    posts_per_second: Annotated[float, Field(gt=0, le=20)] = 1.0
    """Posts a second to each channel, after a burst of three; Slack allows about one."""
    connections: Annotated[int, Field(ge=1, le=2)] = 1
    """Socket Mode connections at once; with two, one goes on while the other is made anew."""
