"""What the bot needs of the outside, one small Protocol per concept; adapters and fakes repeat its name.

Nothing here does anything. The docstrings are the contract that tests/contracts/ runs over every implementation.
"""

from bot.ports.chat import (
    AskerChat,
    Attachments,
    AuditChat,
    CardFiles,
    Channel,
    ChatHistory,
    ChatMessage,
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
