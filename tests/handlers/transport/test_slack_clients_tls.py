"""One way to check certificates for all clients of a process."""

from __future__ import annotations

import ssl

from handlers.transport.slack_clients import (
    brief_client,
    history_client,
    posting_client,
    repeatable_client,
    tls_context,
)

API = "https://slack.com/api/"


def test_all_clients_share_what_checks_certificates() -> None:
    """It is read once, and it checks the certificate and its name."""
    clients = [make("xoxb-1", API) for make in (repeatable_client, posting_client, history_client)]
    clients.append(brief_client("xoxb-1", API, timeout_s=1))
    assert {id(client.ssl) for client in clients} == {id(tls_context())}
    assert (tls_context().verify_mode, tls_context().check_hostname) == (ssl.CERT_REQUIRED, True)
