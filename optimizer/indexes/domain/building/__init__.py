"""What builders alone use: ways to find pieces fast, and what a filter lets through."""
