"""Builds the process's one line to Slack, for all its teams: Socket Mode or HTTP."""

from __future__ import annotations

from concurrent.futures import Executor

from slack_bolt import App
from slack_sdk import WebClient

from bot.composition.process import Process
from bot.ports.collections import PRESENCE
from handlers.home import HomeTab
from handlers.routes import bolt_app
from handlers.team_router import TeamRouter
from handlers.transport.http_app import Signatures
from handlers.transport.http_connection import HttpConnection
from handlers.transport.presence_record import NoConnection, OnSession, PresenceRecord
from handlers.transport.socket_connection import SlackConnection, socket_client
from handlers.transport.tls import tls_context


def connect_to_slack(
    process: Process,
    router: TeamRouter,
    home: HomeTab,
    executor: Executor,
    *,
    bot_token: str,
    ear_secret: str | None,
    on_session: OnSession,
) -> SlackConnection | HttpConnection | NoConnection:
    """Return the process's one line to Slack, for all teams; `ear_secret` is the app token, or the signing secret.

    None: this process has no line.
    """
    if ear_secret is None:
        return NoConnection(process.single(PRESENCE, of_machine=True), process.clock)
    bolt = bolt_app(bot_token, process.environment.slack_api_url, process.slack.me, router, home, executor)
    connect = _over_http if process.settings.slack.mode == "http" else _over_socket
    return connect(process, bolt, ear_secret, on_session)


def _over_socket(process: Process, bolt: App, app_token: str, on_session: OnSession) -> SlackConnection:
    web_client = WebClient(token=app_token, base_url=process.environment.slack_api_url, ssl=tls_context())
    return SlackConnection(
        bolt,
        socket_client(bolt, app_token, web_client),
        presence=_presence(process),
        clock=process.clock,
        on_session=on_session,
    )


def _over_http(process: Process, bolt: App, signing_secret: str, on_session: OnSession) -> HttpConnection:
    return HttpConnection(
        bolt,
        Signatures(signing_secret, process.clock),
        host=process.settings.slack.http.host,
        port=process.settings.slack.http.port,
        presence=_presence(process),
        clock=process.clock,
        on_session=on_session,
    )


def _presence(process: Process) -> PresenceRecord:
    """Return where a line writes how it is: with a database, on its machine as well."""
    own = process.single(PRESENCE, of_machine=True) if process.engine.is_shared else None
    return PresenceRecord(process.single(PRESENCE), process.clock, own=own)
