"""Every call of a run has a number, and what it showed can be cited by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.agent.ledger import Ledger
from bot.agent.tools.base import Tool, ToolProblem
from bot.agent.tools.numbered_calls import numbered_calls
from tests.agent.tools.toolbox import Toolbox


def a_tool(name: str, answer: str | ToolProblem) -> Tool:
    def call(_: Any) -> str:
        if isinstance(answer, ToolProblem):
            raise answer
        return answer

    return Tool(name=name, description="", call=call)


def test_results_are_numbered_as_they_are_kept() -> None:
    """Whatever ends their lines; the numbers go on over all tools, failures included."""
    ledger = Ledger()
    logs, away = numbered_calls([a_tool("logs", "one\r\ntwo\n"), a_tool("away", ToolProblem("gone"))], ledger)
    assert logs.call({"q": "a"}) == "call 1, lines are cited as 1:start-end\n1: one\n2: two"
    with pytest.raises(ToolProblem):
        away.call({})
    assert logs.call({"q": "b"}).startswith("call 3, ")
    assert [(one.call, one.query, one.is_answered) for one in ledger.queries] == [
        (1, '{"q":"a"}', True),
        (2, "failed: {}", False),
        (3, '{"q":"b"}', True),
    ]


def test_a_file_that_is_read_is_cited_by_its_path(tmp_path: Path) -> None:
    """Its text is shown as it is, and is not kept a second time; a search is kept, for its lines may be cited."""
    box = Toolbox(tmp_path, {"a.py": "LIMIT = 5\n"})
    tools = {one.name: one for one in numbered_calls([*box.tools.values()], box.ledger)}
    reading, searching = tools["read_file"], tools["search_code"]
    assert reading.arguments is not None
    assert searching.arguments is not None
    shown = reading.call(reading.arguments.model_validate({"path": "a.py"}))
    assert shown == box("read_file", path="a.py")
    assert "1| LIMIT = 5" in searching.call(searching.arguments.model_validate({"query": "LIMIT"}))
    read, search = box.ledger.queries
    assert (read.call, read.result) == (1, None)
    assert (search.call, "LIMIT = 5" in (search.result or "")) == (2, True)
