"""requirements.lock: it fits pyproject.toml, and what does not fit is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reference.__main__ import HERE
from reference.lock_file import LOCK, main, pins, problems

DIGEST = "0" * 64


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the project's pyproject.toml and lock."""
    for name in ("pyproject.toml", LOCK):
        shutil.copy(HERE / name, tmp_path / name)
    return tmp_path


def _edit(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text()))


def test_the_lock_fits_the_project() -> None:
    """Everything that pyproject.toml wants is there, in a version it allows, with a hash."""
    assert problems(HERE) == []
    assert {"slack-sdk", "slack-bolt", "anthropic", "psycopg", "pytest", "setuptools"} <= pins(
        (HERE / LOCK).read_text()
    ).keys()


def test_each_way_not_to_fit_is_named(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new requirement, a range that moved, an address, a lost hash: each one is told, with what to type."""
    _edit(
        checkout / "pyproject.toml", lambda text: text.replace('"tinydb>=4.9,<5"', '"tinydb>=5", "no-such-package>=1"')
    )
    _edit(
        checkout / LOCK,
        lambda text: (
            text.replace("# part: node\n", "")
            + f"--extra-index-url https://somewhere\nx @ file:///tmp/x\ny==1 \\\n    --hash=md5:{DIGEST}\n"
        ),
    )
    found = "\n".join(problems(checkout))
    assert "lacks no-such-package" in found
    assert "has tinydb 4" in found
    assert "has no line # part: node" in found
    assert "names an index or a path: --extra-index-url" in found
    assert "names an index or a path: x @ file" in found
    assert "has no hash for y" in found
    assert main(["--check", "--root", str(checkout)]) == 1
    assert "Next: make update" in capsys.readouterr().err


def test_without_a_lock_every_part_is_missing(checkout: Path) -> None:
    """A file that is gone is no file without problems."""
    (checkout / LOCK).unlink()
    assert len(problems(checkout)) > 20
