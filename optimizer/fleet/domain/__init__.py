"""Rules of `optimizer.fleet`, without a database."""
