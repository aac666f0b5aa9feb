"""Tests of the connections to the database, Redis and mail."""
