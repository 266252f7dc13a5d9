"""The storage ports over PostgreSQL, for any number of replicas (docs/decisions/postgresql.md)."""
