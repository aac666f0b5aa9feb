"""People: sign-in and its methods, departures, and the people behind an owner's name."""
