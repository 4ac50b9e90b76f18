"""Keeps what agents run away from the rest of the machine. Everything but `keeper` is made of the
standard library alone, as it is started as programs without site-packages."""
