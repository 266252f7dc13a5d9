"""How Slack's certificate is checked: by what the machine trusts, read once for a process.

Left to itself the SDK reads them all again at every call and every connection, which takes 20 ms. What is installed
meanwhile counts from the next start on.  Source: slack_sdk 3.47 and http.client of Python 3.11, measured.
"""

from __future__ import annotations

import ssl
from functools import cache


@cache
def tls_context() -> ssl.SSLContext:
    """Return the context of every client of this process."""
    return ssl.create_default_context()
