"""Notes and lessons: values and rules."""
