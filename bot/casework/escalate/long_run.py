"""A long run, in a process of its own: one request in, return.json and `.done` out.

Prints what it does, for whoever watches; the last line says how it ended. `.done` comes last whatever happens, so that
nobody waits for a run that is over. It gets the variables its model needs and none of Slack's tokens: it has no
business in the chat.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from bot.agent.model_run import RunProgress, progress_line
from bot.casework.escalate.escalation_folder import ASKED, EscalationFolder, EscalationRequest
from bot.casework.investigate.assignment import Investigator
from bot.casework.investigate.run_records import RunRecorder
from bot.config.environment import Environment
from bot.config.settings import Settings
from bot.domain.secrets import redact
from bot.errors import InputError, TriageError

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


def run_environment(environment: Environment, settings: Settings) -> dict[str, str]:
    """Return the variables of a run: its model's, its MCP servers', where things lie."""
    servers = settings.mcp_servers.values()
    wanted = _PLAIN.union({"TRIAGE_DATABASE_URL"}, *(server.variables() | frozenset(server.env) for server in servers))
    return _chosen(environment.variables, wanted, _OF_PROVIDER[settings.provider], environment.home)


def harness_environment(environment: Environment, settings: Settings) -> dict[str, str]:
    """Return the variables of another harness: as a run's, without those of the MCP servers and the database."""
    return _chosen(environment.variables, _PLAIN, _OF_PROVIDER[settings.provider], environment.home)


def _chosen(
    variables: Mapping[str, str], names: frozenset[str], prefixes: tuple[str, ...], home: Path
) -> dict[str, str]:
    chosen = {name: value for name, value in variables.items() if name in names or name.startswith(prefixes)}
    kept = {name: value for name, value in chosen.items() if not name.startswith("SLACK_")}
    return {"PATH": variables.get("PATH") or os.defpath, **kept, "TRIAGE_HOME": str(home)}


Hire = Callable[[EscalationRequest], tuple[Investigator, RunRecorder]]
"""Returns who carries a request out, and who records it."""
Say = Callable[[str], None]


def run_escalation(folder: EscalationFolder, hire: Hire, say: Say, *, secrets: Collection[str] = ()) -> bool:
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

    try:
        _answer(folder, request, hire, tell)
    except TriageError as error:
        tell(f"failed: {error}")
        return False
    finally:
        folder.finish()
    return True


def _answer(folder: EscalationFolder, request: EscalationRequest, hire: Hire, say: Say) -> None:
    asked = request.assignment
    say(ASKED + " ".join(asked.question.split()))
    investigator, recorder = hire(request)

    def report(progress: RunProgress) -> None:
        say(progress_line(progress))

    with recorder.recording(request.run_id, f"round {asked.round}") as run:
        found = investigator.investigate(asked, run_id=request.run_id, on_progress=report)
        run.trace, run.transcript = found.as_trace(), found.as_transcript(asked)
        run.products = found.as_products()
    folder.put_return(found.ret)
    say(f"answered, confidence {found.ret.confidence}, {len(found.ret.evidence_refs)} citations")
