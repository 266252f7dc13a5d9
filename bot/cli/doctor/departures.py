"""The check of `triage doctor` that names where data goes from this machine; nothing is contacted."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from bot.adapters.notify import API_URL as TELEGRAM_URL
from bot.cli.doctor.context import DoctorContext, HealthCheck, well
from bot.config.environment import Environment
from bot.config.settings import Settings

THIS_MACHINE = "this machine"


def leaves(context: DoctorContext) -> HealthCheck:
    """Return each receiver of data and its host; raises NotReady."""
    settings, environment = context.settings(), context.environment
    return well("; ".join(f"{what}: {host_of(address)}" for what, address in destinations(settings, environment)))


def destinations(settings: Settings, environment: Environment) -> Iterator[tuple[str, str]]:
    """Yield what receives data, with its address or, where its own configuration names that, its name."""
    yield "Slack", environment.slack_api_url
    if settings.provider != "anthropic":
        yield "models", settings.provider
    elif environment.anthropic_api_key is not None:
        yield "models", settings.base_url or environment.anthropic_base_url or "https://api.anthropic.com"
    for name, server in settings.mcp_servers.items():
        yield f"MCP server {name}", server.url or "a program of yours"
    for name, codebase in settings.codebases.items():
        if codebase.url is not None:
            yield f"git fetch of {name}", codebase.url
    for name, session in settings.sessions.items():
        deliver = session.heartbeat.deliver
        if deliver.mode == "explicit" and deliver.channel == "telegram":
            yield f"alerts of {name}", TELEGRAM_URL
        elif deliver.mode == "explicit" and deliver.channel == "webhook" and deliver.to is not None:
            yield f"alerts of {name}", deliver.to
    if settings.sessions:
        yield "commands of checks", "what each of them contacts"
    if environment.github_token or environment.gitlab_token or environment.gitea_token:
        yield "draft pull requests", "the code host of each codebase"


def host_of(address: str) -> str:
    """Return the host of a web address or of a git remote, without credentials; what is neither, as it is.

    >>> [host_of(one) for one in ("https://me@models.example.com/v1", "git@host:a/b.git", "http://127.0.0.1:8080")]
    ['models.example.com', 'host', 'this machine']
    >>> host_of("file:///srv/shop.git"), host_of("bedrock")
    ('this machine', 'bedrock')
    """
    if "://" not in address:
        return address.partition("@")[2].partition(":")[0] or address
    parts = urlsplit(address)
    if parts.scheme == "file" or _is_loopback(parts.hostname or ""):
        return THIS_MACHINE
    return parts.hostname or address


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
