"""What the bot needs of the outside, one small Protocol per concept; adapters and fakes repeat its name.

Nothing here does anything. The docstrings are the contract that tests/contracts/ runs over every implementation.
"""

from bot.ports.chat import (
    Channel,
    ChatHistory,
    ChatMessage,
    Message,
    Messenger,
    Page,
    PageChat,
    PageRing,
    Person,
    ProposalChat,
    RecheckChat,
    Surface,
    WeekPictures,
    Workspace,
    is_stranger,
)
from bot.ports.search import NoteIndex, NoteStore, PassageIndex
from bot.ports.storage import (
    ArchivedDocument,
    DamagedDocument,
    DecisionLog,
    Document,
    Documents,
    JobCounts,
    JobQueue,
    Journal,
    Lease,
    Leases,
    Store,
    any_job,
)
from bot.ports.system import Clock, Terminal

__all__ = [
    "ArchivedDocument",
    "Channel",
    "ChatHistory",
    "ChatMessage",
    "Clock",
    "DamagedDocument",
    "DecisionLog",
    "Document",
    "Documents",
    "JobCounts",
    "JobQueue",
    "Journal",
    "Lease",
    "Leases",
    "Message",
    "Messenger",
    "NoteIndex",
    "NoteStore",
    "Page",
    "PageChat",
    "PageRing",
    "PassageIndex",
    "Person",
    "ProposalChat",
    "RecheckChat",
    "Store",
    "Surface",
    "Terminal",
    "WeekPictures",
    "Workspace",
    "any_job",
    "is_stranger",
]
