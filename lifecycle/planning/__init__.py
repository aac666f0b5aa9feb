"""What plans share: what may enter, how much, and who counts as a requester."""
