"""The yardstick of benchmarks/acknowledge.py: a Bolt app that only acknowledges, or appends, fsyncs, acknowledges.

Usage: python -m benchmarks.bare_bolt <api url> <file to append to, or "-">
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from demo.workspace import DEMO


def main(api_url: str, path: str) -> None:
    """Serve until killed."""
    app = App(client=WebClient(DEMO.bot_token, base_url=api_url), process_before_response=True)
    lock = threading.Lock()
    handle = None if path == "-" else os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    @app.event("message")
    def on_message(body: dict[str, Any]) -> None:
        if handle is not None:
            with lock:
                os.write(handle, json.dumps(body).encode() + b"\n")
                os.fsync(handle)

    SocketModeHandler(app, DEMO.app_token, web_client=WebClient(DEMO.app_token, base_url=api_url)).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
