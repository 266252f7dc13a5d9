"""The variables a long run may see: what its model needs, and nothing of the chat's.

Slack's tokens are not among them, whatever the operator's environment holds: a run reads the codebase and a model's
words, and has no business in the chat. Pure.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bot.environment import Environment
from bot.settings import Settings

_PLAIN: Final = frozenset(
    {"HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TRIAGE_STALL_S"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
    | {name for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (each, each.lower())}
)
_OF_PROVIDER: Final = {
    "anthropic": ("ANTHROPIC_",),
    "bedrock": ("ANTHROPIC_", "AWS_"),
    "vertex": ("ANTHROPIC_", "GOOGLE_", "CLOUD_ML_", "CLOUDSDK_"),
    "foundry": ("ANTHROPIC_", "AZURE_"),
}


def run_environment(environment: Environment, settings: Settings) -> dict[str, str]:
    """Return the variables of a run: its model's, its MCP servers', where things lie."""
    servers = settings.mcp_servers.values()
    wanted = _PLAIN.union(*(server.variables() | frozenset(server.env) for server in servers))
    return _chosen(environment.variables, wanted, _OF_PROVIDER[settings.provider], environment.home)


def harness_environment(environment: Environment, settings: Settings) -> dict[str, str]:
    """Return the variables of another harness: as a run's, without those of the MCP servers."""
    return _chosen(environment.variables, _PLAIN, _OF_PROVIDER[settings.provider], environment.home)


def _chosen(
    variables: Mapping[str, str], names: frozenset[str], prefixes: tuple[str, ...], home: Path
) -> dict[str, str]:
    chosen = {name: value for name, value in variables.items() if name in names or name.startswith(prefixes)}
    kept = {name: value for name, value in chosen.items() if not name.startswith("SLACK_")}
    return {"PATH": variables.get("PATH") or os.defpath, **kept, "TRIAGE_HOME": str(home)}
