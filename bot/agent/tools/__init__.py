"""The read-only tools a model may use."""
