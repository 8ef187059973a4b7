"""The names that users import: all there, documented, and known to type checkers."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import crawlgauge
from crawlgauge import api, errors
from crawlgauge.simulate import scenarios

NAMES = sorted(set(crawlgauge.__all__) - {"__version__"})


@pytest.mark.parametrize("name", NAMES)
def test_each_name_exists_and_is_documented(name):
    found = getattr(crawlgauge, name)
    assert inspect.getdoc(found)
    if inspect.isfunction(found):
        assert all(
            parameter.annotation is not inspect.Parameter.empty
            for parameter in inspect.signature(found).parameters.values()
        )


def test_each_name_is_offered_by_the_module_that_it_comes_from():
    for name in NAMES:
        home = importlib.import_module(crawlgauge._HOME_OF[name])
        assert name in home.__all__
        assert getattr(crawlgauge, name) is getattr(home, name)


def test_all_that_the_modules_for_users_offer_is_there():
    simulations = (name for name in scenarios.__all__ if name.startswith("simulate"))
    assert {*api.__all__, *simulations, *errors.__all__} <= set(NAMES)


def test_type_checkers_see_all_names_from_their_homes():
    stub = Path(crawlgauge.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    seen = {}
    for node in ast.parse(stub).body:
        assert isinstance(node, ast.ImportFrom)
        (alias,) = node.names
        assert alias.name == alias.asname, "only a name imported as itself is exported"
        seen[alias.name] = node.module
    assert seen.pop("__version__") == "crawlgauge._version"
    # A module with functions of its own, loaded when it is first used.
    assert seen.pop("spark") == "crawlgauge"
    assert seen == crawlgauge._HOME_OF


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'crawlgauge' has no attribute 'nonsense'"):
        _ = crawlgauge.nonsense
    assert dir(crawlgauge) == sorted(crawlgauge.__all__)


def test_every_error_is_a_crawlgauge_error():
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.CrawlgaugeError)


def test_the_type_marker_is_installed():
    assert (Path(crawlgauge.__file__).parent / "py.typed").exists()
