"""Reading git: one pinned commit, its history, nothing else."""
