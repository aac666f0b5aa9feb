"""The source: a MySQL or MariaDB server, its tables and its binary log."""
