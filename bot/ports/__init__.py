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
    Person,
    ProposalChat,
    RecheckChat,
    Surface,
    WeekPictures,
    Workspace,
    is_stranger,
)
from bot.ports.search import NoteIndex, NoteStore, PassageIndex
from bot.ports.session_stores import DecisionLog, SessionStore
from bot.ports.storage import Damage, Document, Documents, JobQueue, Journal, ThreadStore, any_job
from bot.ports.system import Clock, Terminal

__all__ = [
    "Channel",
    "ChatHistory",
    "ChatMessage",
    "Clock",
    "Damage",
    "DecisionLog",
    "Document",
    "Documents",
    "JobQueue",
    "Journal",
    "Message",
    "Messenger",
    "NoteIndex",
    "NoteStore",
    "Page",
    "PageChat",
    "PassageIndex",
    "Person",
    "ProposalChat",
    "RecheckChat",
    "SessionStore",
    "Surface",
    "Terminal",
    "ThreadStore",
    "WeekPictures",
    "Workspace",
    "any_job",
    "is_stranger",
]
