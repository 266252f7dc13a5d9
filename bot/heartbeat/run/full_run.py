"""The beat with the session's model: the due tasks and all that was seen, its tools, a receipt for each task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.agent.specialist import ModelTask, Specialist
from bot.agent.tools.base import Tool
from bot.domain.heartbeats.beats import BeatReport, Receipt
from bot.heartbeat.run.beat_prompt import build_sections
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.sessions.session_registry import Session

MESSAGE_CHARS: Final = 4_000
RECEIPTS: Final = 200

ToolsFor = Callable[[BeatView], Sequence[Tool]]


class BeatAnswer(BaseModel):
    """What the model returns of a beat."""

    model_config = ConfigDict(extra="ignore")

    message: Annotated[str, AfterValidator(lambda text: text[:MESSAGE_CHARS])]
    receipts: Annotated[tuple[Receipt, ...], Field(max_length=RECEIPTS)]
    reasoning: Annotated[str, Field(max_length=1_500)] = ""


class ModelFullRun:
    """Port FullRun over a model; `specialist_for` returns it with the session's limits."""

    def __init__(self, specialist_for: Callable[[Session], Specialist], tools_for: ToolsFor) -> None:
        self._specialist_for, self._tools_for = specialist_for, tools_for

    def run(self, view: BeatView) -> BeatReport:
        """Return the report; raises as FullRun says."""
        brief = ModelTask(
            run_id=view.run_id,
            rubric=rubric(view.session),
            sections=tuple(build_sections(view, only_changed=False)),
            spent_usd=view.spent_usd,
            cancel=view.cancel,
        )
        result = self._specialist_for(view.session).run(brief, self._tools_for(view))
        assert isinstance(result.answer, BeatAnswer)
        return BeatReport(
            message=result.answer.message,
            receipts=result.answer.receipts,
            usage=result.usage,
            tool_calls=result.tool_calls,
            reasoning=result.answer.reasoning or None,
        )


def rubric(session: Session) -> str:
    """Return what stays the same from beat to beat of a session."""
    role = "the master session, which looks after the others" if session.is_master else "a worker session"
    return (
        f"You keep watch over `{session.name}`, {role}. If nothing needs a human, the message is exactly "
        f"`{session.beat.ack_token}`."
    )
