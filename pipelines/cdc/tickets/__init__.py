"""Changes of schema that are announced and approved before they run at the source."""
