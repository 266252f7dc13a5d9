"""The image: what goes in, who runs it, and what it is asked. That it builds is for a machine with a registry."""

from __future__ import annotations

import json
import re

from bot.__main__ import COMMANDS, command_of
from reference.__main__ import HERE

DOCKERFILE = (HERE / "Dockerfile").read_text()
RUNS = DOCKERFILE.rpartition("\nFROM ")[2]


def test_only_the_package_and_its_manifest_can_get_into_the_image() -> None:
    lines = [line for line in (HERE / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "*"
    allowed = {line.removeprefix("!") for line in lines[1:] if line.startswith("!")}
    assert allowed == {
        "bot",
        "handlers",
        "blocks",
        "demo",
        "pyproject.toml",
        "requirements.lock",
        "README.md",
        "LICENSE",
        "manifest.yml",
    }
    assert all((HERE / name).exists() for name in allowed)


def test_it_is_not_run_by_root_and_holds_no_secret() -> None:
    (user,) = re.findall(r"^USER (\S+)", RUNS, re.MULTILINE)
    assert user == "10001:10001"
    assert not re.search(r"TOKEN|SECRET|API_KEY|\.env", DOCKERFILE)


def test_what_it_runs_and_asks_are_commands_there_are() -> None:
    """The entry point, its default command and the health check are read by the same parsers as ever."""
    entry, default, health = (
        json.loads(found)
        for found in re.search(r"ENTRYPOINT (\[.*\])\nCMD (\[.*\])", RUNS).groups()
        + re.search(r"CMD (\[.*\])", RUNS).groups()  # type: ignore[union-attr]
    )
    assert entry[-1] == health[0] == "triage"
    assert default[0] in COMMANDS
    assert command_of(health[1]).make_context(health[1], health[2:]).params["check"]
