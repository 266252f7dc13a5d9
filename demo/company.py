"""The demo's company: two teams, three repositories, two ops channels, three approvers.

Ana and Dan approve for payments, Ben for platform; Chloe asks both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from demo.journey import Place
from demo.watched import commit, git
from demo.workspace import ANA, BEN, CHLOE, DemoChannel, DemoUser, DemoWorkspace

DAN: Final = DemoUser(user_id="U0DAN", name="dan", real_name="Dan Kim")
_EVERYBODY: Final = (ANA.user_id, DAN.user_id, BEN.user_id, CHLOE.user_id)

PAY: Final = DemoChannel(channel_id="C0PAY", name="payments", members=_EVERYBODY)
PLAT: Final = DemoChannel(channel_id="C0PLAT", name="platform", members=_EVERYBODY)
PAY_OPS: Final = DemoChannel(
    channel_id="C0PAYOPS", name="payments-ops", members=(ANA.user_id, DAN.user_id), is_private=True
)
PLAT_OPS: Final = DemoChannel(channel_id="C0PLATOPS", name="platform-ops", members=(BEN.user_id,), is_private=True)
COMPANY: Final = DemoWorkspace(users=(CHLOE, ANA, DAN, BEN), channels=(PAY, PLAT, PAY_OPS, PLAT_OPS))

REPOSITORIES: Final[Mapping[str, Mapping[str, str]]] = {
    "shop": {
        "README.md": "# shop\n\nTakes orders and has them paid.\n",
        "shop/retry.py": '''"""Retries of the payment gateway."""

MAX_ATTEMPTS = 5
FIRST_DELAY_S = 0.5


def backoff_delays() -> list[float]:
    """Return the pauses between attempts at the payment gateway, in seconds, doubling each time."""
    return [FIRST_DELAY_S * 2**attempt for attempt in range(MAX_ATTEMPTS - 1)]
''',
    },
    "infra": {
        "README.md": "# infra\n\nThe machines everything runs on.\n",
        "deploy/workers.py": '''"""The workers of the queue."""

MIN_WORKERS = 2


def scale_workers(depth: int) -> int:
    """Return how many workers a queue of this depth gets, one for each hundred waiting jobs."""
    return max(MIN_WORKERS, depth // 100)
''',
    },
    "handbook": {
        "oncall.md": "# On call\n\nOn-call changes on Monday at 10:00 UTC. Who is paged answers within 15 minutes.\n",
    },
}


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoTeam:
    """A team, what it may see, and what Chloe asks it first."""

    place: Place
    approvers: tuple[DemoUser, ...]
    codebases: tuple[str, ...]
    question: str


TEAMS: Final[Mapping[str, DemoTeam]] = {
    "payments": DemoTeam(
        place=Place(help=PAY, ops=PAY_OPS, approver=ANA),
        approvers=(ANA, DAN),
        codebases=("shop", "handbook"),
        question="How often do we retry the payment gateway, and with what backoff delays?",
    ),
    "platform": DemoTeam(
        place=Place(help=PLAT, ops=PLAT_OPS, approver=BEN),
        approvers=(BEN,),
        codebases=("infra", "handbook"),
        question="How many workers does a queue get, and what is the minimum?",
    ),
}


def several_teams(home: Path) -> dict[str, Any]:
    """Make the repositories and return the settings; raises ConfigError and OSError."""
    folder = home / "repositories"
    for name, files in REPOSITORIES.items():
        (folder / name).mkdir(parents=True)
        git(folder / name, "init", "--quiet", "--initial-branch=main")
        commit(folder / name, files, f"The {name}", days_ago=1)
    return {
        "codebases": {name: {"path": str(folder / name)} for name in REPOSITORIES},
        "teams": {name: _settings(team) for name, team in TEAMS.items()},
    }


def _settings(team: DemoTeam) -> dict[str, Any]:
    return {
        "ops_channel": team.place.ops.channel_id,
        "approvers": [user.user_id for user in team.approvers],
        "channels": [{"chat_id": team.place.help.channel_id, "name": team.place.help.name}],
        "codebases": list(team.codebases),
    }
