"""Name services: which NameNodes a lake's file systems have, and calls to them with an end."""
