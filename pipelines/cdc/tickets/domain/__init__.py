"""Rules of tickets, without Django."""
