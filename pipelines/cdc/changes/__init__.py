"""What a change is: its version, its record in the changelog, and the schema it was made under."""
