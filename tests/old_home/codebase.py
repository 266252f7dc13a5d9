"""The checkouts of the old installation, built the same each time, so that the commits it stored exist again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.gitrepo import commit_files, make_repo

RETRY: Final = '''"""Retries of the payment gateway."""

MAX_ATTEMPTS = 5
FIRST_DELAY_S = 0.5


def backoff_delays() -> list[float]:
    """Return the pauses between attempts at the payment gateway, in seconds, doubling each time."""
    return [FIRST_DELAY_S * 2**attempt for attempt in range(MAX_ATTEMPTS - 1)]
'''
SESSIONS: Final = '''"""Signed session cookies."""

import hashlib
import hmac


def sign_session(payload: str, secret: str) -> str:
    """Return the cookie value: the payload and its HMAC-SHA256 signature."""
    digest = hmac.new(secret.encode(), payload.encode(), hashlib.sha256)
    return f"{payload}.{digest.hexdigest()}"
'''
WAREHOUSE: Final = """# The warehouse service: how long we wait for it, in seconds.

[timeouts]
connect = 2
# A pick list may take long on Mondays; the warehouse asked for this.
pick_list = 45
"""
SHOP: Final = {
    "README.md": "# shop\n\nA web shop. Orders are exported every night.\n",
    "shop/sessions.py": SESSIONS,
    "shop/retry.py": RETRY,
    "config/warehouse.toml": WAREHOUSE,
}
CHANGED: Final = {
    "shop/retry.py": RETRY.replace("doubling each time", "doubled").replace("attempt for attempt", "n for n")
}
"""A later commit: a note that cites the old line is out of date."""

CHECK: Final = "python3 check.py"
CHECK_PY: Final = """import pathlib, sys, time
pathlib.Path('begun').touch()
while pathlib.Path('hold').exists():
    time.sleep(0.02)
text = pathlib.Path('state').read_text()
print(text)
sys.exit('bad' in text)
"""
WATCHED: Final = ("api", "web", "master", "infra")
"""The sessions, each a checkout with `check.py`; HEARTBEAT.md and the file `state` are not committed."""

EDITED_REPLY: Final = "Ana's own words: `range(MAX_ATTEMPTS - 1)`, so there are four pauses."
"""What an approver wrote into a draft and saved, and did not post."""

ORDER: Final = "<@U0TRIAGE> watch the disk of web hourly from now on"
"""A spoken order whose job waits in the queue."""

LEFT: Final = ("HEARTBEAT.md", "state")


def make_shop(folder: Path) -> Path:
    """Make the codebase as it was asked about."""
    return make_repo(folder / "shop", SHOP)


def change_shop(shop: Path) -> None:
    """Commit what came later."""
    commit_files(shop, CHANGED, "second")


def make_watched(folder: Path, name: str) -> Path:
    """Make the checkout of a session, without what is not committed."""
    return make_repo(folder / name, {"check.py": CHECK_PY, ".gitignore": "HEARTBEAT.md\nstate\nbegun\nhold\n"})
