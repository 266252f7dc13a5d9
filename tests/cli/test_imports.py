"""What a command does not load: whoever does not use a library does not wait for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import bot.cli.why, bot.cli.reports, bot.cli.reports
print(sorted({"slack_sdk", "anthropic", "mcp"} & set(sys.modules)))
import bot.app, demo.run
print(sorted({"anthropic", "mcp", "httpx2"} & set(sys.modules)))
"""


@pytest.mark.full
def test_no_library_is_loaded_that_is_not_used() -> None:
    """Reports load neither Slack's SDK nor a model's; a bot without a key is smaller by 77 MB."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"]
