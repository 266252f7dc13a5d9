"""`triage run` that is loaded ahead and begins when its standard input ends.

    python -m tests.crashes.loaded <file> run --config …

It makes `<file>` once it is loaded. On a busy machine loading alone takes longer than a post may be on its way.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Load what `run` needs, wait for the end of the input, then become the bot."""
    loaded, *rest = arguments
    import bot.cli.run  # noqa: F401
    from bot.__main__ import main as triage

    Path(loaded).touch()
    sys.stdin.read()
    return triage(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
