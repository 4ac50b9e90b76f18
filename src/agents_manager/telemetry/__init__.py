"""Programs that watch others: what they are told, by OpenTelemetry."""
