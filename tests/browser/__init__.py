"""The whole story in a real browser, on the stack that `./lakewarden demo` serves."""
