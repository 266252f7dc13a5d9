"""Says whether Slack sent a request, from its bytes alone; what it did not send is neither parsed, kept nor logged.

A signature counts once: the same signed request again is a replay, and refused as long as its timestamp would pass.
Source: https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from slack_sdk.signature import Clock as SdkClock
from slack_sdk.signature import SignatureVerifier

from bot.ports import Clock

REMEMBERED_S: Final = 600.0
"""Twice the window of 5 min: a timestamp may lie that far in the future and then that far in the past."""
MAX_REMEMBERED: Final = 20_000
"""More than Slack sends in 10 min (30,000 events an hour), so that only what has expired is forgotten."""
_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
_SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}")


class Signatures:
    """Checks signatures and remembers those it accepted."""

    def __init__(self, signing_secret: str, clock: Clock) -> None:
        self._clock = clock
        self._verifier = SignatureVerifier(signing_secret, _SameClock(clock))
        self._seen: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def accept(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Whether Slack signed these bytes within 5 min of now, and they have not been accepted before."""
        timestamp = headers.get("x-slack-request-timestamp", "")
        signature = headers.get("x-slack-signature", "")
        return self._is_genuine(body, timestamp, signature) and self._is_first(signature)

    def forget(self, headers: Mapping[str, str]) -> None:
        """Let a request come again that could not be taken."""
        with self._lock:
            self._seen.pop(headers.get("x-slack-signature", ""), None)

    def _is_genuine(self, body: bytes, timestamp: str, signature: str) -> bool:
        """Ask the SDK, after ruling out what it would stumble over: numbers, signatures and text that are none."""
        if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(signature):
            return False
        try:
            return bool(self._verifier.is_valid(body, timestamp, signature))
        except UnicodeDecodeError:
            return False

    def _is_first(self, signature: str) -> bool:
        now = self._clock.now().timestamp()
        with self._lock:
            while self._seen and (len(self._seen) >= MAX_REMEMBERED or next(iter(self._seen.values())) <= now):
                self._seen.popitem(last=False)
            if signature in self._seen:
                return False
            self._seen[signature] = now + REMEMBERED_S
            return True


class _SameClock(SdkClock):
    """The SDK's clock over ours."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return self._clock.now().timestamp()
