"""What the portal's connections say without the servers that only the tier `clusters` has."""
