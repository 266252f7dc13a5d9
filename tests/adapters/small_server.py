"""A small MCP server over stdio, up within some milliseconds: `python -S small_server.py FILE`.

It notes its number in the file, and has one tool, `environment`, that returns the names of its variables.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

TOOL = {"name": "environment", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def answer(method: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a call, None of one that is not known."""
    if method == "initialize":
        about = {"name": "small", "version": "1"}
        return {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(sorted(os.environ))}]}
    return None


if __name__ == "__main__":
    with Path(sys.argv[1]).open("a", encoding="utf-8") as starts:
        print(os.getpid(), file=starts)
    for line in sys.stdin:
        call = json.loads(line)
        if "id" in call:
            result = answer(call["method"], call.get("params") or {})
            said = {"result": result} if result else {"error": {"code": -32601, "message": "Method not found"}}
            print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **said}), flush=True)
