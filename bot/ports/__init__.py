"""What the bot needs of the outside, one small Protocol per concept; adapters and fakes repeat its name.

Nothing here does anything. The docstrings are the contract that tests/contracts/ runs over every implementation.

A name is looked up in its module when it is first used: a command that starts needs few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.ports.chat import (
        AskerChat,
        Attachments,
        AuditChat,
        CardFiles,
        Channel,
        ChatHistory,
        ChatMessage,
        DirectChat,
        FeedbackChat,
        Image,
        LiveRun,
        LiveWork,
        Message,
        Messenger,
        PageChat,
        PageRing,
        Person,
        Surface,
        Workspace,
        is_stranger,
    )
    from bot.ports.code import NoteIndex, NoteStore, PassageIndex, Progress
    from bot.ports.storage import (
        ArchivedDocument,
        DamagedDocument,
        DecisionLog,
        Document,
        Documents,
        Engine,
        JobCounts,
        JobQueue,
        Journal,
        Lease,
        Leases,
        RunFolders,
        SharedWrites,
        Store,
        any_job,
    )
    from bot.ports.system import Clock, Terminal

_MODULES = ("storage", "system", "code", "chat")


def __getattr__(name: str) -> Any:
    """Return a port by its name."""
    for module in _MODULES:
        found = import_module(f"bot.ports.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"bot.ports has no {name}")
