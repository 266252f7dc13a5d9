"""Documents, journals, jobs and leases as files under TRIAGE_HOME."""
