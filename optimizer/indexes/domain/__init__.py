"""Pure decisions of `optimizer.indexes`: bytes in, bytes and answers out."""
