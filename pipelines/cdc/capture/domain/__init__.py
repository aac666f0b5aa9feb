"""What the bytes of a binary log say, and what follows for the changelog; without a connection."""
