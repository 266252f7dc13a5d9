"""Settings become adapters and services: one builder per feature."""
