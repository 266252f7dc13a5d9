"""What the orchestrator reads per investigation, in tokens (UTF-8 bytes / 4): the context that never sees the code.

Sixty questions at once over local-slack on this repository, so that every investigation also reads one line on each of
the others. Target: median at most 2,000; aim: 600.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.acknowledge import triage_on
from demo.binary import cache_folder, ensure_binary
from demo.workspace import CHLOE, ENG

QUESTIONS = 60
TARGET, AIM = 2_000, 600
WORDS = ("queue", "card", "journal", "draft", "citation", "classifier", "thread", "reply", "memory", "index")


def _measured(home: Path) -> list[int]:
    """Return the tokens of every thread that waits for a human."""
    states = [json.loads(path.read_text()) for path in (home / "state").glob("T*.json")]
    return [state["orchestrator_tokens"] for state in states if state["status"] == "pending-user"]


def main() -> int:
    """Print the median and the extremes, and return 0 if the median meets its target."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        control, _ = triage_on(stack, ensure_binary(cache_folder(os.environ)), folder)
        control.wait_for(control.is_connected, "the bot to connect", timeout_s=60)
        for number in range(QUESTIONS):
            word = WORDS[number % len(WORDS)]
            control.say(ENG.channel_id, CHLOE.user_id, f"how does the {word} work, and who may change it? ({number})")
        control.wait_for(
            lambda: len(_measured(folder / "home")) == QUESTIONS, "sixty drafts", timeout_s=600, channel=ENG.channel_id
        )
        tokens = _measured(folder / "home")
    median = statistics.median(tokens)
    print(f"{len(tokens)} investigations: median {median:.0f} tokens, least {min(tokens)}, most {max(tokens)}")
    print(f"target at most {TARGET}, aim {AIM}")
    return 0 if median <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
