"""A code host on this machine: git over HTTP for one bare repository, and the few calls of three hosts' interfaces.

It knows one token. `faults` are answered instead of a call, or after it took effect, and each once.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.gitrepo import git

TOKEN = "tok-" + "0123456789abcdef" * 2
REPOSITORY = "acme/shop"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What goes wrong with the first request whose `METHOD path` the pattern finds; status 0: no answer at all."""

    pattern: str
    status: int = 500
    body: Any = None
    page: str | None = None
    """What is answered instead of JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    takes_effect: bool = False


class CodeHost:
    """The host, its bare repository and its pull requests."""

    def __init__(self, folder: Path, kind: str = "github") -> None:
        self.kind, self.root = kind, folder
        self.bare = folder / f"{REPOSITORY}.git"
        self.bare.mkdir(parents=True)
        git(self.bare, "init", "--quiet", "--bare", "--initial-branch=main")
        git(self.bare, "config", "http.receivepack", "true")
        self.pulls: list[dict[str, Any]] = []
        self.faults: list[Fault] = []
        self.requests: list[str] = []
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"host": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.url = f"{self.origin}/{REPOSITORY}.git"

    def __enter__(self) -> CodeHost:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def publish(self, codebase: Path) -> None:
        """Make this the `origin` of a checkout, with all it has on main."""
        git(codebase, "push", "--quiet", str(self.bare), "main:main")
        git(codebase, "remote", "add", "origin", self.url)

    def branches(self) -> dict[str, str]:
        """Return the branches but main, with their commits."""
        lines = git(self.bare, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads").splitlines()
        return {name: sha for name, sha in (line.split() for line in lines) if name != "main"}

    def merge(self, number: int) -> None:
        """Merge a pull request."""
        pull, main = self.pulls[number - 1], git(self.bare, "rev-parse", "main")
        head = self.branches()[pull["head"]]
        tree = git(self.bare, "merge-tree", "--write-tree", main, head)
        merged = git(self.bare, "commit-tree", tree, "-p", main, "-p", head, "-m", f"Merge #{number}")
        git(self.bare, "update-ref", "refs/heads/main", merged)
        pull["state"] = "merged"

    def fault_of(self, what: str) -> Fault | None:
        """Return what goes wrong with a request, once."""
        with self._lock:
            self.requests.append(what)
            found = next((one for one in self.faults if re.search(one.pattern, what)), None)
            if found is not None:
                self.faults.remove(found)
            return found

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        """Return the status and the answer to a call of the interface."""
        prefix = {
            "github": f"/api/v3/repos/{REPOSITORY}",
            "gitlab": f"/api/v4/projects/{REPOSITORY}",
            "gitea": f"/api/v1/repos/{REPOSITORY}",
        }[self.kind]
        if not path.startswith(prefix):
            return 404, {"message": "Not Found"}
        rest = path.removeprefix(prefix)
        with self._lock:
            return self._called(method, rest, query, body)

    def _called(self, method: str, rest: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        name = "merge_requests" if self.kind == "gitlab" else "pulls"
        if rest == "":
            return 200, {"default_branch": "main", "name": "shop"}
        if rest == f"/{name}" and method == "POST":
            return self._open(body)
        if rest == f"/{name}":
            head = query.get("source_branch") or query.get("head", "").partition(":")[2]
            found = [self._shown(one) for one in self.pulls if head in ("", one["head"])]
            return 200, found if query.get("page", "1") == "1" else []
        if match := re.fullmatch(rf"/{name}/(\d+)", rest):
            number = int(match[1])
            if number > len(self.pulls):
                return 404, {"message": "Not Found"}
            return 200, self._shown(self.pulls[number - 1])
        return 404, {"message": "Not Found"}

    def _open(self, body: dict[str, Any]) -> tuple[int, Any]:
        head = body.get("source_branch") or body["head"]
        if head not in self.branches():
            return 422, {"message": "Validation Failed", "errors": [{"message": "head does not exist"}]}
        if any(one["head"] == head and one["state"] == "open" for one in self.pulls):
            return 409 if self.kind != "github" else 422, {"message": f"A pull request already exists for {head}."}
        self.pulls.append(
            {
                "number": len(self.pulls) + 1,
                "head": head,
                "base": body.get("target_branch") or body["base"],
                "title": body["title"],
                "body": body.get("description") or body.get("body") or "",
                "draft": bool(body.get("draft")) or body["title"].startswith(("Draft:", "WIP:")),
                "state": "open",
                "sha": self.branches()[head],
            }
        )
        return 201, self._shown(self.pulls[-1])

    def _shown(self, one: dict[str, Any]) -> dict[str, Any]:
        number, state = one["number"], one["state"]
        if self.kind == "gitlab":
            return {
                "iid": number,
                "web_url": f"{self.origin}/{REPOSITORY}/-/merge_requests/{number}",
                "state": {"open": "opened"}.get(state, state),
                "draft": one["draft"],
                "description": one["body"],
            }
        return {
            "number": number,
            "html_url": f"{self.origin}/{REPOSITORY}/pull/{number}",
            "title": one["title"],
            "state": "open" if state == "open" else "closed",
            "merged_at": "2026-11-20T10:00:00Z" if state == "merged" else None,
            "draft": one["draft"],
            "body": one["body"],
            "head": {"sha": self.branches().get(one["head"], one["sha"]), "ref": one["head"]},
        }


class _Handler(BaseHTTPRequestHandler):
    host: CodeHost
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        path = unquote(address.path)
        fault = self.host.fault_of(f"{self.command} {path}?{address.query}")
        if fault is not None and not fault.takes_effect:
            self._fail(fault)
            return
        if not self._is_known():
            self._send(401, b'{"message": "Bad credentials"}', {"WWW-Authenticate": 'Basic realm="host"'})
            return
        if path.startswith(f"/{REPOSITORY}.git/"):
            self._git(path, address.query, body, fault)
            return
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        status, answer = self.host.answer(self.command, path, query, json.loads(body or b"{}"))
        if fault is not None:
            self._fail(fault)
        else:
            self._send(status, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _is_known(self) -> bool:
        scheme, _, value = (self.headers.get("Authorization") or "").partition(" ")
        if scheme == "Basic":
            return base64.b64decode(value).decode().endswith(f":{TOKEN}")
        return value == TOKEN or self.headers.get("PRIVATE-TOKEN") == TOKEN

    def _fail(self, fault: Fault) -> None:
        if fault.status:
            body = json.dumps({} if fault.body is None else fault.body) if fault.page is None else fault.page
            self._send(fault.status, body.encode(), fault.headers)
        else:
            self.close_connection = True
            self.connection.close()

    def _git(self, path: str, query: str, body: bytes, fault: Fault | None) -> None:
        env = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.host.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
            "REMOTE_USER": "triage",
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env, check=True)
        if fault is not None:
            self._fail(fault)
            return
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self._send(int(fields.pop("Status", "200 OK").split()[0]), content, fields)

    def _send(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
