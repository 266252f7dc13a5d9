"""The long run itself, in its own process, and the files in escalations/<thread_id>/ by which it and the bot
communicate.

The bot writes request.json and rubric.md, then `launched`; the run takes `claimed`, and at its end writes return.json
and then `.done`, whatever happens. Each file is written atomically, so either side may die at any moment. The run
prints its progress. Its environment has the variables that its model needs and no Slack token.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.agent.model_run import progress_line
from bot.agent.run_records import RunRecorder
from bot.casework.investigate.assignment import Assignment, Investigator
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.domain.returns import InvestigatorReturn
from bot.domain.secrets import redact
from bot.errors import InputError, TriageError, refused

MAX_RETURN_BYTES: Final = 1_000_000
_TAIL_BYTES: Final = 8_192
_AS_GIVEN: Final[dict[str, Any]] = {"indent": 1, "exclude_unset": True}
"""How settings are written: what somebody asked for is told apart from what is so by default."""

_PLAIN: Final = frozenset(
    {"HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TRIAGE_STALL_S"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
    | {name for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (each, each.lower())}
)
_OF_PROVIDER: Final = {
    "anthropic": ("ANTHROPIC_",),
    "bedrock": ("ANTHROPIC_", "AWS_"),
    "vertex": ("ANTHROPIC_", "GOOGLE_", "CLOUD_ML_", "CLOUDSDK_"),
    "foundry": ("ANTHROPIC_", "AZURE_"),
}

Say = Callable[[str], None]


class EscalationRequest(BaseModel):
    """All a long run has to know; no secret stands in it. `spend_usd` is what it may cost (None: no limit)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str
    assignment: Assignment
    settings: Settings
    spend_usd: float | None
    is_locked: bool = False
    """Whether its session holds a lock; one that an older release started may live without."""


class EscalationFolder:
    """The folder of one thread; for its owner's eyes only."""

    def __init__(self, path: Path, transcripts: Path | None = None) -> None:
        """`transcripts` is where the transcript lies, in a folder of this one's name; None: in this one."""
        self.path = path
        self.transcript = (transcripts / path.name if transcripts else path) / "transcript.log"
        self.rubric = path / "rubric.md"

    def open(self, request: EscalationRequest) -> None:
        """Begin a run: write what it is asked; what an earlier run left is kept beside it.

        Raises:
            StoreError: the disk refuses.
        """
        with refused(f"cannot use {self.path}", "fix the folder's owner"):
            if (self.path / "claimed").exists():
                self.path.rename(_free_name(self.path))
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.chmod(0o700)
        self._write("rubric.md", request.assignment.rubric + "\n")
        asked = replace(request.assignment, rubric="")  # rubric.md has it
        self._write("request.json", request.model_copy(update={"assignment": asked}).model_dump_json(**_AS_GIVEN))

    def request(self) -> EscalationRequest | None:
        """Return what the run is asked, or None where there is no run or its request cannot be read."""
        try:
            text = (self.path / "request.json").read_bytes()
            request = EscalationRequest.model_validate_json(text, extra="ignore", context={"was_checked": True})
            rubric = self.rubric.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):  # pydantic's errors and a text that is no UTF-8 are ValueErrors
            return None
        return request.model_copy(update={"assignment": replace(request.assignment, rubric=rubric)})

    def mark_launched(self, at: datetime) -> None:
        """Note that a session was started."""
        self._write("launched", f"{at.isoformat()}\n")

    def launched_at(self) -> datetime | None:
        """Return when the session was started, or None if nobody noted that."""
        try:
            return datetime.fromisoformat((self.path / "launched").read_text(encoding="ascii").strip())
        except (OSError, ValueError):
            return None

    def claim(self) -> bool:
        """Take the request, once for all: whoever gets False has come second and must not work on it."""
        with (
            refused(f"cannot write in {self.path}", "check the disk and the folder's owner"),
            suppress(FileExistsError),
        ):
            os.close(os.open(self.path / "claimed", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            return True
        return False

    def is_claimed(self) -> bool:
        """Whether a run has begun."""
        return (self.path / "claimed").exists()

    def put_return(self, ret: InvestigatorReturn) -> None:
        """Write return.json."""
        self._write("return.json", ret.model_dump_json(indent=1))

    def finish(self) -> None:
        """Say that the run is over, whatever came of it."""
        self._write(".done", "")

    def is_done(self) -> bool:
        """Whether the run is over."""
        return (self.path / ".done").exists()

    def returned(self) -> InvestigatorReturn | None:
        """Return the answer, or None where there is none that can be used."""
        try:
            text = _read_file(self.path / "return.json", MAX_RETURN_BYTES + 1)
            return InvestigatorReturn.model_validate_json(text) if len(text) <= MAX_RETURN_BYTES else None
        except (OSError, ValidationError):
            return None

    def last_line(self) -> str:
        """Return the last words of the transcript; empty where there are none."""
        with suppress(OSError):
            text = _read_file(self.transcript, _TAIL_BYTES, from_end=True).decode("utf-8", "replace")
            return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")
        return ""

    def _write(self, name: str, text: str) -> None:
        """Put a file there whole: temporary file, fsync, rename."""
        temporary = self.path / f".tmp-{name}"
        with refused(f"cannot write {self.path / name}", "check the disk"):
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path / name)


def _read_file(path: Path, limit: int, *, from_end: bool = False) -> bytes:
    """Return so many bytes of an ordinary file; a run may leave a link or a pipe instead: refused."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is no ordinary file")
        if from_end:
            file.seek(max(0, found.st_size - limit))
        return file.read(limit)


def _free_name(path: Path) -> Path:
    """Return a name for an earlier run's folder."""
    number = 1
    while (name := path.with_name(f"{path.name}.earlier-{number}")).exists():
        number += 1
    return name


def run_environment(environment: Environment, settings: Settings) -> dict[str, str]:
    """Return the variables of a run: its model's, its MCP servers', where things lie."""
    servers = settings.mcp_servers.values()
    wanted = {"TRIAGE_DATABASE_URL"}.union(*(server.variables() | frozenset(server.env) for server in servers))
    return _chosen(environment, settings, wanted, "PG")  # PGPASSFILE: not all of a database stands in its address


def harness_environment(environment: Environment, settings: Settings) -> dict[str, str]:
    """Return the variables of another harness: as a run's, without those of the MCP servers and the database."""
    return _chosen(environment, settings, ())


def _chosen(environment: Environment, settings: Settings, more: Collection[str], *prefixes: str) -> dict[str, str]:
    names, begins = _PLAIN.union(more), (*_OF_PROVIDER[settings.provider], *prefixes)
    chosen = {
        name: value
        for name, value in environment.variables.items()
        if (name in names or name.startswith(begins)) and not name.startswith("SLACK_")
    }
    return {"PATH": environment.variables.get("PATH") or os.defpath, **chosen, "TRIAGE_HOME": str(environment.home)}


MakeInvestigator = Callable[[EscalationRequest], tuple[Investigator, RunRecorder]]
"""Returns who carries a request out, and who records it."""


def run_escalation(
    folder: EscalationFolder, make_investigator: MakeInvestigator, say: Say, *, secrets: Collection[str]
) -> bool:
    """Work on a folder's request; returns whether there is an answer.

    Raises:
        InputError: there is no request, or another process has taken it; nothing was done.
    """
    request = folder.request()
    if request is None:
        raise InputError(f"{folder.path} holds no request for a long investigation")
    if not folder.claim():
        raise InputError(f"the long investigation in {folder.path} was begun already; nothing was done")

    def tell(line: str) -> None:
        say(redact(line, secrets))

    asked = request.assignment
    try:
        investigator, recorder = make_investigator(request)
        with recorder.recording(request.run_id, f"round {asked.round}") as run:
            found = investigator.investigate(
                asked, run_id=request.run_id, on_progress=lambda progress: tell(progress_line(progress))
            )
            run.trace, run.transcript = found.as_trace(), found.as_transcript(asked)
            run.products = found.as_products()
        folder.put_return(found.ret)
        tell(f"answered, confidence {found.ret.confidence}, {len(found.ret.evidence_refs)} citations")
    except TriageError as error:
        tell(f"failed: {error}")
        return False
    finally:
        folder.finish()
    return True
