"""`python -m tests.journeys.hasty …` is `python -m bot …`, but what `run` and `demo` do every so often comes sooner."""

from __future__ import annotations

import sys
from functools import partial
from typing import Final

HASTE: Final = 0.1
"""The `time_scale` of a bot that tests wait for: what is looked at every ten seconds is looked at every second."""

if __name__ == "__main__":
    from bot.__main__ import main
    from bot.app import App
    from bot.cli import run

    run.App = hasty = partial(App, time_scale=HASTE)  # type: ignore[attr-defined]
    if sys.argv[1] == "demo":
        from demo import run as demo_run

        demo_run.App = hasty  # type: ignore[attr-defined]
    sys.exit(main())
