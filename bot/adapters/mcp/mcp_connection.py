"""One MCP server, for use from any thread: connected at first use, and connected again once if the connection broke.

One task of the portal's event loop holds the connection from start to end (the SDK's scopes may not change tasks);
when that task ends, every call that waits on the connection ends too. A child process gets PATH, HOME and the
variables that its settings name. Every step has a time limit. A server that cannot be reached is not tried again for
`REST_S`, so that not every run waits for it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
import httpx2
from anyio.from_thread import BlockingPortal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult
from mcp_types import Tool as Offered

from bot.config.model_settings import VARIABLE, McpServerSettings
from bot.config.network_variables import NETWORK_VARIABLES
from bot.errors import ProviderError

CLOSING_S: Final = 10.0
_EVENTS_S: Final = 300.0  # how long a stream of server events may be silent
_T = TypeVar("_T")

REST_S: Final = 30.0
MAX_PAGES: Final = 20


class ConnectionLost(ProviderError):
    """The connection is gone, or was never made; a new one may work."""


class ConnectionTimeout(ProviderError):
    """The server did not answer in time; the connection stands."""


class Refused(ProviderError):
    """The server answered that it will not; the message is the server's."""


class McpConnection:
    """A connection to the server of `settings`; open it before use, close it when it is down or done with.

    Connecting, listing and each call may take `timeout_s`.
    """

    def __init__(
        self, portal: BlockingPortal, settings: McpServerSettings, environ: Mapping[str, str], *, timeout_s: float
    ) -> None:
        self._portal, self._timeout_s = portal, timeout_s
        self._settings = settings
        self._environ = environ
        self._waiting: set[anyio.CancelScope] = set()
        self._client: Future[Client] = Future()
        self._held: Future[None] | None = None
        self._done = anyio.Event()

    def open(self) -> None:
        """Connect; raises ConnectionLost when that fails or takes too long."""
        self._held = self._portal.start_task_soon(self._hold)
        self._held.add_done_callback(self._release)
        either: set[Future[Any]] = {self._held, self._client}
        wait(either, timeout=self._timeout_s, return_when=FIRST_COMPLETED)
        if self.is_down or not self._client.done():
            self._held.cancel()
            raise ConnectionLost("it cannot be started or reached" if self._held.done() else self._slow())

    @property
    def is_down(self) -> bool:
        """Whether nothing can be asked of it any more."""
        return self._held is None or self._held.done()

    def ask(self, question: Callable[[Client], Awaitable[_T]]) -> _T:
        """Return the server's answer; raises ConnectionLost, ConnectionTimeout or Refused."""
        if self.is_down:
            raise ConnectionLost("the connection is gone")
        return self._portal.start_task_soon(self._ask, question).result()

    def close(self) -> None:
        """End the connection and, with it, the child process."""
        if self._held is not None and not self._held.done():
            self._portal.start_task_soon(self._finish).result()
            wait({self._held}, timeout=CLOSING_S)
            self._held.cancel()

    async def _hold(self) -> None:
        async with Client(self._transport(), read_timeout_seconds=self._timeout_s) as client:
            self._client.set_result(client)
            await self._done.wait()

    async def _finish(self) -> None:
        self._done.set()

    def _release(self, held: Future[None]) -> None:
        """Wake what waits for an answer that cannot come; runs in the loop's thread, unless it was cancelled."""
        for scope in () if held.cancelled() else tuple(self._waiting):
            scope.cancel()

    async def _ask(self, question: Callable[[Client], Awaitable[_T]]) -> _T:
        with anyio.move_on_after(self._timeout_s) as scope:
            self._waiting.add(scope)
            try:
                return await question(self._client.result())
            except MCPError as error:
                raise self._translated(error) from error
            except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
                raise ConnectionLost("the connection is gone") from error
            finally:
                self._waiting.discard(scope)
        if self.is_down:
            raise ConnectionLost("the connection broke off")
        raise ConnectionTimeout(self._slow())

    def _translated(self, error: MCPError) -> ProviderError:
        if error.code == CONNECTION_CLOSED:
            return ConnectionLost("the connection broke off")
        return ConnectionTimeout(self._slow()) if error.code == REQUEST_TIMEOUT else Refused(error.message)

    def _slow(self) -> str:
        return f"no answer within {self._timeout_s:g} s"

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        if self._settings.url is not None:
            limits = httpx2.Timeout(self._timeout_s, read=_EVENTS_S)
            async with (
                httpx2.AsyncClient(headers=headers(self._settings, self._environ), timeout=limits) as web,
                streamable_http_client(self._settings.url, http_client=web) as streams,
            ):
                yield streams
        else:
            with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
                async with stdio_client(_process(self._settings, self._environ), errlog=nowhere) as streams:
                    yield streams


def headers(settings: McpServerSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a server with the values of their variables; absent ones count as empty."""
    return {
        name: VARIABLE.sub(lambda match: environ.get(match[1], "").strip(), value)
        for name, value in settings.headers.items()
    }


def _process(settings: McpServerSettings, environ: Mapping[str, str]) -> StdioServerParameters:
    assert settings.command is not None
    program, *args = settings.command
    named = {name: environ[name] for name in NETWORK_VARIABLES.union(settings.env) if name in environ}
    return StdioServerParameters(command=program, args=args, env=named)


class McpServer:
    """The server `name`; `connect` makes an unopened connection to it."""

    def __init__(self, name: str, settings: McpServerSettings, connect: Callable[[], McpConnection]) -> None:
        self.name = name
        self._settings = settings
        self._connect = connect
        self._lock = threading.Lock()
        self._link: McpConnection | None = None
        self._tools: list[Offered] | None = None
        self._down: tuple[float, ConnectionLost] | None = None

    def tools(self) -> list[Offered]:
        """Return the tools a model may use, by name; raises ConnectionLost, ConnectionTimeout or Refused."""
        tools = self._tools
        if tools is None:
            listed = self._ask(_list_tools)
            tools = sorted((tool for tool in listed if self._is_allowed(tool)), key=lambda tool: tool.name)
            self._tools = tools
        return tools

    def call(self, tool: Offered, arguments: Mapping[str, Any]) -> CallToolResult:
        """Return what a tool answers; raises ConnectionLost, ConnectionTimeout or Refused.

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
        """Return the open link, made anew if need be; raises ConnectionLost."""
        with self._lock:
            if self._link is not None and not self._link.is_down:
                return self._link
            if self._down is not None and time.monotonic() < self._down[0]:
                raise ConnectionLost(str(self._down[1]))
            link = self._connect()
            try:
                link.open()
            except ConnectionLost as error:
                self._down = (time.monotonic() + REST_S, error)
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
