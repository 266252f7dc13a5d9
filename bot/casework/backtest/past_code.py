"""A codebase as it was at a moment: a bare copy without objects of its own, whose HEAD moves along the history.

Everything that reads HEAD (search, history, citations) then sees that time and nothing later. The index moves along
and reads only the files that changed, so the questions should come in the order of their times.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from bot.agent.git.git_process import GitProcess
from bot.agent.git.git_repo import GitRepo


class PastCode:
    """The copy of `source` in `folder`, which is made; raises ProviderError where git fails."""

    def __init__(self, source: GitRepo, folder: Path) -> None:
        self.head = source.head()
        folder.mkdir(parents=True)
        git = GitProcess(folder).with_variables({"GIT_DEFAULT_REF_FORMAT": "files"})  # so that HEAD is a file
        form = source.process.run("rev-parse", "--show-object-format").decode().strip()
        git.run("init", "--quiet", "--bare", f"--object-format={form}")
        shared = source.folder.shared
        (folder / "objects" / "info" / "alternates").write_text(f"{shared / 'objects'}\n", "utf-8")
        if source.is_shallow():
            (folder / "shallow").write_bytes((shared / "shallow").read_bytes())
        self.repo = GitRepo(folder)
        self.move_to(self.head)
        listed = self.repo.process.run("rev-list", "--first-parent", "--timestamp", self.head).split()
        self._timeline = [(int(at), sha.decode()) for at, sha in zip(listed[::2], listed[1::2], strict=True)]

    def commit_before(self, at: datetime) -> str | None:
        """Return the last commit of the default branch before a moment; None where it has none that old."""
        return next((sha for made_s, sha in self._timeline if made_s <= at.timestamp()), None)

    def move_to(self, commit: str) -> None:
        """Make a commit HEAD; this process alone does, so the file is written without git."""
        (self.repo.root / "HEAD").write_text(f"{commit}\n", "utf-8")
