"""The lane of `make test-github`: what it measures by is fetched first."""

import pytest

from tests.github.description import Description, published


@pytest.fixture(scope="session")
def description() -> Description:
    found = published()
    if found is None:
        pytest.skip("GitHub's description is fetched by: make test-github")
    return found
