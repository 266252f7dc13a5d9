"""Tools of MCP servers: two published ones over stdio, and one of ours over HTTP that misbehaves on request."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot.agent.tools.base import Tool, ToolProblem
from bot.config.model_settings import McpServerSettings
from bot.errors import ConfigError
from tests import fork_server
from tests.gitrepo import git, make_repo
from tests.tables import each_row

if TYPE_CHECKING:
    from bot.adapters.mcp_tools import McpServers

TOKEN = "tok-123456-for-tests"
ENVIRON = {"TEST_MCP_TOKEN": TOKEN}
TIME = McpServerSettings(command=(sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"))
CALLABLE = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def small(starts: Path, **settings: Any) -> McpServerSettings:
    """Return a server that notes its starts in a file; on a busy machine it may take its time."""
    program = Path(__file__).with_name("small_server.py")
    return McpServerSettings(command=(sys.executable, "-S", str(program), str(starts)), **settings)


def connections(
    config: Mapping[str, McpServerSettings], environ: Mapping[str, str], *, timeout_s: float = 300
) -> McpServers:
    """Return the connections to some servers; loads the SDK, which not every process that collects tests needs."""
    from bot.adapters.mcp_tools import McpServers

    return McpServers(config, environ, timeout_s=timeout_s)


class HttpServer:
    """The HTTP server of tests/mcp_server.py in a process of its own, on one port for all its lives."""

    def __init__(self) -> None:
        self.port, self._life = 0, ExitStack()
        self.start()

    @property
    def settings(self) -> dict[str, Any]:
        """How to reach it."""
        url = f"http://127.0.0.1:{self.port}/mcp"
        return {"url": url, "headers": {"Authorization": "Bearer ${TEST_MCP_TOKEN}"}}

    def start(self) -> None:
        """Start it and wait until it listens."""
        server = fork_server.lines(
            "tests.mcp_server", str(self.port), env={**os.environ, **ENVIRON}, loads=["mcp.server", "uvicorn"]
        )
        self.process = self._life.enter_context(server)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def stop(self) -> None:
        """Kill it."""
        self._life.close()


@pytest.fixture(scope="module")
def lasting() -> Iterator[HttpServer]:
    """An HTTP server for all tests."""
    server = HttpServer()
    yield server
    server.stop()


@pytest.fixture
def http(lasting: HttpServer) -> HttpServer:
    """A running HTTP server; tools of the last test may have ended it."""
    if lasting.process.poll() is not None:
        lasting.stop()
        lasting.start()
    return lasting


class Runs:
    """Connections shared by the runs of a test."""

    def __init__(self) -> None:
        self.opened: list[McpServers] = []

    def __call__(self, *, timeout_s: float = 300, **config: McpServerSettings) -> dict[str, Tool]:
        """Return the tools of one run over servers of their own, by name; servers may take their time."""
        servers = connections(config, ENVIRON, timeout_s=timeout_s)
        self.opened.append(servers)
        return {tool.name: tool for tool in servers.tools()}


@pytest.fixture
def run() -> Iterator[Runs]:
    """Makes tools, and closes what they opened."""
    runs = Runs()
    yield runs
    for servers in runs.opened:
        servers.close()


def web(http: HttpServer, **changes: Any) -> McpServerSettings:
    return McpServerSettings.model_validate({**http.settings, **changes})


def test_a_published_git_server_answers_and_only_its_reading_tools_are_offered(tmp_path: Path, run: Runs) -> None:
    """Tools carry the server's name; those that commit, reset or check out are not there."""
    code = make_repo(tmp_path / "code", {"a.txt": "x\n"})
    command = (sys.executable, "-m", "mcp_server_git", "--repository", str(code))
    tools = run(git=McpServerSettings(command=command))
    assert "first" in tools["git__git_log"].call({"repo_path": str(code)})
    assert {"git__git_show", "git__git_status"} <= tools.keys()
    assert not {"git__git_commit", "git__git_reset", "git__git_checkout", "git__git_add"} & tools.keys()
    assert git(code, "rev-list", "--count", "HEAD") == "1"


def test_a_published_time_server_answers_and_its_errors_are_told(run: Runs) -> None:
    """What a server reports as an error is a problem told to the model."""
    (current, *_) = (tool for name, tool in run(time=TIME).items() if "current" in name)
    assert "Asia/Tokyo" in current.call({"timezone": "Asia/Tokyo"})
    with pytest.raises(ToolProblem, match="time reports an error"):
        current.call({"timezone": "Middle/Earth"})


def test_a_server_is_asked_by_http(http: HttpServer, run: Runs) -> None:
    """The header lets the call through."""
    assert run(web=web(http))["web__query"].call({"expr": "rate(errors[5m])"}).startswith("rate(errors[5m]) every 60 s")


def test_a_wrong_token_leaves_the_server_unavailable(http: HttpServer) -> None:
    """The model is given one tool that says so, and nothing raises."""
    servers = connections({"web": web(http)}, {"TEST_MCP_TOKEN": "wrong-token"})
    try:
        (tool,) = servers.tools()
        assert tool.name == "web__unavailable"
        with pytest.raises(ToolProblem, match="web does not answer"):
            tool.call({})
    finally:
        servers.close()


def test_a_variable_that_is_not_set_is_refused_at_once() -> None:
    """The operator is told which variable which server needs, and its value is never shown."""
    settings = McpServerSettings(url="http://127.0.0.1:1/mcp", headers={"Authorization": "Bearer ${NOT_SET}"})
    with pytest.raises(ConfigError, match=r"mcp_servers\.web\.headers: NOT_SET is not set"):
        connections({"web": settings}, {})
    with pytest.raises(ConfigError, match="line end"):
        connections({"web": settings}, {"NOT_SET": "a\r\nX-Evil: b"})


def test_only_tools_marked_read_only_are_offered(http: HttpServer, run: Runs) -> None:
    """Unmarked, destructive and contradictory tools are not."""
    assert (
        not {"web__unmarked", "web__destroy", "web__contradictory", "web__change_and_die"} & run(web=web(http)).keys()
    )


def test_a_list_of_tools_is_final(http: HttpServer, run: Runs) -> None:
    """Named tools are offered whatever they say of themselves, others are not."""
    tools = run(web=web(http, tools=["unmarked", "destroy", "not_there"]))
    assert tools.keys() == {"web__unmarked", "web__destroy"}


def test_names_are_callable_and_distinct(http: HttpServer, run: Runs) -> None:
    """Names a model may not call are rewritten, and two that would become one are told apart."""
    tools = run(web=web(http))
    assert all(CALLABLE.fullmatch(name) for name in tools)
    odd = [tool for name, tool in tools.items() if "odd_name" in name]
    assert sorted(tool.call({}) for tool in odd) == ["odd", "odder"]


def test_output_is_redacted_and_capped(http: HttpServer, run: Runs) -> None:
    """The server's own token never comes back, and what is cut is counted."""
    shown = run(web=web(http))["web__flood"].call({})
    assert TOKEN not in shown
    assert re.search(r"truncated: 24000 of 100\d+ characters shown; narrow the query$", shown)


def test_a_call_that_hangs_ends_in_time_and_the_connection_stands(http: HttpServer, run: Runs) -> None:
    """The limit holds for each call, and the next one is answered."""
    tools = run(web=web(http))
    server = run.opened[-1]._servers[0]
    server._timeout_s = 0.5  # from now on: to connect may take a busy machine longer
    with pytest.raises(ToolProblem, match=r"web does not answer: no answer within 0\.5 s"):
        tools["web__hang"].call({})
    server._timeout_s = 300
    assert "up" in tools["web__query"].call({"expr": "up"})


def test_a_server_that_never_answers_is_given_up_in_time(run: Runs) -> None:
    """A process that starts and says nothing costs its limit, at most."""
    silent = McpServerSettings(command=(sys.executable, "-c", "import sys; sys.stdin.read()"))
    assert "silent__unavailable" in run(silent=silent, timeout_s=1)


def test_a_failing_tool_is_told(http: HttpServer, run: Runs) -> None:
    """The model reads what went wrong."""
    with pytest.raises(ToolProblem, match="the disk is on fire"):
        run(web=web(http))["web__fail"].call({})


def test_a_server_that_was_restarted_is_connected_anew(http: HttpServer, run: Runs) -> None:
    """The call after the restart is answered by the new process."""
    tools = run(web=web(http))
    before = tools["web__query"].call({"expr": "up"})
    http.stop()
    http.start()
    after = tools["web__query"].call({"expr": "up"})
    assert after.startswith("up every")
    assert after != before


def test_a_server_that_stays_dead_is_reported(http: HttpServer, run: Runs) -> None:
    """The connection that breaks off, and the one that cannot be made again, are problems told to the model."""
    tools = run(web=web(http), timeout_s=600)  # nobody waits for so long
    with pytest.raises(ToolProblem, match="web does not answer"):
        tools["web__die"].call({})
    http.process.wait()
    with pytest.raises(ToolProblem, match="web does not answer"):
        tools["web__query"].call({"expr": "up"})


def test_a_child_process_that_died_is_started_anew(tmp_path: Path, run: Runs) -> None:
    """Over stdio a call finds the process dead, starts another and is answered."""
    starts = tmp_path / "starts"
    tools = run(small=small(starts))
    first = int(starts.read_text())
    os.kill(first, signal.SIGKILL)
    with suppress(ChildProcessError):  # buried already
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert "PATH" in tools["small__environment"].call({})
    assert len(starts.read_text().split()) == 2


def test_a_call_that_may_have_changed_something_is_not_repeated(http: HttpServer, run: Runs) -> None:
    """A tool that is not read-only is told to be in doubt when its connection breaks off."""
    tools = run(web=web(http, tools=["change_and_die"]))
    with pytest.raises(ToolProblem, match="whether the call took effect is unknown"):
        tools["web__change_and_die"].call({})
    http.process.wait()


def test_a_child_process_sees_no_secret_it_was_not_given(tmp_path: Path) -> None:
    """Of the environment it gets PATH, proxies and the like, and the variables named for it."""
    environ = {
        **ENVIRON,
        "https_proxy": "p",
        "SSH_AUTH_SOCK": "s",
        "SLACK_BOT_TOKEN": "xoxb-1",
        "ANTHROPIC_API_KEY": "sk-1",
        "SPY_TOKEN": "s",
    }
    servers = connections({"spy": small(tmp_path / "starts", env=("SPY_TOKEN", "ABSENT"))}, environ)
    try:
        (tool,) = servers.tools()
        seen = tool.call({})
        assert all(name in seen for name in ("SPY_TOKEN", "https_proxy", "SSH_AUTH_SOCK"))
        assert not re.search("SLACK|ANTHROPIC|TEST_MCP_TOKEN|ABSENT", seen)
    finally:
        servers.close()


def test_runs_share_connections(http: HttpServer) -> None:
    """Calls from several threads go over one connection each server."""
    servers = connections({"web": web(http)}, ENVIRON)
    try:
        runs = [{tool.name: tool for tool in servers.tools()} for _ in range(4)]

        def ask(at: int) -> list[str]:
            return [runs[at]["web__query"].call({"expr": f"run{at} call{n}"}) for n in range(10)]

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(ask, range(4)))
        assert all(f"run{at} call{n} every" in answers[at][n] for at in range(4) for n in range(10))
    finally:
        servers.close()


def test_nothing_is_connected_before_the_first_use_nor_after_the_end(tmp_path: Path) -> None:
    """A server starts with the first run's tools, ends with `close`, and is not started again."""
    starts = tmp_path / "starts"
    servers = connections({"small": small(starts)}, {})
    assert not starts.exists()
    (tool,) = servers.tools()
    servers.close()
    with pytest.raises(ToolProblem, match="shutting down"):
        tool.call({})
    assert len(starts.read_text().split()) == 1


@each_row(
    "settings, problem",
    [
        ({}, "either a command or a url"),
        ({"command": ["a"], "url": "http://a/"}, "either a command or a url"),
        ({"command": []}, "command is empty"),
        ({"command": ["a"], "headers": {"A": "${B}"}}, "headers belong to a url"),
        ({"url": "http://a/", "env": ["A"]}, "env belongs to a command"),
        ({"url": "http://a/", "headers": {"Authorization": "Bearer abc"}}, "take its value from the environment"),
        ({"url": "http://user:pw@a/"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"command": ["a"], "shell": True}, "shell"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], problem: str) -> None:
    """Each mistake is named."""
    with pytest.raises(ValueError, match=problem):
        McpServerSettings.model_validate(settings)
