"""The port Store over one data directory: its documents, and its journals by name."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from bot.adapters.storage.files.decision_log import DecisionLogFile
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_run_folders import FileRunFolders
from bot.adapters.storage.files.json_files import list_names
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.note_files import NoteFiles
from bot.ports import JobCounts
from bot.ports.collections import inbox_of

_INBOX: Final = inbox_of("")


class FileStore:
    """What one data directory holds."""

    shared: Final = None

    def __init__(self, home: Path, *, is_reader: bool = False) -> None:
        """With `is_reader` the directory is left as it is, whoever else writes there.

        Raises:
            StoreError: as a reader, where the directory cannot be read; one that is not there is empty.
        """
        if is_reader:
            list_names(home)
        self.files, self.documents = home, FileDocuments(home, is_reader=is_reader)
        self.notes, self.decisions = NoteFiles(home / "memory"), DecisionLogFile(home)
        self.runs = FileRunFolders(home)
        self._lock = threading.Lock()
        self._journals: dict[str, NdjsonJournal] = {}

    def journal(self, name: str) -> NdjsonJournal:
        """Return `<name>.ndjson`, or a session's inbox.ndjson; always the same one, so that its appends do not mix."""
        with self._lock:
            return self._journals.setdefault(name, NdjsonJournal(journal_path(self.files, name)))

    def job_counts(self) -> JobCounts:
        """Return how many jobs there are; raises StoreError where the queue cannot be read."""
        waiting, failed = (
            sum("_" in name and name.endswith(".json") for name in list_names(self.files / folder))
            for folder in ("queue", "queue/failed")
        )
        return JobCounts(waiting=waiting, failed=failed)


def journal_path(home: Path, name: str) -> Path:
    """Return the live file of a journal."""
    path = f"sessions/{name.removeprefix(_INBOX)}/inbox" if name.startswith(_INBOX) else name
    return home / f"{path}.ndjson"
