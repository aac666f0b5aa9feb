"""What recorded queries have in common, and what they ask of tables; pure."""
