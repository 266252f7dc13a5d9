"""Credentials known by their place: the flag of a command, a header, a part of a URL, a field of a line.

Pure. Each pattern is run only on a text that holds its needle, and every repeat in it is bounded.
Source: the manuals of the commands; RFC 3986 §3.2.1 and RFC 7617; PostgreSQL's .pgpass; curl's .netrc.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from bot.domain.credentials.secret_forms import Span
from bot.domain.credentials.secret_values import is_password, is_placeholder, is_random


class _Place(NamedTuple):
    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]


def _chosen(value: str) -> bool:
    """Whether a value where only a password may stand is one: it need not look random, but it is no placeholder."""
    return len(value) >= _MIN_CHOSEN_CHARS and not is_placeholder(value) and not value.startswith("-")


def _password(value: str) -> bool:
    return is_password(value, is_bare=False)


def _random(value: str) -> bool:
    return is_random(value, _MIN_BITS)


_MIN_CHOSEN_CHARS: Final = 3
_MIN_BITS: Final = 3.0
_REST: Final = r"(?:[^\n\\]|\\.|\\\n){0,300}?[\s'\"]"  # of a command, its continued lines included
_TO: Final = r"(?:=|[ \t]{0,3})['\"]?"
_VALUE: Final = r"(?P<value>[^\s'\"]{3,256})"
_HEADERS: Final = r"(?i:(?:proxy-)?authorization)\\?['\"]?[ \t]{0,4}[:=,][ \t]{0,4}\\?['\"]?"


def _command(names: str, flags: str, value: str = _VALUE) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{names})\b{_REST}(?:{flags}){_TO}{value}")


_USER_AND_VALUE: Final = r"[^\s:'\"]{1,64}:(?P<value>[^\s'\"]{2,256})"
_PLACES: Final = tuple(
    _Place(kind, tuple(needles.split(",")), pattern, is_secret)
    for kind, needles, pattern, is_secret in (
        (
            "AWS secret key",
            "aws,AWS,ecret,ECRET",
            re.compile(
                r"(?i:aws|secret)[A-Za-z_ -]{0,24}['\"]?\s{0,4}[=:]\s{0,4}['\"]?"
                r"(?P<value>(?=[a-z+/]{0,40}[A-Z0-9])[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"
            ),
            _random,
        ),
        ("password", "curl ,wget ", _command("curl|wget", r"-u|--user|--proxy-user|-U", _USER_AND_VALUE), _chosen),
        ("password", "http ,https ,xh ", _command("https?|xh", r"-a|--auth", _USER_AND_VALUE), _chosen),
        ("password", "wget ", _command("wget", r"--password|--http-password|--ftp-password|--proxy-password"), _chosen),
        ("password", "mysql,mariadb", re.compile(rf"\b(?:mysql|mariadb)\w*\b{_REST}-p['\"]?{_VALUE}"), _chosen),
        ("password", "sshpass", _command("sshpass", "-p"), _chosen),
        ("password", "redis-cli", _command("redis-cli", "-a|--pass"), _chosen),
        ("password", "mongo", _command("mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport", "-p"), _chosen),
        (
            "password",
            " login,cqlsh",
            _command(
                r"(?:docker|podman|helm registry|buildah|skopeo|oc|nerdctl|crane|az|oras|cf|acr)[ \t]{1,4}login|cqlsh",
                "-p|--password",
            ),
            _chosen,
        ),
        ("password", "ldap", _command(r"ldap\w{2,10}", "-w"), _chosen),
        ("password", "sqlcmd,bcp", _command("sqlcmd|bcp|osql", "-P"), _chosen),
        (
            "password",
            "openssl",
            re.compile(rf"\bopenssl\b{_REST}-pass(?:in|out)?[ \t]{{1,3}}['\"]?pass:{_VALUE}"),
            _chosen,
        ),
        (
            "password",
            "pass ",
            re.compile(rf"(?<=\s)-(?:src|dest|new|store|key)(?:store)?pass[ \t]{{1,3}}['\"]?{_VALUE}"),
            _chosen,
        ),
        ("password", "--pass", re.compile(rf"--passphrase{_TO}{_VALUE}"), _chosen),
        (
            "password",
            "net use",
            re.compile(rf"\bnet use\b[^\n]{{1,200}}?/user:\S{{1,64}}[ \t]{{1,3}}{_VALUE}"),
            _chosen,
        ),
        (
            "password",
            "rabbitmqctl",
            re.compile(
                rf"\brabbitmqctl[^\n]{{1,60}}?(?:add_user|change_password)"
                rf"[ \t]{{1,3}}\S{{1,64}}[ \t]{{1,3}}['\"]?{_VALUE}"
            ),
            _chosen,
        ),
        (
            "password",
            "htpasswd",
            re.compile(
                rf"\bhtpasswd[ \t]{{1,3}}-\w{{0,6}}b\w{{0,6}}[ \t]{{1,3}}(?:\S{{1,200}}[ \t]{{1,3}}){{1,2}}{_VALUE}"
            ),
            _chosen,
        ),
        ("password", "smbclient", _command("smbclient", "-U", r"[^\s%'\"]{1,64}%" + _VALUE), _chosen),
        ("token", "vault login", re.compile(rf"\bvault login[ \t]{{1,3}}(?:token=)?{_VALUE}"), _random),
        (
            "password",
            "-stdin",
            re.compile(
                rf"\b(?:echo|printf)[ \t]{{1,3}}(?:-n[ \t])?['\"]?{_VALUE}['\"]?[ \t]{{0,3}}\|[^\n]{{1,200}}?-stdin\b"
            ),
            _chosen,
        ),
        (
            "password",
            "chpasswd",
            re.compile(rf"\becho[ \t]{{1,3}}['\"]?{_USER_AND_VALUE}['\"]?[ \t]{{0,3}}\|[ \t]{{0,3}}(?:sudo )?chpasswd"),
            _chosen,
        ),
        (
            "password",
            "DENTIFIED,dentified",
            re.compile(
                rf"(?i:\bidentified\s{{1,4}}(?:with\s{{1,4}}\S{{1,40}}\s{{1,4}})?(?:by|as)\s{{1,4}}(?:password\s{{1,4}})?)['\"]{_VALUE}['\"]"
            ),
            _chosen,
        ),
        (
            "password",
            "ASSWORD ,assword ",
            re.compile(
                rf"(?i:\b(?:with|role|user|login|set|encrypted)\s(?:[^\n'\"]{{0,60}}?\s)?password\s{{1,4}}(?:=\s)?)['\"]{_VALUE}['\"]"
            ),
            _chosen,
        ),
        (
            "password",
            "SecureString",
            re.compile(rf"ConvertTo-SecureString[ \t]{{1,4}}(?:-String[ \t]{{1,4}})?['\"]{_VALUE}['\"]"),
            _chosen,
        ),
        ("password", "community ", re.compile(rf"\bsnmp-server community[ \t]{{1,3}}{_VALUE}"), _chosen),
        (
            "password",
            "machine ,login ",
            re.compile(rf"\blogin\s{{1,8}}\S{{1,100}}\s{{1,8}}password\s{{1,8}}{_VALUE}"),
            _chosen,
        ),
        (
            "password",
            "requirepass ,masterauth ",
            re.compile(rf"(?m:^)[ \t]{{0,8}}(?:requirepass|masterauth)[ \t]{{1,4}}['\"]?{_VALUE}"),
            _chosen,
        ),
        (
            "password",
            ":",
            re.compile(
                r"(?m:^)(?=[\w.*-]{0,80}[A-Za-z*])[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w.*-]{1,63}:[\w.*-]{1,63}:(?P<value>[^\s:]{3,128})(?m:$)"
            ),
            _password,
        ),
        (
            "password",
            "://",
            re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<user>[^\s/:@\"'<>]{0,64}):(?P<value>[^\s/@\"'<>]{3,256})@"),
            _chosen,
        ),
        (
            "password",
            "oracle:",
            re.compile(r"jdbc:oracle:\w{2,10}:(?P<user>[^\s/@\"']{1,64})/(?P<value>[^\s@\"']{3,256})@"),
            _chosen,
        ),
        (
            "password",
            "contribsys.com,CONTRIBSYS__COM",
            re.compile(
                r"(?:__CONTRIBSYS__COM['\"]?[ \t]{0,4}[:=][ \t]{0,4}['\"]?|://)(?P<value>[0-9a-f]{8}:[0-9a-f]{8})(?![0-9a-f])"
            ),
            _chosen,
        ),
        (
            "token",
            "earer ,asic ,EARER ,ASIC ",
            re.compile(r"(?i:\b(?:bearer|basic))\s{1,4}(?P<value>[A-Za-z0-9._~+/-]{16,1024}=*)"),
            _random,
        ),
        (
            "token",
            "uthorization,UTHORIZATION",
            re.compile(
                rf"{_HEADERS}(?:[A-Za-z][\w-]{{1,20}}[ \t]{{1,4}}(?:token=)?['\"]?)?"
                rf"(?P<value>[A-Za-z0-9._~+/=:-]{{12,1024}})"
            ),
            _random,
        ),
    )
)


_IN_CLUSTER: Final = re.compile(r"(?m)^kind:[ \t]{1,8}Secret\b")
_MANIFEST_LINE: Final = re.compile(
    r"(?m)^(?P<indent>[ \t]{0,20})(?P<name>[\w.-]{1,100}):[ \t]{0,20}(?P<value>[^\n]{0,20000})"
)


def placed(text: str) -> Iterator[Span]:
    """Yield where a credential stands in a place made for one."""
    for place in _PLACES:
        if any(needle in text for needle in place.needles):
            for match in place.pattern.finditer(text):
                if place.is_secret(match["value"]) and match.groupdict().get("user") != match["value"]:
                    yield Span(*match.span("value"), place.kind)
    if _IN_CLUSTER.search(text):
        yield from _in_manifests(text)


def _in_manifests(text: str) -> Iterator[Span]:
    """Yield the values of Kubernetes' manifests of secrets, whatever they are called there."""
    start = 0
    for separator in (*re.finditer(r"(?m)^---", text), None):
        end = separator.start() if separator else len(text)
        is_data = False
        for line in _MANIFEST_LINE.finditer(text, start, end) if _IN_CLUSTER.search(text, start, end) else ():
            if not line["indent"]:
                is_data = line["name"] in {"data", "stringData"}
            elif is_data and _chosen(line["value"]):
                yield Span(*line.span("value"), "secret")
        start = end
