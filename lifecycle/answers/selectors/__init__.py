"""Read what was shown, what was answered since, and which tables a filter chooses."""
