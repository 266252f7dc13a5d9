"""A view as the gallery shows it: what is drawn, the picture's name, and what it tells the operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """One view. `shows` are the blocks of a message, or a dialogue, or App Home.

    `said` are texts of people and models in it: each stands there whole, or ends in "…" where it was cut.
    """

    name: str
    title: str
    meaning: str
    shows: Sequence[Block] | View
    said: tuple[str, ...] = ()
    private: bool = False
    """Whether only the one who typed sees it."""

    @property
    def path(self) -> str:
        """Where its picture stands below docs/images."""
        return f"gallery/{self.name}.png"


@dataclass(frozen=True, kw_only=True, slots=True)
class Chapter:
    """Scenes that belong together."""

    title: str
    about: str
    scenes: tuple[Scene, ...]
