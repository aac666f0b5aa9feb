"""Everything that proves the portal; each folder says in its files what is real in it."""
