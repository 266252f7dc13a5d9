"""`triage init`: a few questions, then triage.yml and .env."""
