"""A local-slack whose clock can be set, and whose messages can be given the ts that they had."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import requests

from demo.slack_server import LocalSlack
from demo.workspace import DemoWorkspace

SEEDING: Final = Path(__file__).with_name("seeding.js")
LIMIT_S: Final = 60.0


class SeededSlack:
    """The server beside its control API: what only the tests of an old installation need."""

    def __init__(self, server: LocalSlack, token: str) -> None:
        self.server = server
        self._token, self._session = token, requests.Session()
        self._session.trust_env = False

    def is_behind(self, by: timedelta) -> None:
        """Set the server's clock back."""
        url = f"{self.server.url}/_seeding/behind"
        self._session.get(url, params={"ms": int(by.total_seconds() * 1000)}, timeout=LIMIT_S).raise_for_status()

    def call(self, method: str, given: Mapping[str, Any], *, ts: str | None = None) -> dict[str, Any]:
        """Call Slack's Web API as the bot; a message that this makes gets `ts`."""
        headers = {"Authorization": f"Bearer {self._token}", **({"X-Seeded-Ts": ts} if ts else {})}
        answer = self._session.post(f"{self.server.url}/api/{method}", json=given, headers=headers, timeout=LIMIT_S)
        body: dict[str, Any] = answer.json()
        assert body["ok"], (method, body)
        return body

    def say(self, given: Mapping[str, Any], *, ts: str) -> None:
        """Post as a person, with this ts."""
        url = f"{self.server.url}/_control/message"
        self._session.post(url, json=given, headers={"X-Seeded-Ts": ts}, timeout=LIMIT_S).raise_for_status()


@contextmanager
def seeded_slack(binary: Path, workspace: DemoWorkspace, folder: Path) -> Iterator[SeededSlack]:
    """Run a server of its own; `folder` gets the script that starts it."""
    script = folder / "local-slack"
    preload = shlex.quote(f'"--preload={SEEDING}"')
    script.write_text(f'#!/bin/sh\nBUN_OPTIONS="$BUN_OPTIONS "{preload} exec {shlex.quote(str(binary))} "$@"\n')
    script.chmod(0o700)
    with LocalSlack(script, workspace, env=os.environ) as server:
        yield SeededSlack(server, workspace.bot_token)
