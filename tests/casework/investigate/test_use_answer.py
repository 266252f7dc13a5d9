"""Who calls it, where is it used: the lines that hold a name, and how many there are."""

from pathlib import Path

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.draft_checks import check_return
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.casework.investigate.use_answer import CAVEAT
from bot.domain.threads import QuestionType
from tests.gitrepo import make_repo
from tests.tables import each_row

FILES = {
    "shop/text.py": 'def make_str(value):\n    """make_str returns a text."""\n    return str(value)\n\n\n'
    "def unused_one():\n    return 1\n",
    "shop/cart.py": "from shop.text import (\n    make_str,\n)\n\n\nclass Cart:\n    def total(self):\n"
    "        # make_str is slow\n        return make_str(self.sum)\n",
    "shop/pay.py": "from shop.text import make_str\n\n\ndef pay(sum):\n    return make_str(sum) + remake_str(sum)\n",
    "docs/text.md": "# Text\n\nCall `make_str` for a text.\n",
}


def answer(tmp_path: Path, question: str, files: dict[str, str]) -> Investigation:
    """Ask about a codebase of some files."""
    repo = GitRepo(make_repo(tmp_path / "code", files))
    investigator = OfflineInvestigator(repo, SqlitePassageIndex(repo, tmp_path / "index.sqlite"))
    assignment = Assignment(question=question, question_type=QuestionType.TECHNICAL_QA, rubric="", round=1)
    return investigator.investigate(assignment, run_id="r1")


@each_row(
    "question",
    [
        "who calls make_str?",
        "where is make_str used",
        "list the callers of `make_str`",
        "where do we call make_str()?",
        "Wo wird make_str aufgerufen?",
        "¿dónde se usa make_str?",
        "make_str はどこで呼び出されていますか",
    ],
)
def test_the_lines_that_use_a_name_are_counted_and_quoted(tmp_path: Path, question: str) -> None:
    """Not its definition, an import, a comment, a page, or a longer name; the summary counts the lines."""
    found = answer(tmp_path, question, FILES)
    assert [ref.ref for ref in found.ret.evidence_refs] == ["shop/cart.py:9", "shop/pay.py:5"]
    assert "these lines hold `make_str`:" in found.ret.draft_reply
    assert found.ret.summary_for_orchestrator.endswith("`make_str` stands on 2 lines in 2 files.")
    assert not [
        check.reason
        for check in check_return(found.ret, repo=tmp_path / "code", ledger=found.ledger)
        if check.ok is False
    ]


def test_a_name_that_nothing_uses_is_said_to_be_used_nowhere(tmp_path: Path) -> None:
    """With its definition, which the evidence says it is."""
    ret = answer(tmp_path, "who calls unused_one?", FILES).ret
    assert "no line holds `unused_one`. It is defined here:" in ret.draft_reply
    assert [(ref.ref, ref.supports_claim) for ref in ret.evidence_refs] == [
        ("shop/text.py:6-7", "Defines `unused_one`.")
    ]


def test_a_dotted_name_is_looked_for_as_it_is_written_first(tmp_path: Path) -> None:
    """`module.kms` is not every `kms`; where nothing is written so, the last part counts."""
    files = {"main.tf": 'module "kms" {\n  source = "kms/aws"\n}\n\nkey = module.kms.arn\n'}
    ret = answer(tmp_path, "where is module.kms used?", files).ret
    assert [ref.ref for ref in ret.evidence_refs] == ["main.tf:5"]
    assert "Besides imports and comments, these lines hold `module.kms`:" in ret.draft_reply


@each_row("question", ["where is make_str used to round the sum of a cart?", "what does make_str return?"])
def test_a_question_that_wants_more_than_a_list_is_searched_for(tmp_path: Path, question: str) -> None:
    """Its other words say where to look."""
    assert CAVEAT not in answer(tmp_path, question, FILES).ret.draft_reply


def test_a_name_on_very_many_lines_is_not_listed(tmp_path: Path) -> None:
    """It is as good as a common word."""
    many = {"shop/many.py": "".join(f"x{n} = make_str({n})\n" for n in range(500))}
    assert CAVEAT not in answer(tmp_path, "who calls make_str?", {**FILES, **many}).ret.draft_reply
