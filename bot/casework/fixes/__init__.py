"""Carries a proposed patch to a draft pull request."""
