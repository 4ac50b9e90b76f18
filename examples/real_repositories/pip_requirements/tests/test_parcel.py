import pytest
from parcel.label import sign, signing_key
from parcel.postage import postage


def test_each_started_kilogram_costs_a_euro_more() -> None:
    assert (postage(999), postage(1001)) == (600, 700)


def test_labels_are_signed() -> None:
    try:
        signing_key()
    except KeyError:
        pytest.skip("needs PARCEL_SIGNING_KEY")
    assert len(sign("1 Main Street")) == 64
