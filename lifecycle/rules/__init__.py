"""Where data may lie: path rules, templates, and exceptions of a rule."""
