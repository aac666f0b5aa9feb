"""LEVEL, TTL, owners and holds of tables and databases: requests, decisions, extensions."""
