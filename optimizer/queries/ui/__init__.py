"""Pages of the queries that cost most."""
