"""Notes, lessons, rechecks: values and rules."""
