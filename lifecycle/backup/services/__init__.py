"""Services of `lifecycle.backup`: fences, settling, the catalogue, holds, probes and totals."""
