"""The documentation as pages of the server, under /docs."""
