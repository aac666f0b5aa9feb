"""One server a file: how it is started, when it is ready, how it is ended."""
