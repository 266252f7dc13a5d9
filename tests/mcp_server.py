"""A small MCP server over streamable HTTP on loopback, for the tests: `python -m tests.mcp_server PORT`.

It refuses requests without the header that TEST_MCP_TOKEN asks for, can hang, fail, die and say too much; prints a line
when it listens.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from starlette.responses import PlainTextResponse

READS = ToolAnnotations(read_only_hint=True)
server = MCPServer("testing")


@server.tool(annotations=READS)
def query(expr: str, step: int = 60) -> str:
    """Answer a query with itself."""
    return f"{expr} every {step} s by {os.getpid()}"


@server.tool(annotations=READS)
async def hang() -> str:
    """Answer too late."""
    await anyio.sleep(60)
    return "late"


@server.tool(annotations=READS)
async def die() -> str:
    """End the process instead of answering."""
    os._exit(3)


@server.tool()
async def change_and_die() -> str:
    """End the process, perhaps after a change."""
    os._exit(3)


@server.tool(annotations=READS)
def fail() -> str:
    """Fail while answering."""
    raise ToolError("the disk is on fire")


@server.tool(annotations=READS)
def flood() -> str:
    """Answer at length, with the token in it."""
    return f"{os.environ['TEST_MCP_TOKEN']} " + "x" * 100_000


@server.tool(name="odd.name/with:marks", annotations=READS)
def odd() -> str:
    """Have a name no model may call."""
    return "odd"


@server.tool(name="odd.name/with.marks", annotations=READS)
def odder() -> str:
    """Have a name that becomes the same."""
    return "odder"


@server.tool()
def unmarked() -> str:
    """Say nothing of whether it reads or writes."""
    return "unmarked"


@server.tool(annotations=ToolAnnotations(read_only_hint=True, destructive_hint=True))
def contradictory() -> str:
    """Claim to read and to destroy."""
    return "contradictory"


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def destroy() -> str:
    """Destroy."""
    return "destroyed"


def guarded(app: Any, wanted: str) -> Any:
    """Return `app` behind a check of its Authorization header."""

    async def check(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"").decode()
        refused = scope["type"] == "http" and given != wanted
        await (PlainTextResponse("no", status_code=401) if refused else app)(scope, receive, send)

    return check


def main(port: int) -> None:
    """Serve until killed."""
    listening = socket.create_server(("127.0.0.1", port))
    app = guarded(server.streamable_http_app(), f"Bearer {os.environ['TEST_MCP_TOKEN']}")
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])


if __name__ == "__main__":
    main(int(sys.argv[1]))
