"""The walks that docs/architecture.md describes are those of the trace."""

from __future__ import annotations

from pathlib import Path

from reference.walks import HERE, wrong_walks
from tests.tables import each_row

PAGE = HERE / "docs" / "architecture.md"
PROBES = "3. `bot/heartbeat/run/inputs.py`"


@each_row(
    "old, new, said",
    [
        (
            PROBES,
            f"3. `bot/heartbeat/run/findings.py`, {PROBES}",
            "the beat passes bot/heartbeat/run/probes.py before",
        ),
        (PROBES, f"3. `bot/cli/init.py`, {PROBES}", "the beat does not pass bot/cli/init.py"),
        ("<!-- walk: beat -->", "<!-- walk: beet -->", "there is no walk 'beet'; there are question, beat"),
    ],
)
def test_a_stop_that_the_trace_does_not_pass_there_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    """As when the code took another way and the page had not been changed."""
    text = PAGE.read_text()
    assert old in text
    page = tmp_path / "architecture.md"
    page.write_text(text.replace(old, new, 1))
    assert any(said in line for line in wrong_walks([page], tmp_path))
    page.write_text(text)
    assert list(wrong_walks([page], tmp_path)) == []
