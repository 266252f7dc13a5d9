"""Between a replica and its database: says when a write is done, kills at a statement, cuts the replica off."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.crashes.moments import Moment

_WRITES: Final = re.compile(rb"(?:INSERT 0|UPDATE|DELETE) [1-9]|COMMIT")
"""How the server names a statement that wrote something; a transaction's are done with its COMMIT."""


@dataclass
class Trap:
    """Does `deed` at a moment, once; its pattern matches the SQL of a statement."""

    moment: Moment
    deed: Callable[[], object]
    met: int = 0

    def is_met(self, sql: str | None) -> bool:
        """Return whether this is the statement of the moment."""
        if sql is None or not self.moment.is_of(sql):
            return False
        self.met += 1
        return self.met == self.moment.nth


@dataclass
class Statements:
    """The statements of one connection, read from the messages that go to the server."""

    prepared: dict[bytes, str] = field(default_factory=dict)

    def read(self, kind: bytes, body: bytes) -> str | None:
        """Return the SQL that a message has the server carry out."""
        if kind == b"P":
            name, sql, _ = body.split(b"\0", 2)
            self.prepared[name] = sql.decode()
        if kind == b"Q":  # what has no parameters: BEGIN, COMMIT
            return body.rstrip(b"\0").decode()
        return self.prepared[body.split(b"\0", 2)[1]] if kind == b"B" else None


class DatabaseProxy:
    """One replica's way to the server; `on_write` gets the number of each write before the replica hears of it."""

    def __init__(self, url: str, on_write: Callable[[int], object] = lambda _: None) -> None:
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        known = conninfo_to_dict(url)
        self._upstream = str(known["host"]), int(known.get("port") or 5432)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = make_conninfo(
            url, host="127.0.0.1", port=self._listener.getsockname()[1], sslmode="disable", gssencmode="disable"
        )
        self._on_write, self.writes = on_write, 0
        self._trap: Trap | None = None
        self._open = threading.Event()
        self._open.set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, moment: Moment | None, deed: Callable[[], object]) -> None:
        """Do `deed` before the server gets a statement, or once what it wrote is committed and nobody knows of it."""
        self._trap = None if moment is None else Trap(moment, deed)

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Forward nothing meanwhile, in either direction; connections stay open and hang."""
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    def close(self) -> None:
        """Take no more connections."""
        self._open.set()
        self._listener.shutdown(socket.SHUT_RDWR)  # a close alone leaves its thread in accept
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                replica, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(replica,), daemon=True).start()

    def _serve(self, replica: socket.socket) -> None:
        with replica, self._connected() as server:
            doomed = threading.Event()
            up = threading.Thread(target=self._ask, args=(replica, server, doomed), daemon=True)
            up.start()
            with suppress(OSError):
                self._answer(server, replica, doomed)
            for end in (replica, server):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            up.join()

    def _connected(self) -> socket.socket:
        host, port = self._upstream
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(Path(host) / f".s.PGSQL.{port}"))
        return server

    def _ask(self, replica: socket.socket, server: socket.socket, doomed: threading.Event) -> None:
        """Forward message by message: one byte of kind, which the first one lacks, four of length, then the rest."""
        statements = Statements()
        with suppress(OSError):
            stream = replica.makefile("rb")
            kind = b""
            while len(length := stream.read(4)) == 4:
                body = stream.read(struct.unpack("!I", length)[0] - 4)
                self._open.wait()
                what, trap = statements.read(kind, body), self._trap
                if trap is not None and trap.is_met(what):
                    if not trap.moment.after:
                        trap.deed()
                        server.shutdown(socket.SHUT_RDWR)  # the server waits for the rest of a message for ever
                        return
                    doomed.set()
                server.sendall(kind + length + body)
                kind = stream.read(1)
            server.shutdown(socket.SHUT_WR)

    def _answer(self, server: socket.socket, replica: socket.socket, doomed: threading.Event) -> None:
        """Forward message by message."""
        stream = server.makefile("rb")
        while len(head := stream.read(5)) == 5:
            body = stream.read(struct.unpack("!I", head[1:])[0] - 4)
            self._open.wait()
            if head[:1] == b"C" and _WRITES.match(body):
                with self._lock:
                    self.writes += 1
                    number = self.writes
                self._on_write(number)
            if head[:1] == b"Z" and body == b"I" and doomed.is_set() and (trap := self._trap) is not None:
                trap.deed()
                return
            replica.sendall(head + body)
