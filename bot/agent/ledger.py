"""The public path of the ledger, under which other programs import it; it is written in run_records.py."""

from bot.agent.run_records import Ledger

__all__ = ["Ledger"]
