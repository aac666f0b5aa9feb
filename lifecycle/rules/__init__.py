"""Where data may lie: path rules, templates, and waivers of a rule."""
