"""`triage investigate`, and what became of one question: `triage why` and `triage verify`."""
