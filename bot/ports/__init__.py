"""What the bot needs of the outside, one small Protocol per concept; adapters and fakes repeat its name.

Nothing here does anything. The docstrings are the contract that tests/contracts/ runs over every implementation.
"""

from bot.ports.chat import (
    Channel,
    ChatMessage,
    History,
    Message,
    Messenger,
    Page,
    Person,
    Pictures,
    ProposalChat,
    RecheckChat,
    Surface,
    Workspace,
    is_stranger,
)
from bot.ports.search import MemoryIndex, NoteShelf, PassageIndex
from bot.ports.session_stores import DecisionLog, OverrideStore, ProposalStore, SessionStore, SuggestionStore, WakeBox
from bot.ports.storage import Damage, JobQueue, Journal, Slate, ThreadStore, any_job
from bot.ports.system import Clock, Terminal

__all__ = [
    "Channel",
    "ChatMessage",
    "Clock",
    "Damage",
    "DecisionLog",
    "History",
    "JobQueue",
    "Journal",
    "MemoryIndex",
    "Message",
    "Messenger",
    "NoteShelf",
    "OverrideStore",
    "Page",
    "PassageIndex",
    "Person",
    "Pictures",
    "ProposalChat",
    "ProposalStore",
    "RecheckChat",
    "SessionStore",
    "Slate",
    "SuggestionStore",
    "Surface",
    "Terminal",
    "ThreadStore",
    "WakeBox",
    "Workspace",
    "any_job",
    "is_stranger",
]
