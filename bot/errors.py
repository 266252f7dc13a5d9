"""One tree of errors, split by who must act.

    TriageError
    ├── ConfigError        the operator: a setting, a file or a path is wrong
    ├── InputError         whoever typed or clicked: the request cannot be done as asked
    │   └── Conflict       somebody else was faster; carries who and what they decided
    ├── ProviderError      an outside service refused; its reason says who must act
    │   └── Unavailable    nobody: it cannot be reached or is overloaded now, the same will work later
    │       └── Unconfirmed  a request may or may not have taken effect; look before asking again
    ├── StoreError         the operator: something on disk cannot be read or written
    │   └── Away           the operator: nothing is wrong with what was asked; once it is back, the same will work
    │       ├── DiskRefused   the disk takes nothing now: it is full, read-only, failing
    │       ├── DatabaseAway  the database does not answer, or takes nothing now
    │       └── CodebaseUnreadable  the codebase's .git is damaged
    │           └── NotCloned    nobody: the codebase's first clone is not there yet
    └── IllegalTransition  us: the state machine was asked for a step its table does not hold

Every message says what happened, why, and what to do next. The text of an error may reach a person;
the text of a vendor's exception never does (adapters translate, with `from`).
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

_OF_THE_DISK: Final = MappingProxyType(
    {
        errno.ENOSPC: "free space (`df -h`), or inodes (`df -i`)",
        errno.EDQUOT: "free space, or raise the quota",
        errno.EROFS: "make the file system writable",
        errno.EIO: "check the disk",
        errno.EFBIG: "raise the limit of file sizes",
        errno.EMFILE: "raise the limit of open files",
        errno.ENFILE: "raise the limit of open files",
    }
)
"""What the system says of every file alike, not of this one, and what helps then."""


class TriageError(Exception):
    """Something went wrong that triage understands; `code` tells errors of one class apart, None where nothing does."""

    code: str | None = None


class ConfigError(TriageError):
    """A setting is wrong; `problems` lists every one found, one line each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class InputError(TriageError):
    """The request cannot be done as asked; the message tells the asker why and what to do.

    `next_step` names the command to type next and ends the message; empty where there is none.

    >>> str(InputError("Which task?", next_step="To see them: /triage tiers shop"))
    'Which task? To see them: /triage tiers shop'
    """

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(f"{message} {next_step}" if next_step else message)
        self.next_step = next_step


class Conflict(InputError):
    """Somebody else changed the thread first; the message says who and how."""


class ProviderError(TriageError):
    """An outside service failed; `retry_after_s` is its own advice, `code` its own word for what is wrong, or None."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.retry_after_s, self.code = retry_after_s, code


class Unavailable(ProviderError):
    """The outside service cannot be reached or is overloaded; nothing is wrong with the request."""


class Unconfirmed(Unavailable):
    """The connection broke after the request was sent: it may have taken effect."""


class StoreError(TriageError):
    """A file of ours cannot be read or written."""


class Away(StoreError):
    """What it is kept in cannot be used now; nothing is wrong with what was to be read or written."""


class DiskRefused(Away):
    """The disk takes nothing now."""


class DatabaseAway(Away):
    """The database does not answer, lets nobody in, or takes nothing now."""


class CodebaseUnreadable(Away):
    """What git keeps of the codebase is damaged or cannot be read; once it is mended, the same will work."""


class NotCloned(CodebaseUnreadable):
    """The codebase's first clone is not there yet; whoever makes it tells of what goes wrong."""


class IllegalTransition(TriageError):
    """The transition table holds no such step; nothing was changed."""


def failure_kind(error: TriageError) -> str:
    """Return what two failures of the same kind have in common: the error's class, and its code where it has one.

    >>> failure_kind(StoreError("disk 1 is full")), failure_kind(ProviderError("no such channel", code="gone"))
    ('StoreError', 'ProviderError:gone')
    """
    return ":".join(filter(None, [type(error).__name__, error.code]))


def refusal(what: str, error: OSError, advice: str, *, instead: str = "move it away") -> StoreError:
    """Return the error to raise for what the system refused; `what` and `advice` are said around its reason.

    `instead` is the advice where a folder is in the place of a file; where the disk refuses, the advice is of that.

    >>> refusal("cannot lock a.json", OSError(errno.EROFS, "Read-only file system"), "fix the folder's owner")
    DiskRefused('cannot lock a.json: Read-only file system; make the file system writable')
    """
    kind = DiskRefused if error.errno in _OF_THE_DISK else StoreError
    advice = _OF_THE_DISK.get(error.errno or 0, advice)
    if error.errno == errno.EISDIR:
        advice = f"a folder is where a file belongs; {instead}"
    return kind(f"{what}: {error.strerror}; {advice}")


@contextmanager
def refused(what: str, advice: str, *, instead: str = "move it away") -> Iterator[None]:
    """Raise what the system refuses in the block as `refusal` says it."""
    try:
        yield
    except OSError as error:
        raise refusal(what, error, advice, instead=instead) from error
