"""Between a replica and its database: says when a write is done, withholds answers, cuts the replica off."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_WRITES: Final = re.compile(rb"(?:INSERT 0|UPDATE|DELETE) [1-9]|COMMIT")
"""How the server names a statement that wrote something; a transaction's are done with its COMMIT."""


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
        self._open = threading.Event()
        self._open.set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

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
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                replica, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(replica,), daemon=True).start()

    def _serve(self, replica: socket.socket) -> None:
        with replica, self._connected() as server:
            up = threading.Thread(target=self._pass_on, args=(replica, server), daemon=True)
            up.start()
            with suppress(OSError):
                self._answer(server, replica)
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

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._open.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def _answer(self, server: socket.socket, replica: socket.socket) -> None:
        """Forward message by message: one byte of kind, four of length, then the rest."""
        stream = server.makefile("rb")
        while len(head := stream.read(5)) == 5:
            body = stream.read(struct.unpack("!I", head[1:])[0] - 4)
            self._open.wait()
            if head[:1] == b"C" and _WRITES.match(body):
                with self._lock:
                    self.writes += 1
                    number = self.writes
                self._on_write(number)
            replica.sendall(head + body)
