"""What every adapter is held to, as test classes: a plugin's tests subclass the one of its kind and
say, by fixtures, how theirs is made. They take pytest and pytest-asyncio, with
`asyncio_mode = "auto"`."""

import pytest

# So that a failed assertion says what was compared, as it does in a test file.
pytest.register_assert_rewrite(
    *(f"{__name__}.{kind}" for kind in ("agents", "channels", "checks", "forges", "pipelines"))
)
