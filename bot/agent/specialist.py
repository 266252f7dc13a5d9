"""One model run for a role (investigator, validator or beat): system prompt, tools and rubric, then this run's data.

System prompt and tools are the same for every run of a role, so they are read from the provider's cache. The answer
must be an object of the role's type.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from bot.agent.budget import Allowance, Budget
from bot.agent.ledger import Ledger
from bot.agent.model_run import Effort, OnProgress, RunLimits, RunRequest, RunResult, RunWatch
from bot.agent.prompts.prompt_sections import PromptSection, Token, delimit, random_token
from bot.agent.tools.base import Tool
from bot.ports import Image

if TYPE_CHECKING:
    from bot.agent.loop import AnthropicRunner


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelAccess:
    """What makes a model run: who runs it, what may be spent, and the folder of the records."""

    runner: AnthropicRunner
    spending: Budget
    runs: Path
    stop: threading.Event = field(default_factory=threading.Event)
    """Set, it ends every run with RunStopped: the process is about to end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Specialist:
    """A model with a job description (`system`); every run starts with a fresh context."""

    access: ModelAccess
    model: str
    system: str
    answer: type[BaseModel]
    limits: RunLimits
    allowance: Allowance | None = None
    final: Tool | None = None
    read: Callable[[str], BaseModel] | None = None
    effort: Effort | None = None
    thinks: bool = True
    token: Token = random_token

    def run(
        self,
        run_id: str,
        rubric: str,
        sections: Iterable[PromptSection],
        tools: Sequence[Tool],
        *,
        spent_usd: float,
        on_progress: OnProgress | None = None,
        cancel: threading.Event | None = None,
        effort: Effort | None = None,
        images: Sequence[Image] = (),
        ledger: Ledger | None = None,
    ) -> RunResult:
        """Return the answer to a case's data, `sections` and `images`; `spent_usd` is what the case has cost so far.

        `effort` is this run's, instead of the role's; what the tools are asked is noted in `ledger`.

        Raises:
            RunFailed: with the usage so far.
            StoreError: what the run cost cannot be written down.
        """
        request = RunRequest(
            model=self.model,
            system=self.system,
            rubric=f"# Rubric\n\n{rubric}",
            effort=effort or self.effort,
            thinks=self.thinks,
            prompt=delimit(tuple(sections), token=self.token),
            images=images,
            tools=tools,
            answer=self.answer,
            final=self.final,
            read=self.read,
            limits=self.limits,
            ledger=ledger,
            folder=self.access.runs / run_id,
            on_progress=on_progress,
            cancel=on_progress.cancel if isinstance(on_progress, RunWatch) else cancel,
        )
        return self.access.spending.run(
            self.access.runner, request, run_id=run_id, spent_usd=spent_usd, allowance=self.allowance
        )
