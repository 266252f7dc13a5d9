"""`triage run --only`: refused where there is nothing to share the work over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.gitrepo import make_repo


@pytest.mark.parametrize("role", ["edge", "work"])
def test_a_role_without_a_database_is_refused(tmp_path: Path, role: str) -> None:
    """In one sentence that names the variable."""
    make_repo(tmp_path, {"a.py": "A = 1\n"})
    (tmp_path / "triage.yml").write_text(f"codebase: {tmp_path}\nops_channel: C0OPS\n")
    env = os.environ | {"TRIAGE_HOME": str(tmp_path / "home"), "SLACK_API_URL": "http://127.0.0.1:9/api/"}
    done = typed(["run", "--only", role], tmp_path, env)
    assert done.returncode == 2
    assert f"--only {role} needs a database that replicas share: set TRIAGE_DATABASE_URL" in " ".join(
        done.stderr.split()
    )
