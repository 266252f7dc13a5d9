"""Every tool of ours is known by name: what it was asked never counts as a query of a log."""

from pathlib import Path

from bot.agent.run_records import OWN_TOOLS
from tests.agent.tools.toolbox import Toolbox


def test_the_ledger_knows_the_names_of_all_tools_over_the_codebase(tmp_path: Path) -> None:
    """A new tool that is not named there would pass for an MCP server's."""
    assert set(Toolbox(tmp_path, {"a.py": "x\n"}).tools) == OWN_TOOLS
