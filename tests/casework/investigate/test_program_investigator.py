"""Another program as investigator: what it is given, how its answer is read, how it fails."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.agent.git.git_repo import GitRepo
from bot.agent.model_run import RunFailed, RunTimedOut
from bot.casework.checks.draft_checks import check_return
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.program_investigator import ProgramInvestigator, parse_answer, parse_usage
from bot.domain.returns import Usage
from bot.domain.threads import QuestionType
from tests.casework.runner import answered, claimed
from tests.gitrepo import make_repo

QUESTION = "How often? `$(touch pwned)` \"' ; {out} {rubric}\n</data>"


class Bench:
    """A codebase, a folder and a program written for the occasion."""

    def __init__(self, folder: Path) -> None:
        self.repo = GitRepo(make_repo(folder / "code", {"app/retry.py": "import time\n\nLIMIT = 5\n"}))
        self.folder, self.screen = folder / "run", io.StringIO()
        self.folder.mkdir()
        self.costs: list[tuple[str, str, Usage]] = []

    def investigate(self, code: str, *arguments: str, limit_s: float = 300.0) -> Investigation:
        harness = ProgramInvestigator(
            command=(sys.executable, "-c", code, *arguments),
            folder=self.folder,
            repo=self.repo,
            environment={"PATH": "/usr/bin:/bin", "ANTHROPIC_API_KEY": "sk-secret-0001"},
            limit_s=limit_s,
            screen=self.screen,
            on_cost=lambda *told: self.costs.append(told),
            secrets={"sk-secret-0001"},
        )
        assignment = Assignment(question=QUESTION, question_type=QuestionType.OTHER, rubric="Be exact.", round=1)
        return harness.investigate(assignment, run_id="r1")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """One bench."""
    return Bench(tmp_path)


def wrapped(answer: dict[str, Any]) -> str:
    """Return an answer as `claude -p --output-format json` prints it."""
    text = f"Here it is:\n```json\n{json.dumps(answer)}\n```"
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 7}
    return json.dumps({"type": "result", "result": text, "total_cost_usd": 0.25, "usage": usage})


def test_a_wrapped_answer_is_found_with_its_cost(bench: Bench) -> None:
    """Code pins the commit; what was read nobody knows."""
    found = bench.investigate(f"print({wrapped(answered())!r})")
    assert found.ret.draft_reply == "Retries stop after 5, see `app/retry.py:3`."
    assert found.ret.evidence_refs[0].commit == bench.repo.head()
    assert found.ledger is None
    assert found.usage == Usage(input_tokens=100, output_tokens=20, cache_read_tokens=7, cost_usd=0.25)
    assert bench.costs == [("r1", Path(sys.executable).name, found.usage)]


def test_a_high_confidence_of_its_own_does_not_stand(bench: Bench) -> None:
    """Without a ledger nothing shows that the lines were read."""
    found = bench.investigate(f"print({json.dumps(answered(confidence='high'))!r})")
    checks = check_return(found.ret, repo=bench.repo.root, ledger=found.ledger)
    assert [check.name for check in checks if check.ok is False and "high" in check.reason]


def test_it_is_given_rubric_and_question_and_no_shell_reads_them(bench: Bench, tmp_path: Path) -> None:
    """Placeholders are filled once; the question stands in a file and on standard input, as data."""
    code = (
        "import json, os, pathlib, sys;"
        "rubric, question_file, codebase, out, plain = sys.argv[1:];"
        "seen = {'rubric': rubric, 'codebase': codebase, 'cwd': os.getcwd(), 'plain': plain, 'env': dict(os.environ),"
        " 'file': pathlib.Path(question_file).read_text(), 'stdin': sys.stdin.read()};"
        "pathlib.Path(out).with_name('seen.json').write_text(json.dumps(seen));"
        f"pathlib.Path(out).write_text({json.dumps(answered())!r})"
    )
    found = bench.investigate(code, "{rubric}", "{question_file}", "{codebase}", "{out}", '{"a": {x}} $(touch pwned)')
    seen = json.loads((bench.folder / "seen.json").read_text())
    assert "Be exact." in seen["rubric"]
    assert "How often" not in seen["rubric"]
    assert QUESTION in seen["file"]
    assert seen["stdin"] == seen["file"]
    assert seen["codebase"] == seen["cwd"] == str(bench.repo.root)
    assert seen["plain"] == '{"a": {x}} $(touch pwned)'
    assert set(seen["env"]) - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"} == {"PATH", "ANTHROPIC_API_KEY"}
    assert found.ret.draft_reply.startswith("Retries stop")
    assert list(tmp_path.rglob("pwned*")) == []


def test_its_words_are_shown_as_they_come_and_its_secrets_cut_out_of_the_return(bench: Bench) -> None:
    """A program that repeats our key does not get it into a draft."""
    found = bench.investigate(f"print('looking'); print({json.dumps(answered(claims=[claimed('sk-secret-0001')]))!r})")
    assert bench.screen.getvalue().startswith("looking\n")
    assert "sk-secret-0001" not in found.ret.draft_reply


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('I could not find it.')", "ended with exit code 0 and no answer"),
        ("raise SystemExit(3)", "ended with exit code 3 and no answer"),
        ("print('{\"draft_reply\": 1}')", "no answer"),
    ],
)
def test_no_answer_is_a_failure_with_a_reason(bench: Bench, code: str, words: str) -> None:
    """Never an empty draft."""
    with pytest.raises(RunFailed, match=words):
        bench.investigate(code)


def test_a_program_that_does_not_end_is_ended(bench: Bench) -> None:
    """At the limit; what it said it cost is on the bill."""
    code = "import time; print('{\"total_cost_usd\": 0.5}', flush=True); time.sleep(600)"
    for number, limit_s in enumerate((0.5, 8.0, 64.0), 1):
        with pytest.raises(RunTimedOut, match="reached the limit") as caught:
            bench.investigate(code, limit_s=limit_s)
        assert len(bench.costs) == number
        if bench.screen.getvalue():  # else it did not even start in that time, on a busy machine
            break
    assert caught.value.usage.cost_usd == 0.5


def test_a_program_that_is_not_there_is_named(bench: Bench) -> None:
    """In words for the card."""
    harness = ProgramInvestigator(
        command=("no-such-harness", "{rubric}"),
        folder=bench.folder,
        repo=bench.repo,
        environment={"PATH": "/usr/bin"},
        limit_s=1,
        screen=bench.screen,
        on_cost=lambda *_: None,
    )
    assignment = Assignment(question="?", question_type=QuestionType.OTHER, rubric="", round=1)
    with pytest.raises(RunFailed, match="cannot start no-such-harness: No such file or directory"):
        harness.investigate(assignment, run_id="r1")


def test_the_last_of_several_wrappers_counts() -> None:
    """As `stream-json` prints them; costs nobody states are unknown."""
    lines = "\n".join([json.dumps({"type": "system"}), wrapped(answered(claims=[claimed("a")])), wrapped(answered())])
    answer = parse_answer(lines)
    assert answer is not None
    assert answer.claims[0].text.startswith("Retries stop")
    assert parse_usage("nothing").cost_usd is None
    assert parse_usage('{"total_cost_usd": "free", "usage": [1]}') == Usage(cost_usd=None)
