"""The TLS context of all Slack clients: the machine's trusted certificates, read once for a process.

The SDK itself reads them at every call and every connection, which takes 20 ms. Certificates that are installed
meanwhile count from the next start on. Source: slack_sdk 3.47 and http.client of Python 3.11, measured.
"""

from __future__ import annotations

import ssl
from functools import cache


@cache
def tls_context() -> ssl.SSLContext:
    """Return the context of every client of this process."""
    return ssl.create_default_context()
