"""Services with a real database and no server."""
