"""The variables by which programs reach other machines; commands of beats, MCP servers and git that pushes see them."""

from __future__ import annotations

from typing import Final

NETWORK_VARIABLES: Final = frozenset(
    {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}
    | {"GIT_SSL_CAINFO", "GIT_SSL_CAPATH"}
    | {"SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"}
    | {name for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (each, each.lower())}
)
"""Proxies, certificates and ssh. None holds a secret of triage; a proxy's address may hold a password of its own."""
