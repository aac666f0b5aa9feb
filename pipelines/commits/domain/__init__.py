"""Pure rules of commits and positions."""
