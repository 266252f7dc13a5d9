"""`python -m reference [--check] [--root DIR]`: bring the generated documentation up to date, or say what is not."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from reference.links import dead_links
from reference.mentions import missing_files, unknown_commands
from reference.pages import differences, pages, write
from reference.settings import Undescribed
from reference.walks import wrong_walks

HERE = Path(__file__).resolve().parents[1]


def main(argv: list[str] | None = None) -> int:
    """Return 0 where all is well, 1 where something has to be done; it is printed."""
    parser = argparse.ArgumentParser(prog="python -m reference", description="The generated parts of README and docs/.")
    parser.add_argument("--check", action="store_true", help="write nothing; say what is out of date or leads nowhere")
    parser.add_argument("--root", type=Path, default=HERE, help="the checkout (default: this one)")
    args = parser.parse_args(argv)
    try:
        return _check(args.root) if args.check else _write(args.root)
    except Undescribed as error:
        print(f"docs: these say nothing of what they do, give each a docstring below it: {error}", file=sys.stderr)
        return 1


def _write(root: Path) -> int:
    for path in write(root):
        print(f"docs: wrote {path.relative_to(root)}")
    return 0


def _check(root: Path) -> int:
    stale = list(differences(root))
    written = pages(root)
    wrong = [
        *dead_links(written, root),
        *unknown_commands(written, root),
        *missing_files(written, root),
        *wrong_walks(written, root),
    ]
    for text in [*stale, *wrong]:
        print(text, file=sys.stderr)
    if stale:
        print("docs: out of date; run make docs", file=sys.stderr)
    if wrong:
        print(f"docs: {len(wrong)} to be put right by hand, above", file=sys.stderr)
    return 1 if stale or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
