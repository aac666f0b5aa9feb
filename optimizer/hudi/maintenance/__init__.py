"""Table services: compaction, clustering, clean, rollback, lost rows, partition TTL."""
