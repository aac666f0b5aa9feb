"""How far each database is trusted, its days, and the record of what would have been dropped."""
