"""What a path says about a file: whether its text may be shown at all, and how likely it holds an answer.

Reads nothing but the path. A file whose weight is 0 is never opened: it may hold a secret, or no human wrote it. A
sample of a file of credentials (`.env.example`) is ordinary text: its values are blacked out like any other text's.
Source: the manuals of the programs that read such files, named in the groups below.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

_MAX_PATH_CHARS: Final = 1_024
_SAMPLE: Final = re.compile(
    r"[._-](?:example|sample|template|dist|tpl|default)(?:\.\w{1,10})?$|(?:^|/)(?:example|sample)\.env$"
)
_DATA: Final = (
    "(?:json5?|ya?ml|toml|ini|cfg|conf|config|properties|xml|csv|tsv|txt|env|enc|plist|sql|db|sqlite3?|hcl|ejson|sops)"
)
_NAMES: Final = (
    # environments of shells, direnv, Flask, Cloudflare and Azure workers
    r"\.env(?:[._-][\w.-]{1,60})?|[\w.-]{1,60}\.env|\.envrc|\.flaskenv|\.dev\.vars|local\.settings\.json",
    # logins of command-line tools
    r"[._]netrc|\.authinfo|\.npmrc|\.pypirc|\.pgpass|pgpass\.conf|\.?my\.cnf|\.mylogin\.cnf|\.s3cfg|\.boto|\.dockercfg"
    r"|\.dockerconfigjson|\.git-credentials|\.vault-token|\.terraformrc|terraform\.rc|\.?rclone\.conf|\.msmtprc|\.fetchmailrc"
    r"|\.esmtprc|\.sentryclirc|\.tugboat|\.hubconfig|\.lftprc|sftp(?:-config)?\.json|\.ftpconfig"
    r"|filezilla\.xml|sitemanager\.xml|recentservers\.xml|winscp\.ini|wpa_supplicant\.conf|wg\d{1,2}\.conf"
    r"|settings-security\.xml|\.htpasswd|htpasswd|\.?htdigest|proftpdpasswd|passwd|shadow|gshadow|\.passwd|\.password",
    # what was typed
    r"\.(?:bash|zsh|sh|ksh|psql|mysql|sqlite|python|node_repl|rediscli|irb|mongo)_history",
    # private keys and their stores
    r"[\w. -]{1,100}\.(?:pem|key|p8|p12|pfx|jks|jceks|keystore|bks|kdb|kdbx|ppk|pvk|snk|asc|gpg|pgp|crt|cer|der|csr"
    r"|srl|pkcs12|ovpn|tblk|mobileprovision|agekey|age|keytab|keychain|keychain-db|agilekeychain|opvault|1pux|kwallet|jwk|rdp"
    r"|creds?|secrets?|passwd|publishsettings|cscfg)",
    r"id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk|xmss)[\w.-]{0,40}|[\w.-]{1,60}_(?:rsa|dsa|ecdsa|ed25519)|identity"
    r"|ssh_host_[a-z0-9]{2,10}_key|secring\.[a-z]{3}|otr\.private_key|master\.key|(?:[\w-]{1,40}[._-])?private[_-]?key(?:\.(?:txt|json|ya?ml|xml|hex|b64))?",
    # infrastructure: Terraform, Kubernetes, Ansible, Rails
    r"[\w.-]{1,100}\.(?:tfvars|tfstate)(?:\.[\w.-]{1,40})?|kubeconfig[\w.-]{0,60}|[\w.-]{1,60}[._-]kubeconfig(?:\.ya?ml)?"
    r"|\.?vault[_-]?pass(?:word|wd)?(?:[_-]?file)?(?:\.\w{1,5})?|vault\.ya?ml|credentials\.tfrc\.json|secret_token\.rb"
    r"|[\w.-]{0,60}credentials[\w.-]{0,20}\.ya?ml\.enc",
    # applications
    r"wp-config[\w-]{0,20}\.php|localsettings\.php|(?:local_settings|settings_local)\.py|connectionstrings\.config"
    r"|google-services\.json|googleservice-info\.plist|authkey_\w{1,40}\.p8|credentials\.xml|hudson\.util\.secret|jwt\.hex",
    # service accounts and downloaded keys
    rf"[\w.-]{{0,80}}service[_-]?account[\w.-]{{0,80}}\.{_DATA}|[\w.-]{{0,80}}firebase-adminsdk[\w.-]{{0,80}}\.json"
    r"|[\w.-]{0,60}(?:client[_-]?secrets?|access[_-]?keys?|api[_-]?keys?|accesskeys)[\w.-]{0,80}\.(?:json|csv|txt|ya?ml|xml|toml|ini)"
    r"|(?:gcp|gcloud|google|gce|aws|azure|sa|account)[\w.-]{0,40}[._-]keys?\.json|(?:key|keyfile|token)\.json"
    r"|application_default_credentials\.json|rootkey\.csv|new_user_credentials\.csv",
    # whatever is called so, code too: a file of constants is the usual reason for the name
    r"\.?(?:[\w.-]{1,60}[._-])?(?:secrets?|credentials?|passwords?|passphrases?|creds)(?:[_-][\w-]{1,20})?"
    rf"(?:(?:\.[\w-]{{1,20}})?\.{_DATA})?(?:\.enc|\.dec|\.bak|\.old|\.local)?",
    r"(?:(?:arduino|local|my|app|prod|production|dev|aws|db|wifi)_)?(?:secrets?|credentials?)"
    r"\.(?:py|h|hpp|js|mjs|cjs|php|rb|sh|ps1|lua)|secrets\.(?:ts|go|java|kt|rs|cs|swift)|passwords\.py",
)
_FOLDERS: Final = (
    r"\.aws|\.ssh|\.gnupg|\.azure|\.oci|\.password-store|\.vault|\.chef|\.config/(?:gcloud|gh|sops|rclone|doctl|op)"
    r"|\.docker/config\.json|\.kube|\.gem/credentials|\.cargo/credentials|\.m2/settings\.xml|\.gradle/gradle\.properties"
    r"|\.composer/auth\.json|\.cf/config\.json|\.bundle/config|config/credentials"
)
_SECRET: Final = re.compile(
    rf"(?:^|/)(?:{'|'.join(_NAMES)})$|(?:^|/)(?:{_FOLDERS})(?:/|$)"
    r"|(?:^|/)\.?(?:secrets?|credentials|private[_-]keys?|passwords)/(?:[^/]{1,100}/){0,8}"
    rf"(?:[^/.]{{1,100}}|[^/]{{1,150}}\.{_DATA})$|^auth\.json$",
    re.I,
)


def is_secret_file(path: str) -> bool:
    """Whether the name of the file at `path` says that it holds credentials.

    >>> is_secret_file("deploy/.env"), is_secret_file(".env.example"), is_secret_file("secrets/prod.yaml")
    (True, False, True)
    """
    end = path[-_MAX_PATH_CHARS:]
    return bool(_SECRET.search(end)) and not _SAMPLE.search(end)


class FileKind(StrEnum):
    """What a tracked file is for."""

    SOURCE = "source"
    DOCS = "docs"
    SETTINGS = "settings"
    TEST = "test"
    EXAMPLE = "example"
    CHANGELOG = "changelog"
    LEGAL = "legal"
    VENDORED = "vendored"
    GENERATED = "generated"
    SECRET = "secret"  # noqa: S105 - a kind of file


WEIGHTS = {
    FileKind.SOURCE: 1.0,
    FileKind.DOCS: 0.8,
    FileKind.SETTINGS: 0.7,
    FileKind.TEST: 0.45,
    FileKind.EXAMPLE: 0.5,
    FileKind.CHANGELOG: 0.3,
    FileKind.LEGAL: 0.15,
    FileKind.VENDORED: 0.2,
    FileKind.GENERATED: 0.0,
    FileKind.SECRET: 0.0,
}


_ASKED_FOR = {
    FileKind.TEST: re.compile(r"\b(?:tests?|fixtures?|conftest)\b", re.I),
    FileKind.EXAMPLE: re.compile(r"\b(?:examples?|samples?|demo|tutorial|bench(?:es|marks?)?)\b", re.I),
    FileKind.CHANGELOG: re.compile(
        r"\b(?:change ?log|release notes?|(?:which|what|since) (?:version|release))\b", re.I
    ),
    FileKind.LEGAL: re.compile(r"\blicen[cs]ed?\b", re.I),
}

_RULES = tuple(
    (kind, re.compile(pattern, re.I))
    for kind, pattern in (
        (FileKind.GENERATED, r"\.lock$|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$"),
        (FileKind.GENERATED, r"\.min\.\w+$|\.(?:map|snap|svg|ipynb|po|pot|geojson)$|_pb2(?:_grpc)?\.pyi?$|\.pb\.\w+$"),
        (FileKind.GENERATED, r"(?:^|/)(?:PKG-INFO|py\.typed|[^/]+\.egg-info/.*)$|[._-]generated\.\w+$"),
        (FileKind.VENDORED, r"(?:^|/)(?:_?vendor(?:ed)?|third[_-]?party|node_modules|bower_components|site-packages)/"),
        (FileKind.LEGAL, r"(?:^|/)(?:LICEN[CS]E|COPYING|NOTICE|AUTHORS|CODE_OF_CONDUCT)[^/]*$|(?:^|/)licenses?\.\w+$"),
        (
            FileKind.CHANGELOG,
            r"(?:^|/)(?:CHANGES?|CHANGELOG|HISTORY|NEWS|RELEASES?|RELEASE_NOTES|UPGRADING)(?:\.\w+)?$",
        ),
        (
            FileKind.TEST,
            r"(?:^|/)(?:tests?|__tests__|__mocks__|specs?|testdata|fixtures|e2e)/|(?:^|/)(?:test_[^/]*|conftest\.py)$",
        ),
        (FileKind.TEST, r"(?:_test|_spec|\.test|\.spec|Test|Tests)\.\w+$"),
        (FileKind.EXAMPLE, r"(?:^|/)(?:examples?|samples?|demos?|tutorials?|bench(?:es|marks?)?)/"),
        (FileKind.EXAMPLE, r"(?:^|/)bench(?:mark)?_[^/]*$|_bench(?:mark)?\.\w+$|\.bench(?:mark)?\.\w+$"),
        (FileKind.DOCS, r"\.(?:md|mdx|rst|adoc|org|txt)$|(?:^|/)README[^/]*$"),
        (FileKind.SETTINGS, r"\.(?:toml|ya?ml|json|cfg|ini|conf|properties|xml|csv|tsv|css|scss|html?)$"),
        (FileKind.SETTINGS, r"(?:^|/)(?:Makefile|Dockerfile|\.[\w.-]+)$|\.(?:mk|example|sample|template)$"),
    )
)


def file_kind(path: str) -> FileKind:
    """Return what the file at `path` is for; the first rule that fits decides.

    >>> [str(file_kind(path)) for path in ("src/app.py", "tests/test_app.py", "deploy/.env", ".env.example", "uv.lock")]
    ['source', 'test', 'secret', 'settings', 'generated']
    """
    if is_secret_file(path):
        return FileKind.SECRET
    end = path[-_MAX_PATH_CHARS:]
    return next((kind for kind, pattern in _RULES if pattern.search(end)), FileKind.SOURCE)


def is_indexed(path: str) -> bool:
    """Whether text of the file at `path` may be read and quoted; a path that cannot be cited in one line may not."""
    return path.isprintable() and WEIGHTS[file_kind(path)] > 0


_MEDIA = re.compile(
    r"\.(?:png|jpe?g|gif|webp|ico|bmp|tiff?|psd|ai|mp[34]|m4[av]|mov|avi|webm|wav|ogg|flac|zip|t?gz|bz2|xz|7z|rar|jar|war"
    r"|whl|pdf|docx?|xlsx?|pptx?|woff2?|ttf|otf|eot|so|dll|dylib|exe|bin|dat|onnx|pth?|ckpt|safetensors|gguf|h5|npy|npz"
    r"|parquet|pickle|pkl|sqlite3?|db|fbx|glb|blend)$",
    re.I,
)


def may_hold_text(path: str) -> bool:
    """Whether a file whose content is not at hand might be read if it were: by its name no picture and no archive.

    >>> may_hold_text("docs/guide.md"), may_hold_text("docs/logo.PNG"), may_hold_text("uv.lock")
    (True, False, False)
    """
    return is_indexed(path) and _MEDIA.search(path[-_MAX_PATH_CHARS:]) is None


def is_prose(path: str) -> bool:
    """Whether the file is divided by headings rather than by definitions."""
    return path.lower().endswith((".md", ".mdx", ".rst", ".adoc", ".org", ".txt"))


def path_weight(path: str, question: str) -> float:
    """Return how much a match in `path` counts for `question`, 0 to 1; what the question names by kind counts in full.

    >>> path_weight("tests/test_app.py", "why is it slow?"), path_weight("tests/test_app.py", "which test covers it?")
    (0.45, 1.0)
    """
    kind = file_kind(path)
    asked = _ASKED_FOR.get(kind)
    return 1.0 if asked and asked.search(question) else WEIGHTS[kind]
