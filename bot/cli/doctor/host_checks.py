"""The check of `triage doctor` about code hosts: which codebase has a token for draft pull requests. Reads no value."""

from __future__ import annotations

from bot.agent.git.git_repo import GitRepo
from bot.casework.reports.health_checks import HealthCheck, well
from bot.cli.doctor.context import DoctorContext
from bot.composition.codebases import checkout_path
from bot.composition.fix_services import token_variable
from bot.config.codebase_settings import CodebaseSettings
from bot.config.environment import host_token_name
from bot.domain.citations.links import CodeHost, CodeRepository, code_repository
from bot.errors import ConfigError, ProviderError


def code_hosts(patient: DoctorContext) -> HealthCheck:
    """Say for every codebase whether a token for its host is there; none is needed to answer questions."""
    settings = patient.settings()
    places = {
        name: _place(name, one, patient, default=settings.code_host) for name, one in settings.all_codebases.items()
    }
    return well("; ".join(_line(name, place, places, patient) for name, place in places.items()))


def _place(
    name: str, one: CodebaseSettings, patient: DoctorContext, *, default: CodeHost | None
) -> CodeRepository | None:
    try:
        remote = one.url or GitRepo(checkout_path(name, one, patient.home)).remote_url()
    except (ConfigError, ProviderError):  # the check of git says why
        return None
    return code_repository(remote, one.code_host or default)


def _line(
    name: str, place: CodeRepository | None, places: dict[str, CodeRepository | None], patient: DoctorContext
) -> str:
    lead = f"{name}: " if name else ""
    wanted = host_token_name(place.kind, name if len(places) > 1 else "") if place else None
    if place is None or wanted is None:
        return f"{lead}on no host that is known, so patches are given as files"
    found = token_variable(patient.environment, name, place, places.values())
    if found is None:
        return f"{lead}{wanted} is missing for {place.origin}, so patches are given as files"
    return f"{lead}{found} is there for {place.origin}"
