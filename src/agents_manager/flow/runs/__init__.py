"""The ten steps of a run."""
