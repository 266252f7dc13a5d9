"""The part of triage.yml about draft pull requests: what a patch may change, and what must pass first."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.config.field_types import SettingsBlock

_Argument = Annotated[str, Field(min_length=1)]


class FixSettings(SettingsBlock):
    """Draft pull requests of proposed patches; they need a token of the code host in the environment."""

    allow: tuple[_Argument, ...] = ()
    """Patterns of protected files (CI, lock files, git's settings) that a patch may change, such as `uv.lock` or
    `.github/workflows/docs.yml`; `*` stands for any characters."""
    check: Annotated[tuple[_Argument, ...], Field(min_length=1)] | None = None
    """A program that runs the codebase's tests, as an argument list such as `[make, test]`; null: none is run. It runs
    in a folder with the patched files and no .git, without network where the machine offers that."""
    check_limit_min: Annotated[float, Field(gt=0, le=120)] = 10
    """Minutes after which the check is ended."""
    check_memory_mb: Annotated[int, Field(ge=64, le=1_048_576)] = 4096
    """How much memory each process of the check may take, in MiB."""
    max_files: Annotated[int, Field(ge=1, le=1000)] = 20
    """How many files a patch may change."""
    max_lines: Annotated[int, Field(ge=1, le=100_000)] = 500
    """How many lines a patch may add and remove together."""
    base: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$")] | None = None
    """The branch that pull requests lead to; null: that of a codebase's `branch`, else the code host's default."""

    def over(self, others: FixSettings) -> FixSettings:
        """Return these where they were given, else the others."""
        return others.model_copy(update={key: getattr(self, key) for key in self.model_fields_set})
