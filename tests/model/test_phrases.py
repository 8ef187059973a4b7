import ast
from pathlib import Path
from string import Formatter

import pytest

from crawlgauge.model import checks as by_pairs
from crawlgauge.model import phrases
from crawlgauge.model.estimates import CheckSpec
from crawlgauge.model.histories import checks as by_histories


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0999, "10 %"),
        (0.0996, "10 %"),
        (0.095, "9.5 %"),
        (0.00042, "0.042 %"),
        (0.9951, "99.5 %"),
        (1.003, "100.3 %"),
        (12.5, "1,250 %"),
    ],
)
def test_percentages_read_naturally_at_every_size(share, text):
    assert phrases.percent(share) == text


@pytest.mark.parametrize(
    ("share", "low", "high", "text"),
    [
        (0.462, 0.448, 0.476, "46 % (45–48 %)"),
        (0.462, 0.46, 0.464, "46.2 % (46.0–46.4 %)"),
        (0.462, 0.4615, 0.4625, "46.20 % (46.15–46.25 %)"),
        (0.462, 0.46199, 0.46201, "46.20 % (to within 0.01 %)"),
        (0.5, 0.5, 0.5, "50.00 % (to within 0.01 %)"),
        (0.046, 0.0448, 0.0476, "4.6 % (4.5–4.8 %)"),
        (0.05, 0.01, 0.2, "5 % (1–20 %)"),
        (0.37, 0.004, 3.5, "37 % (0.4–350 %)"),
        (0.997, 0.95, 1.003, "99.7 % (95–100.3 %)"),
    ],
)
def test_ranges_have_the_digits_that_their_width_asks_for(share, low, high, text):
    assert phrases.percent_range(share, low, high) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.3, "less than 1"),
        (999.6, "1,000"),
        (12_345, "12,300"),
        (1_005_000, "1 million"),
        (2_999_999_999, "3 billion"),
        (4.56e12, "4.56 trillion"),
        (1.5e15, "1,500 trillion"),
    ],
)
def test_counts_keep_three_digits_at_every_size(number, text):
    assert phrases.count(number) == text


@pytest.mark.parametrize(
    ("years", "text"),
    [(0.99, "12 months"), (2.04, "2 years"), (1234.5, "1,234 years"), (0.02, "7 days")],
)
def test_times_choose_their_unit(years, text):
    assert phrases.span(years) == text


@pytest.mark.parametrize(
    ("level", "noun"), [("url", "URLs"), ("content", "contents"), ("text", "texts")]
)
def test_each_level_names_what_it_counts(level, noun):
    assert phrases.things(level) == noun


def test_naming_many_labels_does_not_change_the_list():
    labels = list("abcdefgh")
    phrases.names(labels)
    assert labels == list("abcdefgh")


def test_each_sentence_that_is_said_is_there_and_gets_what_its_braces_stand_for():
    texts = {**phrases.load_texts("sentences.toml"), **phrases.load_texts("checks.toml")}
    checks = {
        name: spec.id
        for module in (by_pairs, by_histories)
        for name, spec in vars(module).items()
        if isinstance(spec, CheckSpec)
    }
    n_said = 0
    folder = Path(phrases.__file__).parent
    for path in (*folder.rglob("*.py"), folder.with_name("questions.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            code = said_by(call, checks)
            if code is None:
                continue
            n_said += 1
            section, _, name = code.partition(".")
            fields = {field for _, field, _, _ in Formatter().parse(texts[section][name]) if field}
            given = {keyword.arg for keyword in call.keywords} | {"effect"}
            assert {field.partition(".")[0] for field in fields} <= given, code
    assert n_said > 50


def said_by(call, checks):
    """Return the code of a call of `say`, or of a check's results, if it stands there."""
    if not isinstance(call, ast.Call):
        return None
    words = [word.value if isinstance(word, ast.Constant) else None for word in call.args]
    if isinstance(call.func, ast.Name) and call.func.id == "say":
        return words[0]
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr="found") if name in checks:
            word = words[2] if len(words) > 2 else words[0]
        case ast.Attribute(value=ast.Name(id=name), attr="not_testable") if name in checks:
            word = words[0] if words else "untestable"
        case _:
            return None
    return f"{checks[name]}.{word}" if word else None
