"""A model provider that plays a script: real HTTP on loopback, `/v1/messages` streamed or not, failures included.

`with ModelServer(script) as server:` serves on a free port; `python -m tests.model_server script.yml` does so by hand.
Reading order: script.py (what a script says), templates.py (what it may ask of the request), wire.py (a turn as bytes),
caching.py (what prompt caching would have saved), server.py (who gets which turn).
"""

from tests.model_server.script import Script, Turn, load_script
from tests.model_server.server import ModelServer

__all__ = ["ModelServer", "Script", "Turn", "load_script"]
