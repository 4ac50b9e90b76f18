"""The HTTP interface: thin routes over the flow, and the live stream of events."""
