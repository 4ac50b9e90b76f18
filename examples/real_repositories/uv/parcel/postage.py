"""What a parcel costs."""


def postage(grams: int) -> int:
    """Return the postage of a parcel in cents."""
    return 500 + 100 * -(-grams // 1000)
