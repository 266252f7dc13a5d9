"""The `slack` block of triage.yml: how fast the bot speaks, and over how many connections it listens."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SlackSettings(_Block):
    """How the bot talks to Slack."""

    posts_per_second: Annotated[float, Field(gt=0, le=20)] = 1.0
    """To each channel, after a burst of three; Slack allows about one."""
    connections: Annotated[int, Field(ge=1, le=2)] = 1
    """Socket Mode connections at once; with two, one goes on while the other is made anew."""
