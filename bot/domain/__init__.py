"""Values and rules: pure, no I/O, no clock, no environment."""
