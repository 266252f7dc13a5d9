"""A small codebase the journeys ask about."""

SHOP = {
    "README.md": "# shop\n\nA web shop. Orders are exported every night.\n",
    "shop/sessions.py": '''"""Signed session cookies."""

import hashlib
import hmac


def sign_session(payload: str, secret: str) -> str:
    """Return the cookie value: the payload and its HMAC-SHA256 signature."""
    digest = hmac.new(secret.encode(), payload.encode(), hashlib.sha256)
    return f"{payload}.{digest.hexdigest()}"


def verify_session(cookie: str, secret: str) -> str | None:
    """Return the payload of a cookie, or None if its signature is wrong."""
    payload, _, signature = cookie.rpartition(".")
    expected = sign_session(payload, secret).rpartition(".")[2]
    return payload if hmac.compare_digest(expected, signature) else None
''',
    "shop/retry.py": '''"""Retries of the payment gateway."""

MAX_ATTEMPTS = 5
FIRST_DELAY_S = 0.5


def backoff_delays() -> list[float]:
    """Return the pauses between attempts at the payment gateway, in seconds, doubling each time."""
    return [FIRST_DELAY_S * 2**attempt for attempt in range(MAX_ATTEMPTS - 1)]
''',
    "config/warehouse.toml": """# The warehouse service: how long we wait for it, in seconds.

[timeouts]
connect = 2
read = 10
# A pick list may take long on Mondays; the warehouse asked for this.
pick_list = 45
""",
    "shop/export.py": '''"""The nightly export of orders."""

EXPORT_HOUR_UTC = 2


def export_orders(orders: list[dict]) -> str:
    """Return the orders as CSV, one line each, customers left out."""
    return "\\n".join(f"{order['id']},{order['total']}" for order in orders)
''',
}

SESSIONS = "How are session cookies signed and verified?"
RETRIES = "How often do we retry the payment gateway, and with what backoff delays?"
TIMEOUTS = "What are our timeouts for the warehouse service, and why is pick_list so long?"
