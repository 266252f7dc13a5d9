"""What programs that use the public seams rely on: proof of citations, and secrets that are blacked out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.casework.checks import check_return, ref_marks
from bot.domain.returns import InvestigatorReturn
from bot.domain.secrets import redact
from tests.gitrepo import commit_files, git

PLACE = "shop/retry.py:3-3"
LINE = "MAX_ATTEMPTS = 5"


def marks(shop: Path, *refs: dict[str, Any]) -> list[bool | None]:
    """Return the marks of a return with these citations."""
    head = git(shop, "rev-parse", "HEAD").strip()
    found = InvestigatorReturn.model_validate(
        {
            "draft_reply": "It is tried five times.",
            "summary_for_orchestrator": "Found.",
            "confidence": "medium",
            "confidence_reason": "One line.",
            "investigator_round": 1,
            "evidence_refs": [
                {"kind": "file", "commit": head, "supports_claim": "It says so.", "quote": LINE, **ref} for ref in refs
            ],
        }
    )
    return ref_marks(check_return(found, repo=shop, ledger=None), len(refs))


def test_a_fabricated_citation_proves_nothing(shop: Path) -> None:
    """Path, line, content or commit: whichever is made up; the true one beside it is proved."""
    made_up = (
        {"ref": "shop/retries.py:3-3"},
        {"ref": "shop/retry.py:900-900"},
        {"ref": PLACE, "quote": "MAX_ATTEMPTS = 6"},
        {"ref": PLACE, "commit": "0" * 40},
    )
    assert marks(shop, {"ref": PLACE}, *made_up) == [True, False, False, False, False]


def test_a_citation_of_a_withheld_file_proves_nothing(shop: Path) -> None:
    """It exists for nobody, whatever it really holds."""
    commit_files(shop, {".env": "LIMIT=1\n", "deploy/id_rsa": "LIMIT=1\n"})
    assert marks(shop, *({"ref": f"{name}:1-1", "quote": "LIMIT=1"} for name in (".env", "deploy/id_rsa"))) == [
        False,
        False,
    ]


def test_a_citation_of_the_work_tree_proves_nothing(shop: Path) -> None:
    """Only what is committed is evidence."""
    (shop / "shop" / "new.py").write_text("LIMIT = 1\n")
    assert marks(shop, {"ref": "shop/new.py:1-1", "quote": "LIMIT = 1"}) == [False]


@pytest.mark.parametrize(
    "secret", ["xoxb-1234567890-abcdefghijklmnop", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "AKIAIOSFODNN7EXAMPLE"]
)
def test_a_credential_is_blacked_out(secret: str) -> None:
    """Wherever it stands in a text; what stands around it stays."""
    found = redact(f"before {secret} after")
    assert secret not in found
    assert found.startswith("before ")
    assert found.endswith(" after")
