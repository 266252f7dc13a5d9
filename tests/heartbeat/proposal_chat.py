"""Port ProposalChat in memory."""

from __future__ import annotations

from bot.domain.playbooks.proposals import Proposal


class FakeChat:
    """What was shown and said; `breaks` names the calls that fail, and how."""

    def __init__(self) -> None:
        self.cards: dict[str, Proposal] = {}
        self.said: list[str] = []
        self.breaks: dict[str, Exception] = {}

    def show(self, proposal: Proposal) -> tuple[str, str]:
        self._break("show")
        known = (ts for ts, one in self.cards.items() if one.id == proposal.id)
        ts = proposal.card_ts or next(known, f"card {len(self.cards)}")
        self.cards[ts] = proposal
        return "C0OPS", ts

    def say_done(self, proposal: Proposal) -> str:
        self._break("say")
        self.said.append(proposal.id)
        self._break("said")
        return "said"

    def find_said(self, proposal: Proposal) -> str | None:
        return "said" if proposal.id in self.said else None

    def _break(self, name: str) -> None:
        if name in self.breaks:
            raise self.breaks[name]
