"""One connection to one MCP server, used from any thread, every step of it limited in time.

One task of the portal's event loop holds the connection from start to end (the SDK's scopes may not change tasks); when
that task ends, whatever waits on the connection ends with it. A child process sees PATH, HOME and what settings name.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
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
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from bot.config.model_settings import VARIABLE, McpServerSettings
from bot.errors import ProviderError

CLOSING_S: Final = 10.0
_EVENTS_S: Final = 300.0  # how long a stream of server events may be silent
_T = TypeVar("_T")


class ConnectionLost(ProviderError):
    """The connection is gone, or was never made; a new one may work."""


class ConnectionTimeout(ProviderError):
    """The server did not answer in time; the connection stands."""


class Refused(ProviderError):
    """The server answered that it will not; the message is the server's."""


class McpConnection:
    """A connection to the server of `settings`; open it before use, close it when it is down or done with."""

    def __init__(self, portal: BlockingPortal, settings: McpServerSettings, environ: Mapping[str, str]) -> None:
        self._portal = portal
        self._settings = settings
        self._environ = environ
        self._waiting: set[anyio.CancelScope] = set()
        self._client: Future[Client] = Future()
        self._held: Future[None] | None = None
        self._done = anyio.Event()

    def open(self) -> None:
        """Connect; raises LinkDown when that fails or takes too long."""
        self._held = self._portal.start_task_soon(self._hold)
        self._held.add_done_callback(self._release)
        either: set[Future[Any]] = {self._held, self._client}
        wait(either, timeout=self._settings.timeout_s, return_when=FIRST_COMPLETED)
        if self.is_down or not self._client.done():
            self._held.cancel()
            raise ConnectionLost("it cannot be started or reached" if self._held.done() else self._slow())

    @property
    def is_down(self) -> bool:
        """Whether nothing can be asked of it any more."""
        return self._held is None or self._held.done()

    def ask(self, question: Callable[[Client], Awaitable[_T]]) -> _T:
        """Return the server's answer; raises LinkDown, LinkSlow or Refused."""
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
        async with Client(self._transport(), read_timeout_seconds=self._settings.timeout_s) as client:
            self._client.set_result(client)
            await self._done.wait()

    async def _finish(self) -> None:
        self._done.set()

    def _release(self, held: Future[None]) -> None:
        """Wake what waits for an answer that cannot come; runs in the loop's thread, unless it was cancelled."""
        for scope in () if held.cancelled() else tuple(self._waiting):
            scope.cancel()

    async def _ask(self, question: Callable[[Client], Awaitable[_T]]) -> _T:
        with anyio.move_on_after(self._settings.timeout_s) as scope:
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
        return f"no answer within {self._settings.timeout_s:g} s"

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        if self._settings.url is not None:
            limits = httpx2.Timeout(self._settings.timeout_s, read=_EVENTS_S)
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
    named = {name: environ[name] for name in settings.env if name in environ}
    return StdioServerParameters(command=program, args=args, env=named, cwd=settings.cwd)
