"""Where the text of an error stands, and what is offered beside it."""

from pathlib import Path

from bot.domain.citations.citation_lines import parse_lines
from tests.casework.investigate.finder import ask
from tests.gitrepo import make_repo

RAISED = (
    "def check(name, cart):\n    if cart.broken:\n        raise ValueError(\n"
    '            f"INTERNAL: {name} made a cart that is not equal to"\n'
    '            " the order. Please report it."\n        )\n'
)
FILES = {
    "shop/cart.py": RAISED,
    "docs/errors.md": "# Errors\n\nINTERNAL: shop made a cart that is not equal to the order.\n",
}


def test_no_place_is_offered_twice(tmp_path: Path) -> None:
    """Lines that another quote shows are none to choose."""
    ret = ask(make_repo(tmp_path / "code", FILES), "when is a cart broken, and a report of the order made?").ret
    found = [lines for one in (*ret.evidence_refs, *ret.candidates) if (lines := parse_lines(one.ref))]
    for number, one in enumerate(found):
        assert not [two for two in found[:number] if two.path == one.path and two.start <= one.end >= two.start]
