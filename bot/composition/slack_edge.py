"""Builds the process's one line to Slack, for all its teams: Socket Mode or HTTP."""

from __future__ import annotations

from concurrent.futures import Executor

from bot.composition.process import Process
from bot.ports.collections import PRESENCE
from handlers.home import HomeTab
from handlers.routes import bolt_app
from handlers.team_router import TeamRouter
from handlers.transport.connection import Connection, OnGap
from handlers.transport.slack_clients import brief_client
from handlers.transport.socket_connection import CONNECT_TIMEOUT_S, SocketConnection, socket_client


def connect_to_slack(
    process: Process,
    router: TeamRouter,
    home: HomeTab,
    executor: Executor,
    *,
    ear_secret: str | None,
    on_gap: OnGap,
) -> Connection:
    """Return the process's one line to Slack, for all teams; `ear_secret` is the app token, or the signing secret.

    None: this process has no line.
    """
    clock, slack = process.clock, process.settings.slack
    of_machine = process.single(PRESENCE, of_machine=True)
    if ear_secret is None:
        return Connection([of_machine], clock, on_gap, hears=False)
    places = [process.single(PRESENCE), *([of_machine] if process.engine.is_shared else [])]
    bolt = bolt_app(process.slack.client, process.slack.me, router, home, executor)
    if slack.mode == "socket":
        web_client = brief_client(ear_secret, process.environment.slack_api_url, timeout_s=CONNECT_TIMEOUT_S)
        return SocketConnection(bolt, socket_client(bolt, web_client), places, clock, on_gap)
    from handlers.transport.http_app import Signatures
    from handlers.transport.http_connection import HttpConnection
    from handlers.transport.http_server import HttpServer  # takes 50 ms and 3 MB to import

    host, port = slack.listens_on
    server = HttpServer(host=host, port=port)
    return HttpConnection(bolt, Signatures(ear_secret, clock), server, places, clock, on_gap)
