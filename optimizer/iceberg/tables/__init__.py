"""Iceberg tables as known to the portal: changes, commits, lists, pages, API."""
