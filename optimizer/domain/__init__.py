"""Rules of the optimizer room: frozen values in, decisions out."""
