"""How does work get done in the background? Claims, submits, polls, settles; holds no rules."""
