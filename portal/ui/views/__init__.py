"""The platform's own pages: they parse, call one service or selector, and render."""
