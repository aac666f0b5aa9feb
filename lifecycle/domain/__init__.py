"""Pure decisions of the lifecycle room: frozen dataclasses in, decisions out."""
