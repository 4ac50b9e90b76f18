"""One module per resource: each parses, calls the flow and presents."""
