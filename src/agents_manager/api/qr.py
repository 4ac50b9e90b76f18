"""A link as a picture, for the camera of a phone."""

from io import BytesIO, StringIO

import segno


def svg(url: str) -> str:
    """A document of its own, so that it can be shown as an image."""
    drawn = BytesIO()
    segno.make(url, error="m", micro=False).save(
        drawn, kind="svg", scale=4, light="#fff", xmldecl=False, nl=False
    )
    return drawn.getvalue().decode()


def text(url: str) -> list[str]:
    """Two rows of the picture in each line."""
    drawn = StringIO()
    segno.make(url, error="l", micro=False).terminal(out=drawn, compact=True)
    return drawn.getvalue().splitlines()
