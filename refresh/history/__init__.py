"""Refreshes that were sent: their rows, pages and API, and how long they are kept."""
