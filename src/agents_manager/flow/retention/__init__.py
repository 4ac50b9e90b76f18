"""What is removed when it is old enough, and what never is."""
