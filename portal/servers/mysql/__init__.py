"""Django's MySQL backend with password files and plain words about TLS."""
