"""What spans both formats: the queue page, cancelling, metrics."""
