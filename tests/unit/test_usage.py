"""Usage of several turns together."""

from agents_manager.domain.run import Usage


def test_what_one_turn_did_not_report_stays_unknown() -> None:
    first = Usage(input_tokens=1, output_tokens=2, cost_usd=0.5)
    second = Usage(input_tokens=3, cost_usd=0.25)
    assert first.plus(second) == Usage(input_tokens=4, cost_usd=0.75)
