"""A surface that writes down what it was told, and refuses when asked to."""

from __future__ import annotations

from bot.domain.alerts import Alert, Posted
from bot.errors import ProviderError


class FakeSurface:
    """Port Surface over two lists."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Alert]] = []
        self.updated: list[tuple[Posted, Alert]] = []
        self.refuses: ProviderError | None = None

    def send(self, to: str, alert: Alert) -> Posted:
        if self.refuses is not None:
            raise self.refuses
        self.sent.append((to, alert))
        return Posted(place=f"D-{to}", reference=f"ts{len(self.sent)}")

    def update(self, to: str, posted: Posted, alert: Alert) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.updated.append((posted, alert))

    @property
    def texts(self) -> list[str]:
        """What was sent, in order."""
        return [alert.text for _, alert in self.sent]
