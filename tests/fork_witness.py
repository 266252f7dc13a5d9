"""Says what a forked process is like, or waits to be ended."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    if "--wait" in sys.argv:
        signal.pause()
    handlers = {signal.getsignal(number) for number in (signal.SIGINT, signal.SIGCHLD)}
    print(
        sys.argv[1:], Path.cwd(), dict(os.environ), handlers == {signal.default_int_handler, signal.SIG_DFL}, sep="\n"
    )
    atexit.register(print, "at exit")
    sys.exit(3)
