"""Planted errors over a tiny codebase: code catches what it must, stops no sound draft, and a model sees the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.planted import CODE, measure, table
from benchmarks.planted_errors import BY_CODE, Kind
from tests.gitrepo import commit_files, make_repo
from tests.journeys.shop import SHOP
from tests.model_server import ModelServer, load_script

SCRIPT = Path(__file__).parents[1] / "model_server" / "scripts" / "pass.yml"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A codebase with a history of two commits."""
    path = make_repo(
        tmp_path_factory.mktemp("planted") / "shop", {"shop/limits.py": "PAUSE_SECONDS = 20\nMAX_ROWS = 7\n"}
    )
    commit_files(path, {**SHOP, "shop/limits.py": "PAUSE_SECONDS = 30\nMAX_ROWS = 7\n"})
    return path


def test_code_catches_what_it_must_and_stops_no_sound_draft(shop: Path, tmp_path: Path) -> None:
    """Every kind can be planted; the figures may not fall."""
    scores = measure([shop], tmp_path, 12, None, None)
    assert scores.share(CODE, BY_CODE)[0] == scores.share(CODE, BY_CODE)[1] > 20
    assert scores.share(CODE, [None])[0] == 0
    assert set(scores.judged[CODE]) == {*Kind, None}
    hits, of = scores.share(CODE, [Kind.DEFINITION, Kind.LINES])
    assert hits == of > 3
    caught, of = scores.share(CODE, Kind)
    assert caught / of > 0.7
    assert {len(line) for line in table(scores)} == {len(table(scores)[0])}


@pytest.mark.full
def test_what_code_lets_through_goes_to_both_prompts(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adversarial prompt and the neutral one are other judges; the scripted model knows the first alone."""
    with ModelServer(load_script(SCRIPT)) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-scripted-0123456789abcdef")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        scores = measure([shop], tmp_path, 2, "claude-sonnet-5", 9.0)
    assert scores.judged["adversarial"].total() > 4
    assert scores.stopped["adversarial"].total() == 0
