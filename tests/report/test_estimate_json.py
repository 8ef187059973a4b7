import dataclasses
import json
import math

import jsonschema
import pytest

from crawlgauge.model.estimates import Estimate
from crawlgauge.provenance import Provenance
from crawlgauge.report.result_json import estimate_document, load_schema, to_json

ESTIMATE = ["value", "low", "high", "level", "basis", "reason"]


@pytest.fixture(params=["full", "two_crawls", "three_crawls"])
def estimates(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def validator():
    schema = load_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )


def test_the_document_keeps_to_the_schema(estimates, validator):
    validator.validate(estimate_document(estimates))


def test_the_json_text_reads_back_as_the_plain_data(estimates):
    assert json.loads(to_json(estimate_document(estimates))) == estimate_document(estimates)


def test_members_stand_in_the_documented_order(full):
    document = json.loads(to_json(estimate_document(full)))
    assert list(document) == [
        "schema", "level", "crawls", "headline", "newest", "persistence", "half_life_years",
        "population", "growth_per_year", "per_crawl", "paper", "estimators", "agreement",
        "checks", "residuals", "union", "warnings", "provenance", "decay_curves",
        "capture_frequencies", "readings", "first_captures", "anchors", "by_crawls",
    ]  # fmt: skip
    assert list(document["crawls"][0]) == ["label", "date", "n_urls", "n_sampled", "damaged"]
    assert list(document["headline"]) == ["coverage", "estimator", "statement"]
    assert list(document["newest"]) == ["label", "coverage", "population"]
    assert list(document["persistence"]) == ESTIMATE
    assert list(document["per_crawl"][0]) == ["label", "coverage", "population", "note"]
    assert list(document["paper"]) == [
        "coverage", "persistence", "half_life_years", "r_squared", "n_pairs", "direction",
        "per_start", "self_intersections",
    ]  # fmt: skip
    assert list(document["paper"]["per_start"][0]) == [
        "label", "coverage", "persistence", "n_pairs",
    ]  # fmt: skip
    assert list(document["estimators"][0]) == [
        "name", "coverage", "persistence", "population", "per_crawl", "assumes",
    ]  # fmt: skip
    assert list(document["agreement"]) == ["spread", "grade", "reason"]
    assert list(document["checks"][0]) == ["id", "status", "effect", "threshold", "message"]
    assert list(document["residuals"][0]) == [
        "a", "b", "lag_years", "n_shared", "containment", "containment_backward", "jaccard",
        "dice", "log_r", "log_r_two_way",
    ]  # fmt: skip
    assert list(document["union"]) == [
        "coverage", "n_distinct", "n_alive", "dead_share", "n_unseen", "per_crawl", "caution",
        "held_ratio",
    ]  # fmt: skip
    assert list(document["decay_curves"][0]) == [
        "name", "coverage", "lags_years", "containment", "meaning",
    ]  # fmt: skip
    assert list(document["provenance"]) == ["crawlgauge", "created", "settings", "inputs"]


def test_values_arrive_unrounded(full):
    document = json.loads(to_json(estimate_document(full)))
    assert document["headline"]["coverage"] == {
        "value": 0.462,
        "low": 0.431,
        "high": 0.478,
        "level": 0.95,
        "basis": "empirical-band",
        "reason": None,
    }
    assert document["crawls"][3] == {
        "label": "2020-12",
        "date": "2020-12-15",
        "n_urls": 61_480_112,
        "n_sampled": 960_626,
        "damaged": True,
    }
    assert document["paper"]["half_life_years"] == 2.2217
    assert document["paper"]["per_start"][4]["coverage"] is None
    assert document["paper"]["self_intersections"] == [0.45, 0.45, 0.45, 0.45, 0.461, 0.461]
    assert document["provenance"]["settings"] == {"level": "url", "sample": 0.015625}
    assert document["union"]["per_crawl"][4]["value"] == 0.77
    assert document["decay_curves"][1]["containment"] == [0.52, 0.31, 0.214]
    assert document["capture_frequencies"][5] == 4_000_000


def test_the_text_keeps_dashes_readable(full):
    assert "46 % (43–48 %)" in to_json(estimate_document(full))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused_and_named(full, number):
    broken = dataclasses.replace(full, half_life_years=Estimate(value=number))
    with pytest.raises(ValueError, match=r"^half_life_years\.value is "):
        to_json(estimate_document(broken))


def test_a_number_deep_in_a_list_is_refused_with_its_place(full):
    start = dataclasses.replace(full.paper.per_start[1], persistence=math.nan)
    paper = dataclasses.replace(full.paper, per_start=(full.paper.per_start[0], start))
    with pytest.raises(ValueError, match=r"^paper\.per_start\[1\]\.persistence is nan"):
        estimate_document(dataclasses.replace(full, paper=paper))


def test_a_setting_that_is_not_finite_is_refused(full):
    provenance = Provenance(settings={"sample": math.nan})
    with pytest.raises(ValueError, match="JSON"):
        to_json(estimate_document(dataclasses.replace(full, provenance=provenance)))


def break_value_without_reason(document):
    document["persistence"] |= {"value": None, "low": None, "high": None, "basis": "none"}


def break_empty_reason(document):
    break_value_without_reason(document)
    document["persistence"]["reason"] = ""


def break_range_without_basis(document):
    document["population"]["basis"] = "none"


def break_unknown_member(document):
    document["headline"]["colour"] = "green"


def break_name_of_estimator(document):
    document["estimators"][0]["name"] = "A guess"


def break_unknown_headline_estimator(document):
    document["headline"]["estimator"] = "guess"


def break_name_of_check(document):
    document["checks"][0]["id"] = "The weather"


def break_unknown_status(document):
    document["checks"][0]["status"] = "fine"


def break_unknown_basis(document):
    document["union"]["coverage"]["basis"] = "feeling"


def break_unknown_shape_of_decay(document):
    document["decay_curves"][1]["name"] = "linear"


def break_capture_frequency(document):
    document["capture_frequencies"][0] = 0.5


def break_union_of_a_crawl(document):
    document["union"]["per_crawl"][1] = 0.66


def break_unknown_grade(document):
    document["agreement"]["grade"] = "D"


def break_unknown_direction(document):
    document["paper"]["direction"] = "sideways"


def break_schema_version(document):
    document["schema"] = "crawlgauge.estimate/2"


def break_missing_member(document):
    del document["union"]


def break_date(document):
    document["crawls"][0]["date"] = "15.12.2013"


@pytest.mark.parametrize(
    "break_it",
    [value for name, value in list(globals().items()) if name.startswith("break_")],
    ids=lambda function: function.__name__,
)
def test_the_schema_refuses(full, validator, break_it):
    document = estimate_document(full)
    validator.validate(document)
    break_it(document)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(document)


def test_the_schema_leaves_settings_open_and_the_newer_members_optional(full, validator):
    document = estimate_document(full)
    document["provenance"]["settings"]["anything"] = "goes"
    del document["provenance"]["created"]
    del document["paper"]["self_intersections"]
    for name in ("decay_curves", "capture_frequencies", "readings", "first_captures"):
        del document[name]
    for name in ("dead_share", "n_unseen", "per_crawl", "caution", "held_ratio"):
        del document["union"][name]
    validator.validate(document)
