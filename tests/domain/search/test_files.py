"""Files that hold credentials by name are known; samples of them and code about secrets are not taken for them."""

from __future__ import annotations

from bot.domain.search.files import FileKind, file_kind, is_indexed, is_secret_file
from tests.tables import each_row

SECRET = [
    ".env",
    ".env.production",
    ".envrc",
    ".dev.vars",
    ".env-staging",
    "_netrc",
    ".npmrc",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    "deploy/env.production",
    ".boto",
    ".dockerconfigjson",
    ".vault-token",
    "terraform.rc",
    ".msmtprc",
    "sftp-config.json",
    ".ftpconfig",
    "recentservers.xml",
    "wg0.conf",
    "htpasswd",
    "etc/shadow",
    ".bash_history",
    ".psql_history",
    "tls/server.key",
    "AuthKey_X.p8",
    "cert.p12",
    "app.jks",
    "team.kdbx",
    "k.pvk",
    "secring.gpg",
    "vpn.ovpn",
    "http.keytab",
    "id_rsa",
    ".ssh/config",
    "ssh_host_rsa_key",
    "config/master.key",
    "jwt-private-key.json",
    "prod.auto.tfvars",
    "terraform.tfstate",
    "kubeconfig",
    "prod.kubeconfig",
    ".vault_pass",
    "group_vars/prod/vault.yml",
    "config/credentials/production.yml.enc",
    "config/initializers/secret_token.rb",
    "web/wp-config.php",
    "local_settings.py",
    "google-services.json",
    "service-account.json",
    "my-firebase-adminsdk-x1.json",
    "user_accessKeys.csv",
    "gcp-key.json",
    "application_default_credentials.json",
    "secrets.py",
    "secrets.json",
    ".secrets",
    "secrets.prod.yaml",
    "k8s/db-secret.yaml",
    "secrets.js",
    "credentials",
    "credentials.py",
    ".aws/credentials",
    ".azure/accessTokens.json",
    ".config/gh/hosts.yml",
    ".gem/credentials",
    ".m2/settings.xml",
    "auth.json",
    "passwords.csv",
    "deploy/secrets/db/password",
    "secrets/api.env",
    "prod.creds",
]
READABLE = [
    ".env.example",
    "env.sample",
    "secrets.example.yaml",
    "credentials.json.dist",
    "src/app.py",
    "src/secrets/manager.py",
    "src/secret_manager.py",
    "src/change_password.ts",
    "src/auth/credentials.ts",
    "locales/en/auth.json",
    "src/keys.py",
    "monkey.json",
    "token_bucket.py",
    "docs/passwords.rst",
    "environment.yml",
    "src/env.ts",
    "variables.tf",
    "passport.js",
    "src/key.ts",
    "shadow.css",
]


@each_row("path", SECRET)
def test_a_file_of_credentials_is_known_by_its_name(path: str) -> None:
    """It is of the kind `secret` and in no index, in whatever folder and case."""
    assert file_kind(path) is FileKind.SECRET
    assert is_secret_file(f"deep/in/folders/{path}") or path == "auth.json"
    assert not is_indexed(path)


@each_row("path", READABLE)
def test_samples_docs_and_code_about_secrets_are_readable(path: str) -> None:
    """A file is withheld for what its name says it holds, not for a word in it."""
    assert file_kind(path) is not FileKind.SECRET


@each_row(
    "kind, paths",
    [
        (FileKind.CHANGELOG, "CHANGES HISTORY.rst docs/releases/2.2.txt doc/whats_new/v0.20.rst doc/whats-new.rst"),
        (FileKind.CHANGELOG, "docs/history/changelog-4.4.rst CHANGES/12.bugfix.rst doc/release/release_3.1.rst"),
        (FileKind.CHANGELOG, "doc/api/prev_api_changes/api_changes_3.0.0/removals.rst UPGRADE.md"),
        (FileKind.DOCS, "docs/release-process.md docs/change-password.md docs/changes-feed.md docs/making-changes.md"),
        (FileKind.SOURCE, "src/history.ts app/news.py src/releases/index.ts release.py src/latest.ts contest.py"),
        (FileKind.SOURCE, "authors_controller.rb AuthorsController.php license_checker.py src/notice_board.tsx"),
        (FileKind.LEGAL, "LICENSE LICENSE-MIT LICENSE-2.0.txt LICENSE.APACHE2 COPYING.LESSER licenses.md AUTHORS.rst"),
        (FileKind.TEST, "FooTest.php FooTests.cs cart_test.go cart.spec.ts src/test/java/Cart.java"),
        (FileKind.TEST, "IOTest.java shop/tests.py test.js"),
    ],
)
def test_what_a_file_is_for_is_told_by_its_whole_name(kind: FileKind, paths: str) -> None:
    """Release notes lie in folders, too; code about history, authors or the latest is code."""
    assert {path: file_kind(path) for path in paths.split()} == dict.fromkeys(paths.split(), kind)
