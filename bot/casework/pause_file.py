"""paused.json as anybody reads it, beside a running bot too.

A file that is there and cannot be read is a pause by somebody: spending goes on only where nobody objected.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bot.domain.pause import Pause
from bot.errors import ConfigError

FILE: Final = "paused.json"


def read_pause(home: Path) -> Pause | None:
    """Return the pause of a data directory, also beside a running bot; None where there is none.

    Raises:
        ConfigError: the file may not be read.
    """
    path = home / FILE
    try:
        document = json.loads(path.read_bytes())
        return Pause.model_validate(document) if document else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, ValidationError, RecursionError):
        return Pause(by="", name="somebody (paused.json cannot be read)", at=_written_at(path))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; run this as the user who runs triage") from error


def _written_at(path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:  # gone meanwhile
        return datetime.fromtimestamp(0, UTC)
