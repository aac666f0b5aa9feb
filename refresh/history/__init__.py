"""History of the refresh statements that were sent: rows, pages, API and retention."""
