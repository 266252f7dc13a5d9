"""Port ProposalStore over proposals/<id>.json, each replaced as a whole.

Only the bot writes here. What cannot be read is set aside and told to `on_damage`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from bot.adapters.storage.files.atomic_write import list_files, make_folder, read_json, replace_json, set_aside
from bot.domain.playbooks.proposals import PROPOSAL_ID, Proposal
from bot.errors import InputError


class ProposalFiles:
    """The proposals of one data directory."""

    def __init__(self, home: Path, *, on_damage: Callable[[Path], None]) -> None:
        self._folder = make_folder(home / "proposals")
        self._on_damage = on_damage
        self._lock = threading.RLock()
        self._unsettled = {one.id for one in self._all() if one.settled_at is None}

    def unsettled(self) -> Sequence[Proposal]:
        """Return those that wait for somebody, or for what their decision leads to, oldest first."""
        with self._lock:
            found = [one for name in sorted(self._unsettled) if (one := self.get(name))]
            return sorted(found, key=lambda one: one.at)

    def get(self, proposal_id: str) -> Proposal | None:
        """Return a proposal, or None; raises InputError for what is no id."""
        path = self._path(proposal_id)
        with self._lock:
            return self._read(path) if path.exists() else None

    def put(self, proposal: Proposal) -> Proposal:
        """Store a proposal; raises StoreError when the disk refuses."""
        with self._lock:
            replace_json(self._path(proposal.id), proposal.model_dump(mode="json"))
            (self._unsettled.add if proposal.settled_at is None else self._unsettled.discard)(proposal.id)
            return proposal

    def change(self, proposal_id: str, change: Callable[[Proposal], Proposal]) -> Proposal:
        """Store what `change` makes of a proposal; nothing is changed where it raises. InputError: there is none."""
        with self._lock:
            before = self.get(proposal_id)
            if before is None:
                raise InputError("This proposal is not on file any more; nothing happened.")
            after = change(before)
            return before if after == before else self.put(after)

    def _all(self) -> list[Proposal]:
        return [one for path in list_files(self._folder, "*.json") if (one := self._read(path))]

    def _path(self, proposal_id: str) -> Path:
        if not PROPOSAL_ID.fullmatch(proposal_id):
            raise InputError("This button is not one of ours, or from another version of triage; nothing happened.")
        return self._folder / f"{proposal_id}.json"

    def _read(self, path: Path) -> Proposal | None:
        try:
            found = Proposal.model_validate(read_json(path))
        except ValidationError:
            found = None
        if found is None or found.id != path.stem:
            self._on_damage(set_aside(path))
            return None
        return found
