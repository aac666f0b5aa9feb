"""Takes a restore back: what it brought goes into the backup again."""
