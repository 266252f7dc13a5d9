"""Domain values as Block Kit: pure functions, no requests."""
