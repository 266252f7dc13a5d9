"""What one team left goes to the first of several, whenever the process was killed."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.storage.files.file_engine import FileEngine
from bot.composition.team_homes import hand_over
from bot.config.settings import Settings
from tests.tables import each_row

SEVERAL = Settings.model_validate(
    {
        "codebase": str(Path(__file__).parent),
        "ops_channel": "C0PAYOPS",
        "teams": {name: {"ops_channel": f"C0{name[:4].upper()}"} for name in ("payments", "platform")},
    }
)


def _nothing(_: Path) -> None:
    """The process was killed before the first step."""


def _empty(home: Path) -> None:
    (home / ".teams.new").mkdir()


def _linked(home: Path) -> None:
    (home / ".teams.new").mkdir()
    (home / ".teams.new" / "payments").symlink_to("..", target_is_directory=True)


def _linked_for_another(home: Path) -> None:
    (home / ".teams.new").mkdir()
    (home / ".teams.new" / "formerly-first").symlink_to("..", target_is_directory=True)


@each_row("killed", [_nothing, _empty, _linked, _linked_for_another])
def test_a_start_that_was_killed_at_any_step_is_made_up_for_by_the_next(tmp_path: Path, killed: object) -> None:
    """All that was there is the first team's, once: nothing is copied, and nothing of the attempt is left."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "events.ndjson").write_text("{}\n")
    assert callable(killed)
    killed(home)
    said = hand_over(FileEngine(home), home, SEVERAL)
    assert said is not None
    assert said.endswith("belongs to payments.")
    assert sorted(path.name for path in home.iterdir()) == ["events.ndjson", "teams"]
    assert [path.name for path in (home / "teams").iterdir()] == ["payments"]
    assert (home / "teams" / "payments" / "events.ndjson").samefile(home / "events.ndjson")
    assert hand_over(FileEngine(home), home, SEVERAL) is None, "once and for good"
