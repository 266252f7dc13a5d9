"""The generated documentation says what the code says, and a change on either side is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reference.__main__ import HERE, main
from reference.links import dead_links
from reference.mentions import missing_files, unknown_commands
from reference.pages import differences, pages, write
from tests.tables import each_row


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of everything the check reads."""
    for page in (*pages(HERE), HERE / "docs" / "triage.schema.json"):
        target = tmp_path / page.relative_to(HERE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target)
    for linked in ("docs/images", "tests", "bot", "handlers", "blocks", "demo", "benchmarks"):
        (tmp_path / linked).symlink_to(HERE / linked)
    for name in ("LICENSE", "manifest.yml", "triage.example.yml", ".env.example", "Dockerfile", "Makefile"):
        if (HERE / name).exists():
            shutil.copy(HERE / name, tmp_path / name)
    return tmp_path


def changed(copy: Path, page: str, old: str, new: str) -> None:
    path = copy / page
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_documentation_is_up_to_date() -> None:
    assert main(["--check"]) == 0


STALE = {
    "docs/configuration.md": ("- `remind_after` (duration, or null; `4h`)", "- `remind_after` (text; `4h`)"),
    "docs/architecture.md": ("    escalated --> closed\n", ""),
    "docs/commands.md": ("`/triage pause`", "`/triage halt`"),
    "docs/triage.schema.json": ('"maximum": 16', '"maximum": 32'),
}


def test_pages_that_differ_from_the_code_are_shown_and_mended(copy: Path) -> None:
    """As when a setting, a table and a command had been changed and their pages had not."""
    for page, (old, new) in STALE.items():
        changed(copy, page, old, new)
    diffs = {page: diff for diff in differences(copy) for page in STALE if diff.startswith(f"--- {page} (as it is)")}
    assert diffs.keys() == STALE.keys()
    for page, (old, _) in STALE.items():
        assert any(line.startswith("+") and old.strip() in line for line in diffs[page].splitlines())
    assert set(write(copy)) == {copy / page for page in STALE}
    assert list(differences(copy)) == []


def test_the_check_fails_and_says_what_to_run(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(copy, "docs/architecture.md", "escalated --> closed", "escalated --> escalated")
    assert main(["--check", "--root", str(copy)]) == 1
    assert capsys.readouterr().err.endswith("docs: out of date; run make docs\n")


def test_a_part_that_no_page_shows_is_named(copy: Path) -> None:
    changed(copy, "docs/architecture.md", "<!-- generated: threads -->", "<!-- generated: thread -->")
    assert [text.partition(";")[0] for text in differences(copy)] == [
        "the part 'threads' stands on no page",
        "there is no part 'thread'",
    ]


@each_row(
    "written, said",
    [
        ("[x](nowhere.md)", "the link 'nowhere.md' leads to no file"),
        ("![x](images/nothing.png)", "leads to no file"),
        ("[x](install.md#no-such-heading)", "names no heading there"),
        ("[x](#no-such-heading)", "names no heading there"),
        ("[x](../../elsewhere)", "leads to no file"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(copy: Path, written: str, said: str) -> None:
    page = copy / "docs" / "metrics.md"
    page.write_text(f"# A heading\n\n{written}\n")
    assert [line for line in dead_links([page], copy) if said in line]


def test_links_that_lead_somewhere_and_the_web_are_left_alone(copy: Path) -> None:
    page = copy / "docs" / "metrics.md"
    page.write_text(
        "# A `heading` here\n\n[a](install.md#as-a-service) [b](#a-heading-here) [c](https://example.com/x)\n"
    )
    assert list(dead_links([page], copy)) == []


@each_row(
    "written, said",
    [
        ("`triage fly`", "there is no `triage fly`"),
        ("```\n$ .venv/bin/triage fly\n```", "there is no `triage fly`"),
        ("`triage metrics --weekly`", "`triage metrics` takes no --weekly"),
        ("`triage heartbeat halt shop`", "there is no `triage heartbeat halt`"),
        ("`/triage fly`", "there is no `/triage fly`"),
        ("`/triage heartbeat on|of <session>`", "there is no `/triage heartbeat of`"),
        ("`/triage tiers shop ad hourly x`", "there is no `/triage tiers … ad`"),
        ("`triage pollinate accept|refuse <id>`", "there is no `triage pollinate refuse`"),
    ],
)
def test_a_command_nobody_can_type_is_named(copy: Path, written: str, said: str) -> None:
    page = copy / "docs" / "metrics.md"
    page.write_text(f"# A heading\n\n{written}\n")
    assert list(unknown_commands([page], copy)) == [f"docs/metrics.md: {said}"]


@each_row(
    "written",
    ["triage fly", "`triage paused: by @ana`", "`/opt/triage and more`", "`triage heartbeat <verb>`", "`triage`"],
)
def test_what_is_no_command_is_left_alone(copy: Path, written: str) -> None:
    page = copy / "docs" / "metrics.md"
    page.write_text(written)
    assert list(unknown_commands([page], copy)) == []


def test_a_file_that_is_not_there_is_named(copy: Path) -> None:
    page = copy / "docs" / "metrics.md"
    page.write_text("`bot/config/settings.py` and `bot/casework/crystal_ball.py` and `bot/agent/tools/`")
    assert list(missing_files([page], copy)) == ["docs/metrics.md: there is no bot/casework/crystal_ball.py"]
