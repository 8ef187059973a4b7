from dataclasses import replace

import pytest

from crawlgauge.model.estimates import Estimate, Newest
from crawlgauge.model.statement import state_headline

GOOD = {
    "coverage": Estimate(value=0.462),
    "persistence": Estimate(value=0.73),
    "half_life_years": Estimate(value=2.2),
    "newest": Newest(
        label="c9", coverage=Estimate(value=0.45), population=Estimate(value=217_300_000)
    ),
    "level": "url",
}
UNKNOWN = Estimate.unknown("not identifiable: nothing is compared")


def test_the_usual_sentence_says_number_assumption_turnover_and_population():
    assert state_headline(**GOOD) == (
        "A typical crawl holds about 46 % of the URLs that it could have reached, if all of them "
        "were equally likely to be captured, which overlaps of pairs cannot test; half of the "
        "URLs are gone after 2.2 years, and the newest crawl could have reached about 217 million."
    )


def with_interval(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


def test_the_interval_stands_behind_the_number():
    text = state_headline(**{**GOOD, "coverage": with_interval(0.462, 0.448, 0.476)})
    assert text.startswith("A typical crawl holds about 46 % (45–48 %) of the URLs that it could")


def test_an_interval_that_reaches_above_one_is_told_by_its_lower_end():
    text = state_headline(**{**GOOD, "coverage": with_interval(0.92, 0.8, 1.06)})
    assert text.startswith("A typical crawl holds about 92 % (at least 80 %) of the URLs")


def test_a_value_above_one_whose_interval_reaches_below_is_a_lower_bound():
    text = state_headline(**{**GOOD, "coverage": with_interval(1.05, 0.91, 1.2)})
    assert text.startswith("A typical crawl holds at least 91 % of the URLs that it could have")
    assert "is more than there can be" in text


def test_an_interval_wholly_above_one_is_impossible():
    text = state_headline(**{**GOOD, "coverage": with_interval(1.24, 1.1, 1.4)})
    assert "above 100 %, which is impossible" in text


def test_other_levels_speak_of_contents():
    assert "of the contents that it could have reached" in state_headline(
        **{**GOOD, "level": "content"}
    )


def test_an_unknown_half_life_is_left_out():
    text = state_headline(**{**GOOD, "persistence": UNKNOWN, "half_life_years": UNKNOWN})
    assert "gone" not in text
    assert text.endswith("cannot test; the newest crawl could have reached about 217 million.")


def test_persistence_above_one_puts_the_number_in_doubt():
    text = state_headline(
        **{
            **GOOD,
            "coverage": with_interval(0.462, 0.448, 0.476),
            "persistence": Estimate(value=1.09),
            "half_life_years": Estimate.unknown("not finite"),
        }
    )
    assert text.startswith("A typical crawl seems to hold about 46 % of the URLs")
    assert "do not shrink with time" in text
    assert "speaks against the model" in text


def test_an_impossible_coverage_is_called_so():
    text = state_headline(**{**GOOD, "coverage": Estimate(value=1.24)})
    assert "above 100 %, which is impossible" in text
    assert "A typical crawl holds" not in text


def test_an_impossible_population_is_left_out():
    newest = replace(GOOD["newest"], coverage=Estimate(value=1.1))
    assert state_headline(**{**GOOD, "newest": newest}).endswith("gone after 2.2 years.")


def test_two_crawls_state_the_least():
    text = state_headline(**{**GOOD, "coverage": UNKNOWN}, least=0.39)
    assert text.startswith("Two crawls cannot tell coverage from turnover")
    assert "at least 39 %" in text
    assert "if all of them were equally likely" in text


def test_without_any_number_the_reason_is_stated():
    assert state_headline(**{**GOOD, "coverage": UNKNOWN}) == (
        "Coverage cannot be estimated from these overlaps: nothing is compared."
    )


@pytest.mark.parametrize("value", [0.0004, 0.3, 0.999, 1.0, 1.5])
def test_it_is_always_one_sentence(value):
    text = state_headline(**{**GOOD, "coverage": Estimate(value=value)})
    assert text.endswith(".")
    assert ". " not in text
