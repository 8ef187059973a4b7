"""The answer is as large as it may be, and never more certain than the checks allow."""

from dataclasses import replace

import pytest

from crawlgauge.model.estimates import Agreement, Check, Estimate, Headline
from crawlgauge.report.blocks import Verdict
from crawlgauge.report.page.answer import (
    describe_basis_of,
    find_answer,
    has_quotable_number,
    judge_answer,
    list_facts,
)


def with_coverage(estimates, coverage, estimator="two-way"):
    return replace(
        estimates,
        headline=Headline(coverage=coverage, estimator=estimator, statement="A sentence."),
    )


def between(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


def check(status, name="short-lag"):
    return Check(id=name, status=status, effect=0.1, threshold=0.03, message="A finding.")


def whole(estimates):
    """Leave no damage in the crawls."""
    crawls = tuple(replace(crawl, damaged=False) for crawl in estimates.crawls)
    return replace(estimates, crawls=crawls)


def test_a_good_number_stands_with_its_range_and_what_it_rests_on(full):
    answer, verdict = find_answer(whole(full)), judge_answer(whole(full))
    assert answer.figure == "46 %"
    assert answer.range_text == "43–48 % (range calibrated on simulations)"
    assert (answer.bar.low, answer.bar.value, answer.bar.high) == (43.1, 46.2, 47.8)
    rests_on = "The number rests on the capture histories of 6 crawls, read in several ways."
    assert describe_basis_of(full)[0] == rests_on
    assert (verdict.tone, verdict.mark) == ("good", "✓")
    assert "The one check that could be run passed." in verdict.sentence


def test_two_crawls_give_a_bound(two_crawls):
    answer = find_answer(two_crawls)
    assert answer.figure == "at least 42 %"
    assert (answer.bar.low, answer.bar.high, answer.bar.value) == (41.8, 100, None)
    assert judge_answer(two_crawls).word == "no estimate"


def test_three_crawls_give_a_number_without_a_range(three_crawls):
    answer, verdict = find_answer(three_crawls), judge_answer(three_crawls)
    assert (answer.figure, answer.range_text) == ("about 29 %", "no range")
    assert verdict.tone == "look"
    assert "no range" in verdict.sentence


def test_a_number_that_a_check_refutes_is_not_shown_large(full):
    refuted = with_coverage(
        full, Estimate(value=0.079, reason="the check short-lag failed: do not trust this number")
    )
    refuted = replace(refuted, checks=(check("fail"), check("ok", "curvature")))
    answer, verdict = find_answer(refuted), judge_answer(refuted)
    assert answer.figure == "not known"
    assert answer.bar is None
    assert verdict.tone == "bad"
    assert verdict.word == "do not trust this number"
    assert verdict.sentence.startswith("The check short-lag says that")
    assert not has_quotable_number(refuted)
    several = replace(refuted, checks=(check("fail"), check("fail", "lack-of-fit")))
    sentence = judge_answer(several).sentence
    assert sentence.startswith("The checks short-lag and lack-of-fit say that")


@pytest.mark.parametrize(
    ("coverage", "figure", "tone"),
    [
        (between(1.2, 1.1, 1.3), "not known", "bad"),
        (between(1.2, 0.9, 1.6), "at least 90 %", "look"),
        (Estimate(value=1.2, reason="0 degrees of freedom"), "not known", "bad"),
        (between(0.9, 0.7, 1.1), "about 90 %", "look"),
    ],
)
def test_more_than_everything_is_never_claimed(full, coverage, figure, tone):
    plain = replace(full, agreement=Agreement(spread=None, grade="none", reason="."))
    claimed = with_coverage(plain, coverage)
    answer = find_answer(claimed)
    assert answer.figure == figure
    assert judge_answer(claimed).tone == tone
    if answer.bar is not None:
        assert answer.bar.high == 100


def test_at_grade_c_the_range_leads(full):
    graded = replace(full, agreement=Agreement(spread=1.0, grade="C", reason="models disagree"))
    answer = find_answer(graded)
    assert answer.figure == "43 % to 48 %"
    assert answer.bar.value is None
    assert judge_answer(graded).word == "trust the range only"
    assert not has_quotable_number(graded)


def test_pairs_alone_are_never_more_than_a_condition(full):
    plain = replace(full, agreement=Agreement(spread=None, grade="none", reason="."))
    verdict = judge_answer(with_coverage(whole(plain), between(0.46, 0.45, 0.47)))
    assert (verdict.tone, verdict.word) == ("look", "holds if capture is even")
    assert "the true coverage is lower" in verdict.sentence


def test_warnings_ask_for_care_in_singular_and_plural(full):
    one = replace(full, checks=(check("warn"), check("ok", "curvature")))
    verdict = judge_answer(one)
    assert verdict.word == "use with care"
    assert "The check short-lag calls for caution; 1 of 2 checks that could be run passed." in (
        verdict.sentence
    )
    two = replace(full, checks=(check("warn"), check("warn", "curvature"), check("na", "novelty")))
    sentence = judge_answer(two).sentence
    assert "The checks short-lag and curvature call for caution; 0 of 2" in sentence


def test_damage_asks_for_care_although_all_checks_pass(full):
    crawls = (replace(full.crawls[0], damaged=True), *full.crawls[1:])
    verdict = judge_answer(replace(full, crawls=crawls))
    assert (verdict.tone, verdict.word) == ("look", "use with care")
    assert "Part of the input of 2019-06 and 2020-12 was damaged" in verdict.sentence


def test_grade_b_asks_to_quote_the_range(full):
    graded = replace(full, agreement=Agreement(spread=0.2, grade="B", reason="the range is wide."))
    assert judge_answer(whole(graded)).word == "quote the range with it"


IN_LINE = Verdict(tone="good", word="in line", sentence="The newest crawl is in line.")


def facts(estimates, newest=IN_LINE):
    (crawl, held, step) = list_facts(estimates, newest)
    return crawl, held, step.text


def test_the_newest_crawl_is_told_in_the_words_of_its_check(full):
    crawl, *_ = facts(whole(full))
    assert (crawl.heading, crawl.verdict) == ("Newest crawl 2021-12", IN_LINE)


def test_a_damaged_newest_crawl_asks_for_a_look(full):
    crawls = (*full.crawls[:-1], replace(full.crawls[-1], damaged=True))
    crawl, _, step = facts(replace(full, crawls=crawls))
    assert (crawl.verdict.tone, crawl.verdict.word) == ("look", "in line, but damaged")
    assert step.startswith("Add 2020-12 and 2021-12 again from whole files")


def test_no_level_is_told_of_the_newest_crawl_where_the_answer_is_not_trusted(full):
    graded = replace(full, agreement=Agreement(spread=1.0, grade="C", reason="models disagree"))
    crawl, *_ = facts(whole(graded))
    assert "how high all of them are is not known" in crawl.text


def test_few_crawls_are_not_judged_and_more_are_asked_for(two_crawls):
    crawl, _, step = facts(two_crawls, None)
    assert crawl.verdict.word == "too early to tell"
    assert "It has 1,251,000 URLs, 125,000 % more than the one before." in crawl.text
    assert step.startswith("Add further crawls")


def test_without_an_anchor_the_first_screen_says_how_to_get_one(full):
    held = facts(full)[1]
    assert "200 URLs drawn evenly, or the sitemaps of 20 random hosts" in held.text
    assert "`crawlgauge anchor sites --draw 20 --from seeds.txt`" in held.text


def test_the_next_step_mends_before_it_enquires_and_plans_last(full):
    drop = Verdict(tone="bad", word="drop", sentence="It shrank.")
    assert facts(full, drop)[-1].startswith("Find out what happened to 2021-12")
    assert facts(full)[-1].startswith("Add 2020-12 again")
    warned = replace(whole(full), checks=(check("warn"), check("fail", "lack-of-fit")))
    assert "--exclude" in facts(warned)[-1]
    assert "Planning the next crawls" in facts(whole(full))[-1]
    by_pairs = with_coverage(whole(full), between(0.46, 0.45, 0.47))
    assert "capture histories" in facts(by_pairs)[-1]
