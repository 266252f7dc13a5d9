"""The values of a beat: why it starts, what it says of each task, how it ended, the line it leaves. Pure.

The shapes are those of heartbeats.ndjson, which other programs read; keys never change meaning. A run that is over is
kept in the session's state until the beat's line is written: a crash in between costs no second run.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from operator import not_
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AwareDatetime, BeforeValidator, Field, StringConstraints, model_validator

from bot.domain.alerts import Severity
from bot.domain.frozen_value import FrozenValue
from bot.domain.returns import Usage
from bot.domain.tiers import Tier

MAX_PREVIEW_CHARS = 200
_SCREEN_FAILED: Final = "the pre-screen failed: "


class Wake(StrEnum):
    """Why a beat starts, weakest reason first: of wakes that coalesce, the strongest is kept."""

    INTERVAL = "interval"
    AUTOMATION = "automation"
    ASSIGNMENT = "assignment"
    ON_DEMAND = "on_demand"


class BeatResult(StrEnum):
    """How a beat ended."""

    SENT = "sent"
    OK_TOKEN = "ok-token"  # noqa: S105 - how a beat ended, not a secret
    OK_EMPTY = "ok-empty"
    SKIPPED = "skipped"
    FAILED = "failed"


class Indicator(StrEnum):
    """What a session's status emoji shows."""

    OK = "ok"
    ALERT = "alert"
    ERROR = "error"
    NONE = "none"


class BeatStep(StrEnum):
    """Where a beat may end; in the order in which it is asked."""

    DISABLED = "disabled"
    HALTED = "triage paused"
    PAUSED = "paused"
    HOURS = "outside hours"
    FOLDER = "no folder"
    HIDDEN = "hidden"
    ROUTE = "no route"
    BUDGET = "budget spent"
    BUSY = "busy"
    TRACKED = "tracked playbook"
    EMPTY = "empty playbook"
    DUE = "due"
    PROBES = "probes"
    PRESCREEN = "pre-screen"
    RUN = "run"
    ACK = "ack"
    DEDUPE = "dedupe"
    DELIVERY = "delivery"
    CANCELLED = "cancelled"


class Action(StrEnum):
    """What a pre-screen decided."""

    NONE = "none"
    HANDLE = "handle"
    ESCALATE = "escalate"


class Reported(FrozenValue):
    """What a receipt reports as found.

    `key` is its short stable id, the same however the finding is worded; `severity` None: the task or the session says.
    """

    key: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    severity: Severity | None = None
    text: str = ""


class Receipt(FrozenValue):
    """What was done for one due task.

    `task` is the id of the task (`playbook_entries.task_id`); a `finding` says what was found.
    """

    task: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    result: Literal["ok", "finding", "skipped"]
    evidence: str = ""
    finding: Reported | None = None

    @model_validator(mode="before")
    @classmethod
    def _as_once_written(cls, data: Any) -> Any:
        """Read the receipt of a run that an earlier version left on disk: its `finding` is an id alone."""
        if not isinstance(data, dict):
            return data
        known = dict(data)
        if "status" in known and "result" not in known:
            known["result"] = known.pop("status")
        if isinstance(known.get("finding"), str):
            known["finding"] = {"key": known["finding"], "text": known.get("evidence") or ""}
        return known

    @property
    def key(self) -> str | None:
        """The id of what was found."""
        return self.finding.key if self.finding else None


class Finding(FrozenValue):
    """Something a beat reports; `key` says whether it is the same one as before (`alerts.finding_key`).

    `task` is the id of the check that found it.
    """

    key: str
    text: str
    task: str
    severity: Severity = Severity.ACT


class Delivered(FrozenValue):
    """Where a message goes, or went; the path of a webhook is a secret."""

    mode: Literal["last", "explicit", "none"]
    channel: Literal["slack", "telegram", "webhook"] | None = None
    to: str | None = None

    @property
    def is_private(self) -> bool:
        """Whether only the owner reads there: a DM, or a Telegram chat with one person (its id is positive).

        >>> Delivered(mode="explicit", channel="telegram", to="-1001").is_private
        False
        """
        to = self.to or ""
        if self.channel == "slack":
            return to[:1] in ("U", "W", "D", "S")  # of a group, each member is told in their direct messages
        return self.channel == "telegram" and to.isdigit()

    @property
    def rings_people(self) -> bool:
        """Whether each message rings somebody; a webhook's receiver rings by itself."""
        return bool(self.to) and self.channel != "webhook"

    @property
    def redacted(self) -> Self:
        """It as it may be written down."""
        if self.channel != "webhook" or not self.to:
            return self
        address = urlsplit(self.to)
        return self.evolve(to=f"{address.scheme}://{address.netloc.rpartition('@')[2]}")

    @property
    def destination(self) -> str:
        """What stamps are kept under."""
        return f"{self.channel}:{self.redacted.to}"


class RunUsage(FrozenValue):
    """What one run cost; None: no model ran, or the price is unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class BeatUsage(RunUsage):
    """What a beat cost: its full run, and apart from it its pre-screen."""

    triage_usage: RunUsage | None = None

    @classmethod
    def from_runs(cls, full: Usage | None, triage: Usage | None = None) -> Self:
        """Return the one shape, whichever runs there were; input counts what came from the cache too."""
        return cls(**_tokens(full), triage_usage=RunUsage(**_tokens(triage)) if triage else None)


def _tokens(usage: Usage | None) -> dict[str, float | None]:
    if usage is None:
        return {}
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {"input_tokens": read, "output_tokens": usage.output_tokens, "cost_usd": usage.cost_usd}


def _cut(text: object) -> object:
    return text if not isinstance(text, str) or len(text) <= MAX_PREVIEW_CHARS else text[: MAX_PREVIEW_CHARS - 1] + "…"


class Assigned(FrozenValue):
    """What a beat was given to do, and by whom: a session's id, or a person as `@ana`; the text is cut."""

    by: str
    text: Annotated[str, BeforeValidator(_cut)]


class Envelope(FrozenValue):
    """The line of heartbeats.ndjson that every beat leaves, whatever happened; the preview is cut to 200 characters.

    `assignments`, `beside_ok` and `changes` stand in the line only where there are any.
    """

    ts: AwareDatetime
    session_id: str
    workspace_dir: str
    reason: Wake
    result: BeatResult
    indicator: Indicator
    delivered: Delivered | None = None
    preview: Annotated[str, BeforeValidator(_cut)] = ""
    duration_ms: Annotated[int, Field(ge=0)] = 0
    tool_calls: Annotated[int, Field(ge=0)] = 0
    trace_id: str | None = None
    silent: bool = True
    error: str | None = None
    why: str | None = None
    tier: Tier | None = None
    prescreen: Action | None = None
    usage: BeatUsage = Field(default_factory=BeatUsage)
    assignments: Annotated[tuple[Assigned, ...], Field(exclude_if=not_)] = ()
    beside_ok: Annotated[str, BeforeValidator(_cut), Field(exclude_if=not_)] = ""
    """What was said beside the token that all is well, and sent to nobody."""
    step: Annotated[BeatStep | None, Field(exclude_if=not_)] = None
    """The step at which it ended, where that is not plain from the rest; `why` begins with it."""
    screen_error: Annotated[str, Field(exclude_if=not_)] = ""
    """Why its pre-screen failed; each such beat costs a full run. `why` ends with it."""
    changes: Annotated[tuple[Annotated[str, BeforeValidator(_cut)], ...], Field(exclude_if=not_)] = ()
    """Commands that ended well and printed something else than at the last good beat, a line each, where no model
    looked: for the daily report."""

    @property
    def detail(self) -> str:
        """What `why` says beside the step."""
        why = self.why or ""
        return why.removeprefix(f"{self.step}").removeprefix(": ") if self.step else why


def ending_text(step: BeatStep | None, detail: str = "", screen_error: str = "") -> str | None:
    """Return the `why` of a line: the step and what is said of it, then why the pre-screen failed; None for nothing.

    >>> ending_text(BeatStep.BUDGET, "0.52 of 0.50 USD today"), ending_text(BeatStep.CANCELLED)
    ('budget spent: 0.52 of 0.50 USD today', 'cancelled')
    >>> ending_text(None, "1 edit to HEARTBEAT.md", "refused: 401")
    '1 edit to HEARTBEAT.md; the pre-screen failed: refused: 401'
    """
    ended = ": ".join(filter(None, [step and str(step), detail]))
    return "; ".join(filter(None, [ended, screen_error and f"{_SCREEN_FAILED}{screen_error}"])) or None


def strongest(wakes: Iterable[Wake]) -> Wake:
    """Return the reason kept of wakes that make one beat: a person's before a message's before a machine's.

    >>> strongest([Wake.INTERVAL, Wake.ON_DEMAND, Wake.AUTOMATION])
    <Wake.ON_DEMAND: 'on_demand'>
    """
    return max(wakes, key=list(Wake).index)


def indicator_of(result: BeatResult, *, has_open: bool = False) -> Indicator:
    """Return what a beat shows; `has_open`: findings of its session are open.

    >>> indicator_of(BeatResult.OK_EMPTY, has_open=True), indicator_of(BeatResult.SKIPPED, has_open=True)
    (<Indicator.ALERT: 'alert'>, <Indicator.NONE: 'none'>)
    """
    if result in (BeatResult.FAILED, BeatResult.SKIPPED):
        return Indicator.ERROR if result is BeatResult.FAILED else Indicator.NONE
    return Indicator.ALERT if has_open else Indicator.OK


class BeatReport(FrozenValue):
    """What a beat found: a receipt for each due task, and a message to the owner.

    `status` says whether the message wants somebody; None where the run ended in text, which is read by `read_ack`.
    `usage` is None where no model ran; `notes` are remarks about the beat itself, `changes` those of `Envelope`.
    """

    message: str
    receipts: tuple[Receipt, ...]
    status: Literal["ok", "attention"] | None = None
    usage: Usage | None
    tool_calls: int = 0
    reasoning: str | None = None
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


class RunCheckpoint(BeatReport):
    """What a run reported, with the beat it belongs to: why that began and when, which tier, what is to be stamped.

    `due` are the ids of the tasks it was to carry out, `inbox` is how many messages it was shown; what has come since
    is another beat's. `prescreen` and `triage` are what a cheap model said before it, and what that cost.
    """

    run_id: str
    wake: Wake
    tier: Tier
    started_at: AwareDatetime
    stamp_at: AwareDatetime
    due: tuple[str, ...]
    inbox: int
    prescreen: Action | None = None
    triage: Usage | None = None
