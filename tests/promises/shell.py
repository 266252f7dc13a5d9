"""A terminal beside a data directory: what is typed, and what a program reads from the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from demo.workspace import HELP, OPS
from tests.cli.typed import Said, typed

KEY = "sk-scripted-0123456789abcdef"


class Shell:
    """A folder with a triage.yml and a data directory of its own; `env` is all that the commands see."""

    def __init__(self, folder: Path, codebase: Path) -> None:
        self.folder, self.home, self.codebase = folder, folder / "home", codebase
        self.home.mkdir(parents=True, mode=0o700)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TRIAGE_HOME": str(self.home)}
        self.configure()

    def configure(self, **more: Any) -> None:
        """Write an ordinary triage.yml with these keys."""
        code = {} if "codebases" in more else {"codebase": str(self.codebase)}
        chats = [{"chat_id": HELP.channel_id, "name": HELP.name}]
        settings = {**code, "ops_channel": OPS.channel_id, "watched_chats": chats, **more}
        (self.folder / "triage.yml").write_text(yaml.safe_dump(settings))

    def with_models(self, url: str, **more: Any) -> None:
        """Have a scripted provider investigate."""
        self.env |= {"ANTHROPIC_API_KEY": KEY}
        self.configure(base_url=url, **more)

    def types(self, *words: str, stdin: str = "") -> Said:
        """Run one command."""
        return typed(words, self.folder, self.env, stdin)

    def json(self, *words: str) -> Any:
        """Run one command with --json, and return what it prints."""
        said = self.types(*words, "--json")
        assert said.stdout, said.stderr
        return json.loads(said.stdout)

    def doctor(self, name: str) -> dict[str, Any]:
        """Return one line of `triage doctor`."""
        found: dict[str, Any] = next(line for line in self.json("doctor")["checks"] if line["name"] == name)
        return found
