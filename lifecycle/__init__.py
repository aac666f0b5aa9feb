"""Lifecycle of Hive data: path rules, TTL, notices, approved backup-then-drop, restore."""
