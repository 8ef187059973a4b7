import json

import jsonschema
import pytest

from crawlgauge.report.result_json import load_schema

pytestmark = pytest.mark.real


def test_the_published_example_keeps_to_the_schema(shared_contract):
    example = json.loads((shared_contract / "estimate.example.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(load_schema()).validate(example)
