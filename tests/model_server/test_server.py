"""The scripted provider itself: who gets which turn, what is kept, and that its shipped scripts can be played."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from bot.agent.model_run import RunTimedOut
from tests.agent.modelrun import FINAL, KEY, bench, look, playing
from tests.model_server import ModelServer, load_script
from tests.model_server.script import Part, Role, Script, Turn
from tests.model_server.templates import fill
from tests.tables import each_row

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.yml"))
SEARCH, READ = "near:\na.py lines 5-9\n5| x", "a.py lines 5-7\n5| \n6|     return retry()\n7|   end"


def called(number: str, name: str, given: dict[str, str]) -> dict[str, Any]:
    """Return the message of a model that calls one tool."""
    return {"role": "assistant", "content": [{"type": "tool_use", "id": number, "name": name, "input": given}]}


def told(number: str, text: str) -> dict[str, Any]:
    """Return the message that brings it the result."""
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": number, "content": text}]}


SEARCHED = {
    "messages": [
        {"role": "user", "content": '<data-7f name="question">\nWhere is it?\n</data-7f>\n{"ref": "b/c.py:3-4"}'},
        called("1", "search_code", {}),
        told("1", SEARCH),
        called("2", "read_file", {"path": "a.py"}),
        told("2", READ),
    ]
}


@each_row("path", SCRIPTS)
def test_every_shipped_script_tells_the_two_roles_apart(path: Path) -> None:
    """By the first words of the system prompts that the bot ships."""
    script = load_script(path)
    prompts = Path("bot/agent/prompts")
    for role in ("investigator", "validator"):
        assert script.part((prompts / f"{role}.md").read_text(encoding="utf-8"), "why?")[0] == role


def test_a_script_takes_its_citations_from_what_was_read() -> None:
    """So that it works on any codebase."""
    wanted = ["${question}", "${hit.start}", "${read.path}:${read.start}-${read.end}", "${read.quote}", "${ref}"]
    assert fill(wanted, SEARCHED) == ["Where is it?", 5, "a.py:6-7", "    return retry()\n  end", "b/c.py:3-4"]


def test_the_role_named_first_in_the_system_prompt_is_played() -> None:
    """A validator's prompt speaks of the investigator, too."""
    script = Script(
        roles={name: Role(parts=(Part(turns=(Turn(text=name),)),)) for name in ("investigator", "validator")}
    )
    assert script.part("You are the validator of an investigator.", "")[0] == "validator"
    with pytest.raises(LookupError, match="no role"):
        script.part("You are a poet.", "")


def test_requests_are_kept_without_credentials() -> None:
    """In order, with what each counted as."""
    with playing(look(), FINAL) as server:
        bench(server).run()
        kept = requests.get(f"{server.url}/_requests", timeout=60).json()
    assert [entry["turn"] for entry in kept] == [0, 1]
    assert kept[1]["usage"]["cache_read_input_tokens"] > 0
    assert KEY not in str(kept)


def test_a_used_up_list_repeats_its_last_turn_and_a_new_conversation_starts_at_the_top() -> None:
    """The same question again is a new conversation, unless it repeats a request that failed."""
    with playing(look("a"), look("b"), Turn(answer={"text": "x"})) as server:
        place = bench(server)
        assert [place.run().turns for _ in range(2)] == [3, 3]


def test_it_runs_by_hand() -> None:
    """`python -m tests.model_server pass` prints where it listens."""
    argv = [sys.executable, "-m", "tests.model_server", "pass"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            assert requests.get(f"{url}/_requests", timeout=60).json() == []
        finally:
            process.terminate()


def test_a_server_that_ends_lets_nobody_wait() -> None:
    """A silence of ten minutes ends with the test that asked for it."""
    with ModelServer(Script(roles={"any": Role(match="", parts=(Part(turns=(Turn(silent_start_s=600),)),))})) as server:
        bench(server).fail(RunTimedOut, limits={"total_s": 0.2})
