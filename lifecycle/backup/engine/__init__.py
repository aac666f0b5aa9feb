"""Acts on data step by step, with an intent before and a done after; free of Django."""
