"""triage.yml and the environment: the only reader."""
