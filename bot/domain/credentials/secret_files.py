"""Files whose name says that they hold credentials: their text is never read, shown, searched or indexed.

Pure. A sample of such a file (`.env.example`) is ordinary text: its values are blacked out like any other text's.
Source: the manuals of the programs that read these files, named in the groups below.
"""

from __future__ import annotations

import re
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
