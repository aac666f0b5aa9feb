"""Which services a Hudi table needs, in which order, and what came of them."""
