"""Port Investigator over another program, such as `claude -p`: rubric and question in, one JSON object out.

The program gets an argument list, the question on standard input and in a file, and a scrubbed environment, without a
shell. What it read is unknown, so there is no ledger, and its own `high` is lowered.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from bot.agent.git.git_repo import GitRepo
from bot.agent.model_messages import Unreadable, objects, read_answer
from bot.agent.model_run import OnProgress, RunFailed, RunTimedOut
from bot.agent.prompts import delimit, prompt
from bot.casework.checks.sources import Sources
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.model_investigator import InvestigatorAnswer, return_of, sections_of
from bot.domain.returns import Usage
from bot.errors import refused
from bot.ports import NoteStore

MAX_OUTPUT_CHARS: Final = 4_000_000
_PLACEHOLDER: Final = re.compile(r"\{(rubric|question_file|codebase|out)\}")
_ANSWER_KEYS: Final = ("result", "structured_output", "answer")
"""Where harnesses put the model's last words in their own JSON."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgramInvestigator:
    """The configured program; `folder` is the run's, `screen` where its output is repeated.

    `on_cost` is told run, program and usage, whether it answered or not.
    """

    command: Sequence[str]
    folder: Path
    repo: GitRepo
    environment: Mapping[str, str]
    limit_s: float
    screen: TextIO
    on_cost: Callable[[str, str, Usage], None]
    notes: NoteStore | None = None
    secrets: Collection[str] = ()

    def investigate(
        self,
        assignment: Assignment,
        *,
        run_id: str,
        on_progress: OnProgress | None = None,  # noqa: ARG002 - its output is shown as it comes
    ) -> Investigation:
        """Return the program's answer.

        Raises:
            RunFailed: it ended without one, or took too long.
            ProviderError: git cannot read what is cited.
            StoreError: its files cannot be written, or the notes not read.
        """
        argv = self._prepared(assignment)
        heads = self.repo.heads()
        name = Path(argv[0]).name
        said, code, is_late = self._run(argv)
        usage = parse_usage(said)
        self.on_cost(run_id, name, usage)
        if is_late:
            why = f"{name} reached the limit of {self.limit_s:g} s"
            raise RunTimedOut(why, usage=usage, timeout_kind="total", timeout_s=self.limit_s, stall_s=None)
        texts = [self._out_file(), said]
        answer = next((found for text in texts if (found := parse_answer(text)) is not None), None)
        if answer is None:
            raise RunFailed(f"{name} ended with exit code {code} and no answer", usage=usage)
        sources = Sources(repo=self.repo, notes=self.notes, known_secrets=self.secrets, heads=heads)
        ret = return_of(answer, assignment.round, sources)
        return Investigation(ret=ret, ledger=None, usage=usage, investigator=name)

    def _prepared(self, assignment: Assignment) -> list[str]:
        """Write the question's file and return the command line."""
        with refused(f"cannot write in {self.folder}", "check the disk and the folder's owner"):
            self._file("out.json").unlink(missing_ok=True)
            handle = os.open(self._file("question.md"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(delimit(tuple(sections_of(assignment))) + "\n")
        values = {
            "rubric": _build_prompt(assignment),
            "question_file": str(self._file("question.md")),
            "codebase": str(self.repo.root),
            "out": str(self._file("out.json")),
        }
        return [_PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in self.command]

    def _run(self, argv: Sequence[str]) -> tuple[str, int, bool]:
        """Return what it printed, its exit code, and whether it had to be ended."""
        kept: list[str] = []
        room = MAX_OUTPUT_CHARS
        try:
            process = subprocess.Popen(  # noqa: S603 - argv, no shell
                argv,
                cwd=self.repo.root,
                env=dict(self.environment),
                stdin=self._file("question.md").open("rb"),
                stdout=subprocess.PIPE,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise RunFailed(f"cannot start {argv[0]}: {error.strerror}", usage=Usage()) from error
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(self.limit_s, expire)
        timer.start()
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", file=self.screen, flush=True)
                kept.append(line[:room])
                room -= len(kept[-1])
        timer.cancel()
        return "".join(kept), process.returncode, expired.is_set()

    def _out_file(self) -> str:
        try:
            with self._file("out.json").open(encoding="utf-8", errors="replace") as file:
                return file.read(MAX_OUTPUT_CHARS)
        except OSError:
            return ""

    def _file(self, name: str) -> Path:
        return self.folder / name


def _build_prompt(assignment: Assignment) -> str:
    """Return what a harness is told: our own words and the rubric; nobody else's stand in it."""
    schema = json.dumps(InvestigatorAnswer.model_json_schema(), ensure_ascii=False)
    return (
        f"{prompt('investigator')}\n\n# Rubric\n\n{assignment.rubric}\n\n# Your answer\n\n"
        "The question is the data you are given with this. The current folder is the codebase; read it and change "
        f"nothing. Your last message is one JSON object and nothing else, valid under this JSON schema:\n{schema}\n"
    )


def parse_answer(text: str) -> InvestigatorAnswer | None:
    """Return the answer in a harness's output, however it is wrapped; None where there is none."""
    for candidate in (text, *_wrapped(text)):
        try:
            answer = read_answer(candidate, InvestigatorAnswer)
        except Unreadable:
            continue
        assert isinstance(answer, InvestigatorAnswer)
        return answer
    return None


def parse_usage(text: str) -> Usage:
    """Return what a harness says it cost; the cost is unknown where it says nothing."""
    told: list[dict[str, Any]] = [each for each in objects(text) if "total_cost_usd" in each]
    found = told[-1] if told else {}
    spent = found.get("usage")
    counts = spent if isinstance(spent, dict) else {}
    return Usage(
        input_tokens=_count(counts.get("input_tokens")),
        output_tokens=_count(counts.get("output_tokens")),
        cache_read_tokens=_count(counts.get("cache_read_input_tokens")),
        cache_write_tokens=_count(counts.get("cache_creation_input_tokens")),
        cost_usd=_cost(found.get("total_cost_usd")),
    )


def _wrapped(text: str) -> Iterator[str]:
    for found in reversed(list(objects(text))):
        for key in _ANSWER_KEYS:
            if key in found:
                yield found[key] if isinstance(found[key], str) else json.dumps(found[key])


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _cost(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e6 else None
