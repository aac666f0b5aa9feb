"""The refresh room for programs."""
