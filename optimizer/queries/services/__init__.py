"""Takes queries in that engines tell of, and keeps them for the lake's own table."""
