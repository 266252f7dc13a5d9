"""Our tools as the SDK's loop calls them: arguments checked, time bounded, every call on record.

A ToolProblem goes to the model as an error result. Anything else a tool raises is our bug: the SDK would tell it to the
model and go on, so it is kept here and the run ends with it.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Sequence

from anthropic.lib.tools import BetaBuiltinFunctionTool, ToolError
from anthropic.types.beta import BetaToolUnionParam
from pydantic import ValidationError

from bot.agent.run_log import RunLog
from bot.agent.tools.base import Tool, ToolProblem
from bot.agent.watchdog import Watchdog


class Toolbox:
    """The tools of one run; `crash` is what one of them must not have raised, or None."""

    def __init__(self, tools: Sequence[Tool], watch: Watchdog, journal: RunLog) -> None:
        self._watch, self._journal = watch, journal
        self.crash: BaseException | None = None
        self.runnable = [_Runnable(tool, self) for tool in tools]

    def call(self, tool: Tool, given: object) -> str:
        """Return what the tool says; raises ToolError for the model to read."""
        self._journal.tool_calls += 1
        shown = f"{tool.name} {json.dumps(given, ensure_ascii=False)}"
        self._journal.say(f"tool: {shown[:300]}")
        self._journal.write("Call", shown)
        try:
            text = self._answer(tool, given)
        except ToolError as problem:
            self._journal.write("Problem", str(problem))
            raise
        self._journal.write("Result", text)
        return text

    def _answer(self, tool: Tool, given: object) -> str:
        if not isinstance(given, dict):
            raise ToolError(f"{tool.name} cannot be called like that: its arguments must be a JSON object")
        try:
            arguments = tool.arguments.model_validate(given) if tool.arguments else given
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
            wrong = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details)
            raise ToolError(f"{tool.name} cannot be called like that: {wrong}") from error
        text, problem = within(self._watch.left_s(), lambda: tool.call(arguments))
        if problem is None:
            return text
        if isinstance(problem, ToolProblem):
            raise ToolError(str(problem)) from problem
        self.crash = problem
        raise ToolError("this tool failed") from problem


class _Runnable(BetaBuiltinFunctionTool):
    """One tool in the SDK's shape."""

    def __init__(self, tool: Tool, box: Toolbox) -> None:
        self._tool, self._box = tool, box
        schema = tool.arguments.model_json_schema() if tool.arguments else tool.schema
        self._sent: BetaToolUnionParam = {
            "name": tool.name,
            "description": tool.description,
            "input_schema": schema or {"type": "object"},
        }

    def to_dict(self) -> BetaToolUnionParam:
        """Return the definition that is sent."""
        return self._sent

    def call(self, input: object) -> str:
        """Return what the tool says."""
        return self._box.call(self._tool, input)


def within(limit_s: float | None, work: Callable[[], str]) -> tuple[str, BaseException | None]:
    """Return `(text, what was raised)`, the work being left behind when the limit passes: it only reads."""
    done: queue.SimpleQueue[tuple[str, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - handed to the caller, in the caller's thread
            done.put(("", error))

    threading.Thread(target=run, name="tool", daemon=True).start()
    try:
        return done.get(timeout=limit_s)
    except queue.Empty:
        return "", ToolProblem("no time is left")
