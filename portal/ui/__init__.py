"""The kit every page is made of, and the platform's own pages; knows the platform, names no room."""
