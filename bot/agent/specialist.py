"""One model run for a role (investigator, validator or beat), and what such runs may still cost.

System prompt and tools are the same for every run of a role, so they are read from the provider's cache; then comes
this run's data. The answer must be an object of the role's type. There is an allowance for each case and a limit for
each day (UTC), kept in spend.ndjson: a run is granted its share before it starts and is stopped before it exceeds it;
runs at the same time never share a dollar.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from bot.agent.ledger import Ledger
from bot.agent.model_run import (
    Effort,
    OnProgress,
    RunFailed,
    RunLimits,
    RunRequest,
    RunResult,
    RunWatch,
    SpendLimitReached,
)
from bot.agent.prompts import PromptSection, Token, delimit, random_token
from bot.agent.tools.base import Tool
from bot.domain.returns import Usage
from bot.ports import Clock, Image, Journal

if TYPE_CHECKING:
    from bot.agent.loop import AnthropicRunner


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowance:
    """What all runs of one case may cost together; `whose` completes "spend limit of $2.00 for …"."""

    usd: float
    whose: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """What one run may spend (None: as much as it likes), and whose limit that is."""

    usd: float | None
    why: str = ""


class Budget:
    """Makes model runs within the limits; `at_once` is how many may be under way together."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        *,
        per_day_usd: float | None = None,
        at_once: int = 1,
    ) -> None:
        self._journal, self._clock = journal, clock
        self._per_day_usd, self._at_once = per_day_usd, at_once
        self._lock = threading.Lock()
        self._granted: list[Grant] = []
        self._held: dict[str, float] = {}

    def run(
        self,
        runner: AnthropicRunner,
        request: RunRequest,
        *,
        run_id: str,
        spent_usd: float,
        allowance: Allowance | None = None,
    ) -> RunResult:
        """Make a run of a case that has cost `spent_usd` so far; what it cost is on disk when this returns.

        Raises:
            RunFailed: as the runner does; SpendLimitReached names the limit that was met.
            StoreError: the journal cannot be written.
        """
        with self._lock:
            grant = self._grant(spent_usd, allowance)
            self._granted.append(grant)
        usage = Usage()
        try:
            result = runner.run(replace(request, limits=replace(request.limits, spend_usd=grant.usd)))
            usage = result.usage
        except SpendLimitReached as error:
            usage = error.usage
            raise SpendLimitReached(grant.why, usage=usage) from error
        except RunFailed as error:
            usage = error.usage
            raise
        finally:
            self._settle(grant, run_id, request.model, usage)
        return result

    def hold(self, key: str, spent_usd: float, allowance: Allowance | None = None) -> float | None:
        """Set a share aside for a run in another process, until `release`; None: it may cost what it likes.

        Raises:
            SpendLimitReached: nothing is left; names the limit.
        """
        with self._lock:
            grant = self._grant(spent_usd, allowance)
            self._held[key] = grant.usd or 0.0
            return grant.usd

    def hold_again(self, key: str, usd: float | None) -> None:
        """Set aside what a process before this one had set aside; harmless when it is."""
        with self._lock:
            self._held.setdefault(key, usd or 0.0)

    def held(self) -> frozenset[str]:
        """Return the keys of the shares that are held."""
        with self._lock:
            return frozenset(self._held)

    def release(self, key: str) -> None:
        """Give back a share that is held: what its run cost stands in the journal."""
        with self._lock:
            self._held.pop(key, None)

    def record(self, run_id: str, model: str, usage: Usage) -> None:
        """Write down what a run cost that was not made here."""
        with self._lock:
            self._write(run_id, model, usage)

    def _grant(self, spent_usd: float, allowance: Allowance | None) -> Grant:
        """Return the smallest share: what the case has left, or an equal part of what the day has left.

        Raises:
            SpendLimitReached: nothing is left; names the limit.
        """
        grants = [Grant(usd=None)]
        if allowance is not None:
            left = max(0.0, allowance.usd - spent_usd)
            grants.append(Grant(usd=left, why=f"spend limit of {_usd(allowance.usd)} for {allowance.whose} reached"))
        if self._per_day_usd is not None:
            set_aside = sum(grant.usd or 0.0 for grant in self._granted) + sum(self._held.values())
            today = _spent_on(self._clock.now().date(), self._journal)
            free = max(0.0, self._per_day_usd - today - set_aside)
            share = free / max(1, self._at_once - len(self._granted))
            grants.append(Grant(usd=share, why=f"spend limit of {_usd(self._per_day_usd)} for today reached"))
        grant = min(grants, key=lambda each: math.inf if each.usd is None else each.usd)
        if grant.usd == 0.0:
            raise SpendLimitReached(grant.why, usage=Usage())
        return grant

    def _settle(self, grant: Grant, run_id: str, model: str, usage: Usage) -> None:
        """Give back what is left of a share and write down what was spent."""
        with self._lock:
            self._granted.remove(grant)
            if usage.input_tokens or usage.output_tokens:
                self._write(run_id, model, usage)

    def _write(self, run_id: str, model: str, usage: Usage) -> None:
        at = self._clock.now().isoformat()
        self._journal.append({"at": at, "run_id": run_id, "model": model, **usage.model_dump()})


def _usd(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 0.01 else f"${amount:g}"


def _spent_on(day: date, journal: Journal) -> float:
    """Return what a day (UTC) has cost; the journal is read from its end until two days before."""
    total = 0.0
    for record in journal.newest_first():
        at, cost = str(record.get("at", ""))[:10], record.get("cost_usd")
        if at == f"{day}" and isinstance(cost, int | float):
            total += cost
        elif at < f"{day - timedelta(days=1)}":
            break
    return total


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
