"""One outside system a file, always with time-outs; no Django."""
