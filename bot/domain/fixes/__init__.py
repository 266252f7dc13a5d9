"""Fixes: a proposed patch on its way to a draft pull request."""
