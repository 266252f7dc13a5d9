"""A file of questions: taken whole, or refused with every wrong question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.casework.evaluation.question_set import questions_on_files, read_questions
from bot.errors import ConfigError
from tests.gitrepo import make_repo
from tests.journeys.shop import RETRIES, SESSIONS, SHOP
from tests.tables import each_row

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


def test_an_end_of_line_within_a_question_is_a_part_of_it(shop: Codebases, tmp_path: Path) -> None:
    """JSON needs no escape for those that Unicode added."""
    (found,) = read_questions(written(tmp_path, '{"ask": "Who\u2028won?", "files": []}', "q.ndjson"), shop)
    assert found.ask == "Who\u2028won?"


@each_row(
    "text, says",
    [
        ("", "is no list of questions"),
        ("[]", "holds no question"),
        ("just words", "is no list of questions"),
        ("- [\n x: :", "cannot be read at line"),
        ("- {ask: a b, files: [README.md]}\n- {files: []}", "question 2: there is no question"),
        ("\n\n- just words", "question 1: there is no question"),
        ('- {ask: "Who?"}', "question 1: `files` is no list"),
        ('- {ask: "Who?", files: README.md}', "question 1: `files` is no list"),
        ("- ask: Who?\n  files:\n  - shop/none.py", "question 1: not committed in the codebase: shop/none.py"),
    ],
)
def test_a_wrong_file_is_refused_with_the_question(shop: Codebases, tmp_path: Path, text: str, says: str) -> None:
    """And with what would be right."""
    with pytest.raises(ConfigError, match=says):
        read_questions(written(tmp_path, text), shop)


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


def test_questions_on_files_are_the_same_every_time(shop: Codebases) -> None:
    """Each names its file; of a small codebase there are as many as files."""
    found = questions_on_files(shop, 2)
    assert found == questions_on_files(shop, 100)[:2]
    assert len(set(questions_on_files(shop, 100))) <= len(SHOP)
    assert all(one.files[0] in one.ask and one.files[0] in SHOP for one in found)
