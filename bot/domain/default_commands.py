"""What a beat may run without a model where triage.yml names no commands: those of the templates, and near ones.

They read; fetching changes no branch and no file. Pure.
"""

from __future__ import annotations

from typing import Final

from bot.domain.command_templates import parse_template

_DATED: Final = "git for-each-ref --sort=committerdate '--format=%(committerdate:short)%09%(refname:short)'"
_CHECKED: Final = "number,title,url,headRefName,statusCheckRollup"
"""What tells a pull request and how its checks stand; code judges the fields, never a title."""

DEFAULT_COMMANDS: Final = tuple(
    parse_template(text)
    for text in (
        "git status --porcelain",
        "git status --porcelain=v1 --branch",
        "git status --short --branch",
        "git stash list",
        "git diff --stat",
        "git fetch --prune --quiet origin",
        "git log --oneline --max-count={number}",
        "git log --oneline --max-count={number} {branch}",
        "git log --oneline --max-count={number} HEAD..origin/HEAD",
        "git log --all --oneline --since={word}",
        "git log --oneline --since={word} {branch}",
        "git merge-tree --write-tree --name-only HEAD origin/HEAD",
        "git merge-tree --write-tree --name-only {branch} {branch}",
        f"{_DATED} refs/heads",
        f"{_DATED} refs/remotes/origin",
        "gh pr status",
        "gh pr list",
        f"gh pr list --json {_CHECKED}",
        f"gh pr list --json {_CHECKED} --limit {{number}}",
        "gh pr checks {number}",
        "gh issue list",
        "glab mr list",
        "glab mr list --output json",
        "glab mr list --output json --per-page {number}",
        "glab ci list --output json",
        "glab ci list --output json --per-page {number}",
        "glab issue list",
    )
)
