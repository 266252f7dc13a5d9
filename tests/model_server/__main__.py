"""`python -m tests.model_server <script> [--port N]`: a file, or the bare name of one in scripts/; prints the URL."""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from tests.model_server import ModelServer, load_script


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.model_server", description=__doc__)
    parser.add_argument("script")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    path = Path(options.script)
    if not path.is_file():
        path = Path(__file__).parent / "scripts" / f"{options.script}.yml"
    with ModelServer(load_script(path), port=options.port) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
