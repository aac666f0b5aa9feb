"""Keys and ciphers, without Spark."""
