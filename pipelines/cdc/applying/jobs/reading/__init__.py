"""How batches of a changelog are read: files, Kafka, plain topics."""
