"""Reads engines' own events of queries; no constant of a query is read."""
