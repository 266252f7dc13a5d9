"""`triage doctor`: what is wrong here, each with its fix."""
