"""Change capture over a real MariaDB."""
