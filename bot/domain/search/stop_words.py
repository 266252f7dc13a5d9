"""Words that say nothing about where an answer lies, and words that engineers use for one another.

Data, and the rule for word endings. A word belongs in STOP_WORDS if it is as common in questions about any codebase
as in those about ours.
"""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a about above actually after again all already also always am an and another any anybody anyone anything are
    around as ask at away back be because been before being below between both but by came can cannot come comes could
    couldn did didn do does doesn doing don done down during each either else end ends ever every everyone exactly
    far few first for from further gave get gets getting give gives go goes going gone gonna good got had has have
    haven having he hello help her here hers hey hi him his how however i if in instead into is isn it its itself just
    keep keeps kind know last let lets like likely ll look looking looks lot made make makes many may maybe me mean
    means might more most much must my need needs never no nor not now of off often ok okay on once one ones only or
    other others our ours out over own people please possible probably put quite re really right said same say says see
    seem seems she should shouldn since so some somebody somehow someone something sometimes somewhere still stuff such
    sure take taken takes tell than thank thanks that the their them then there these they thing things think this
    those though through thx to today together told too tried try trying two under until up upon us use used uses using
    usually ve very via want wants was wasn way we well went were weren what whats when where wheres whether which
    while who whole why will wish with within without won wondering would wouldn yes yet you your yours
    codebase decide decided decides happen happened happening happens repo repository work
    working works currently eg ie etc weird anyhow way basically correct correctly
    """.split()  # noqa: SIM905 - a word list is read as words
)

_SUFFIXES = (
    "ations",
    "ation",
    "ings",
    "ing",
    "ions",
    "ion",
    "ies",
    "ers",
    "ied",
    "ed",
    "er",
    "es",
    "ly",
    "y",
    "e",
    "s",
)

_GROUPS = """
    argument parameter param option
    auth authentication authorization login credentials
    async asynchronous await coroutine
    begin start startup
    build construct create make
    bytes binary
    cert certificate ssl tls
    choose chosen select pick
    config configuration settings options
    concurrent parallel thread
    copy clone duplicate
    crash failure exception error
    database db sql
    default fallback
    delete remove purge
    dependency requirement version
    deploy deployment release
    dir directory folder
    env environment environ
    error exception raise
    expire expiry ttl lifetime
    find locate search lookup
    format serialize encode
    give abort stop
    guess detect infer
    ignore skip bypass
    job task worker
    limit max maximum
    load read
    log logging logger
    merge combine
    modify change update
    order sequence sort
    permission access role
    print show display
    queue spool backlog
    rate throttle limit
    save persist store write
    send post deliver
    shutdown exit stop terminate
    string text str
    test testing
    turn convert
    upload file multipart
    url uri link
    validate verify check
    variable var
    wait sleep delay timeout
"""


def stem(word: str) -> str:
    """Return a word without its commonest English endings; rough, but the same for both sides of a comparison.

    >>> stem("retries") == stem("retry"), stem("cached") == stem("caching"), stem("bus")
    (True, True, 'bus')
    """
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def _near_words() -> dict[str, tuple[str, ...]]:
    """Return, for the stem of each word, the other words of its groups."""
    near: dict[str, dict[str, None]] = {}
    for group in _GROUPS.strip().splitlines():
        words = group.split()
        for word in words:
            near.setdefault(stem(word), {}).update(dict.fromkeys(other for other in words if other != word))
    return {word: tuple(others) for word, others in near.items()}


NEAR_WORDS = _near_words()
