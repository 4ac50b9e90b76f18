"""Keeps what agents run away from the rest of the machine. Everything but `keeper`, `gateway`
and `answers` is made of the standard library alone, as it is started as programs without
site-packages."""
