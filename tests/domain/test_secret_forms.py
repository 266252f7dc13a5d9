"""The version of what counts as a credential, which passages and indexes that were stored are compared by."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from bot.domain import secret_forms


def test_the_version_rises_with_the_tables() -> None:
    """Whoever changes a table raises VERSION and puts its hash here: what was stored before is read anew."""
    tables = sorted(Path(secret_forms.__file__).parent.glob("secret_*.yml"))
    assert len(tables) == 3
    digest = sha256(b"\0".join(table.read_bytes() for table in tables)).hexdigest()[:16]
    assert (secret_forms.VERSION, digest) == (13, "9d99c00bb3b7107b")
