"""The platforms on which people are told things and answer."""
