"""What fields of several serializers of refresh say alike."""

ADDRESS = "host:port of the front end; the host alone where it has not started yet"
