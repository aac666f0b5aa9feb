"""Keeps messages to the broker in the database until they are sent."""
