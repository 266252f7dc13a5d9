"""The parts of README and docs/ that are written from the code, and what keeps the rest of them true.

`python -m reference` writes, `python -m reference --check` says what is out of date; `make docs` and `make docs-check`
call them. A generated part stands between `<!-- generated: NAME -->` and `<!-- /generated -->`; what is around it is
written by hand. Nothing of the bot is started: settings, tables and parsers are read as values.
"""
