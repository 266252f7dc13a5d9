"""`triage doctor` says whether the remotes of clones answer, and how old the clones are."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.cli.doctor.clone_checks import check_clones
from bot.config.codebase_settings import CodebaseSettings
from bot.ports.clones import CLONE_STANDINGS, CloneStanding
from bot.ports.collections import Collection
from tests.builders import NOW
from tests.fakes import MemoryDocuments
from tests.gitrepo import make_repo


def test_each_remote_is_asked_and_nothing_is_written(tmp_path: Path) -> None:
    """One that does not answer is named with git's words and the command to try."""
    good = f"file://{make_repo(tmp_path / 'infra', {'a.txt': 'x'})}"
    codebases = {
        "docs": CodebaseSettings(url=f"file://{tmp_path}/gone"),
        "infra": CodebaseSettings(url=good),
        "shop": CodebaseSettings(path=tmp_path),
    }
    documents = MemoryDocuments()
    standing = CloneStanding(address=f"{good} HEAD", fetched_at=NOW - timedelta(minutes=3))
    Collection(documents, CLONE_STANDINGS).put("infra", standing, version=0)
    found = check_clones(codebases, tmp_path / "clones", documents, NOW)
    assert not found.ok
    assert found.says.startswith(f"docs does not answer ('{tmp_path}/gone' does not appear to be a git repository")
    assert found.says.endswith("infra answers, fetched 3 min ago")
    assert found.fix == f"as the user who runs triage, try `git ls-remote file://{tmp_path}/gone HEAD`"
    assert not (tmp_path / "clones").exists()
    well = check_clones({"infra": codebases["infra"]}, tmp_path / "clones", documents, NOW)
    assert (well.ok, well.fix) == (True, "")


def test_checkouts_of_the_operator_are_no_clones(tmp_path: Path) -> None:
    """There is nothing to ask."""
    assert check_clones({"shop": CodebaseSettings(path=tmp_path)}, tmp_path, MemoryDocuments(), NOW).ok
