"""One MCP server as runs see it: connected at first use, connected anew once when it has died, read-only by default.

Shared by all runs and threads. A server that cannot be reached is left alone for a while, so that it costs one run its
patience and not every run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from mcp import Client
from mcp_types import CallToolResult
from mcp_types import Tool as Offered

from bot.adapters.mcp.mcp_connection import ConnectionLost, McpConnection
from bot.config.model_settings import McpServerSettings

REST_S: Final = 30.0
MAX_PAGES: Final = 20
_T = TypeVar("_T")


class McpServer:
    """The server `name`; `connect` makes an unopened link to it, `monotonic` counts seconds."""

    def __init__(
        self,
        name: str,
        settings: McpServerSettings,
        connect: Callable[[], McpConnection],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._settings = settings
        self._connect = connect
        self._now = monotonic
        self._lock = threading.Lock()
        self._link: McpConnection | None = None
        self._tools: list[Offered] | None = None
        self._down: tuple[float, ConnectionLost] | None = None

    def tools(self) -> list[Offered]:
        """Return the tools a model may use, by name; raises LinkDown, LinkSlow or Refused."""
        tools = self._tools
        if tools is None:
            listed = self._ask(_list_tools)
            tools = sorted((tool for tool in listed if self._is_allowed(tool)), key=lambda tool: tool.name)
            self._tools = tools
        return tools

    def call(self, tool: Offered, arguments: Mapping[str, Any]) -> CallToolResult:
        """Return what a tool answers; raises LinkDown, LinkSlow or Refused.

        After a broken connection the call is made again, unless the tool may have changed something.
        """
        return self._ask(lambda client: client.call_tool(tool.name, dict(arguments)), again=_is_read_only(tool))

    def close(self) -> None:
        """End the connection; a later use would make a new one."""
        with self._lock:
            link, self._link = self._link, None
        if link is not None:
            link.close()

    def _ask(self, question: Callable[[Client], Awaitable[_T]], *, again: bool = True) -> _T:
        link = self._current()
        try:
            return link.ask(question)
        except ConnectionLost:
            self._drop(link)
            if not again:
                raise ConnectionLost("the connection broke off; whether the call took effect is unknown") from None
        return self._current().ask(question)

    def _current(self) -> McpConnection:
        """Return the open link, made anew if need be; raises LinkDown."""
        with self._lock:
            if self._link is not None and not self._link.is_down:
                return self._link
            if self._down is not None and self._now() < self._down[0]:
                raise ConnectionLost(str(self._down[1]))
            link = self._connect()
            try:
                link.open()
            except ConnectionLost as error:
                self._down = (self._now() + REST_S, error)
                raise
            self._link, self._down = link, None
            return link

    def _drop(self, link: McpConnection) -> None:
        with self._lock:
            if self._link is link:
                self._link = None
        link.close()

    def _is_allowed(self, tool: Offered) -> bool:
        if self._settings.tools is not None:
            return tool.name in self._settings.tools
        return _is_read_only(tool)


def _is_read_only(tool: Offered) -> bool:
    hints = tool.annotations
    return hints is not None and hints.read_only_hint is True and hints.destructive_hint is not True


async def _list_tools(client: Client) -> Sequence[Offered]:
    """Return every tool of a server, page by page."""
    found: list[Offered] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found.extend(page.tools)
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
