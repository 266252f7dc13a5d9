"""`triage doctor` says whether the remotes of clones answer, and how old the clones are."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.casework.reports.code_standings import CLONE_STANDINGS, CloneStanding
from bot.cli.doctor.code_checks import clones
from bot.cli.doctor.context import DoctorContext
from bot.config.environment import read_environment
from bot.ports.collections import Collection
from tests.builders import NOW
from tests.gitrepo import make_repo


def patient(home: Path, **codebases: Any) -> DoctorContext:
    """Return a data directory whose triage.yml names these."""
    home.mkdir(exist_ok=True)
    config = home / "triage.yml"
    config.write_text(yaml.safe_dump({"codebases": codebases, "ops_channel": "C0OPS"}))
    return DoctorContext(home=home, config=config, environment=read_environment({}), now=NOW)


def test_each_remote_is_asked_and_nothing_is_cloned(tmp_path: Path) -> None:
    """One that does not answer is named with git's words and the command to try."""
    good = f"file://{make_repo(tmp_path / 'infra', {'a.txt': 'x'})}"
    home = tmp_path / "home"
    standing = CloneStanding(address=f"{good} HEAD", fetched_at=NOW - timedelta(minutes=3))
    Collection(FileDocuments(home), CLONE_STANDINGS).put("infra", standing, version=0)
    gone = f"file://{tmp_path}/gone"
    found = clones(patient(home, docs={"url": gone}, infra={"url": good}, shop={"path": str(tmp_path)}))
    assert not found.ok
    assert found.says.startswith(f"docs does not answer ('{tmp_path}/gone' does not appear to be a git repository")
    assert found.says.endswith("not cloned yet; infra answers, fetched 3 min ago")
    assert found.fix == f"as the user who runs triage, try `git ls-remote {gone} HEAD`"
    assert list((home / "codebases").glob("*.git")) == []
    well = clones(patient(home, infra={"url": good}))
    assert (well.ok, well.fix) == (True, "")


def test_checkouts_of_the_operator_are_no_clones(tmp_path: Path) -> None:
    """There is nothing to ask."""
    assert clones(patient(tmp_path / "home", shop={"path": str(tmp_path)})).ok
