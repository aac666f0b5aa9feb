"""The kit every page is made of, and the platform's own pages; it names no room."""
