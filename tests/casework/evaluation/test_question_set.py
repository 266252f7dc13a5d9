"""A file of questions: taken whole, or refused with every wrong question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.casework.evaluation.question_set import read_questions
from bot.errors import ConfigError
from tests.gitrepo import make_repo
from tests.journeys.shop import RETRIES, SESSIONS, SHOP

YAML = f"""# of the shop
- {{ask: "{SESSIONS}", files: [shop/sessions.py]}}
- ask: "{RETRIES}"
  files: [shop/retry.py, README.md]
- {{ask: "Who won?", files: []}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Codebases:
    """The shop's code."""
    repo = GitRepo(make_repo(tmp_path / "shop", SHOP))
    return Codebases.named([("", repo, SqlitePassageIndex(repo, tmp_path / "index.sqlite"))])


def written(folder: Path, text: str, name: str = "q.yml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_three_forms_of_a_file_say_the_same(shop: Codebases, tmp_path: Path) -> None:
    """A list, a list under `questions`, and one object a line."""
    found = read_questions(written(tmp_path, YAML), shop)
    assert [one.ask for one in found] == [SESSIONS, RETRIES, "Who won?"]
    assert [one.files for one in found] == [("shop/sessions.py",), ("shop/retry.py", "README.md"), ()]
    under = "questions:\n" + "".join(f"  {line}\n" for line in YAML.splitlines())
    assert read_questions(written(tmp_path, under), shop) == found
    lines = "\n\n".join(json.dumps({"ask": one.ask, "files": one.files}) for one in found)
    assert read_questions(written(tmp_path, lines, "q.ndjson"), shop) == found
    assert read_questions(written(tmp_path, "\ufeff" + lines.replace("\n", "\r\n"), "q.ndjson"), shop) == found


def test_every_wrong_question_is_named_at_once(shop: Codebases, tmp_path: Path) -> None:
    """Up to ten, then how many are left; a line that is no JSON is named too."""
    with pytest.raises(ConfigError) as refused:
        read_questions(written(tmp_path, '- {ask: "Who?"}\n' * 12), shop)
    assert len(refused.value.problems) == 11
    assert "question 10:" in refused.value.problems[9]
    assert "2 more" in refused.value.problems[10]
    with pytest.raises(ConfigError, match=r"this line is no JSON: \{;"):
        read_questions(written(tmp_path, '{"ask": "Who?", "files": []}\n{', "q.ndjson"), shop)
    for name in ("none.yml", "latin.yml"):
        (tmp_path / "latin.yml").write_bytes(b"- \xff")
        with pytest.raises(ConfigError, match="cannot read"):
            read_questions(tmp_path / name, shop)
