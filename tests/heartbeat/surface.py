"""A surface that writes down what it was told, and refuses when asked to."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.heartbeats.alerts import Alert, Place
from bot.errors import ProviderError


class FakeSurface:
    """Port Surface over two lists."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Alert]] = []
        self.updated: list[tuple[Place, Alert]] = []
        self.refuses: ProviderError | None = None
        self.refuses_once: ProviderError | None = None
        """The next send alone is refused."""
        self.unreachable: set[str] = set()
        """Whom nothing reaches."""
        self.meanwhile: Callable[[], object] | None = None
        """Happens once, while an alert is on its way: a click, say."""

    def send(self, to: str, alert: Alert) -> list[Place]:
        if self.refuses is not None:
            raise self.refuses
        if self.refuses_once is not None:
            error, self.refuses_once = self.refuses_once, None
            raise error
        if to in self.unreachable:
            raise ProviderError(f"the user group {to} has no members")
        self._happen()
        self.sent.append((to, alert))
        return [(f"D-{to}", f"ts{len(self.sent)}")]

    def update(self, at: Place, alert: Alert) -> None:
        if self.refuses is not None:
            raise self.refuses
        self._happen()
        self.updated.append((at, alert))

    def _happen(self) -> None:
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()

    @property
    def texts(self) -> list[str]:
        """What was sent, in order."""
        return [alert.text for _, alert in self.sent]
