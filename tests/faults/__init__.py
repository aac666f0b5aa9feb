"""Real processes, killed or frozen at named points, and what must hold afterwards."""
