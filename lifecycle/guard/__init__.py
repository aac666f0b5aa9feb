"""What the guard in the metastore reports: changed policies and dropped objects."""
