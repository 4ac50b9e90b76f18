"""What happens: the story, one module a chapter. Knows the outside only by `ports`."""
