"""Advice: what is recorded, advised, decided and measured; pages and API."""
