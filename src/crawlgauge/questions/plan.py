"""What to crawl next: sizes and frequencies for a wanted coverage, and what a crawl would add."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawlgauge.api import Fit
from crawlgauge.model.plan import Plan, plan_crawls, usual_wishes
from crawlgauge.report import plan_blocks, result_json
from crawlgauge.report.section import Answer, Section, show_plan

if TYPE_CHECKING:
    from crawlgauge.report.blocks import Block

__all__ = ["CrawlPlan", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPlan(Answer):
    """A plan, ready to be read, printed or saved.

    Parameters
    ----------
    fit
        What it was made from.
    result
        The plan.
    """

    fit: Fit
    result: Plan

    def _blocks(self) -> "list[Block]":
        return plan_blocks.to_blocks(self.result)

    def _document(self) -> dict[str, Any]:
        return result_json.plan_document(self.result, self.fit.estimates)

    def _section(self) -> Section:
        return show_plan(self.result)


def plan(
    fit: Fit,
    *,
    target: float | None = None,
    union_target: float | None = None,
    budget: float | None = None,
    crawls_per_year: float | None = None,
    size: float | None = None,
    floor: float | None = None,
    cost_per_million: float | None = None,
) -> CrawlPlan:
    """Plan the next crawls from the estimates of a series.

    Parameters
    ----------
    fit
        What `estimate` returned.
    target
        Coverage that a single crawl should have: how large must it be?
    union_target
        Share of what lives that all crawls together should hold: how large must the next crawl be,
        and how large all of them in the long run?
    budget
        URLs a year; else the newest crawl's size as often as crawls are made.
    crawls_per_year
        How often to crawl; else as often as so far.
    size
        URLs of the next crawl: what would it add? Else as the budget has it.
    floor
        Share of what lives: when is less held if crawling stops?
    cost_per_million
        What a million captured URLs cost, in any currency.

    Returns
    -------
    CrawlPlan
        If neither `target`, `union_target` nor `floor` is given, the next round numbers above what
        is held are planned for. What cannot be known is an estimate without a value, with the
        reason. At grade C all estimates are ranges without a value.

    Raises
    ------
    FitError
        If a wish is out of bounds, if coverage or turnover is not known or the model was rejected,
        or if nothing says how often crawls are made.

    Examples
    --------
    >>> import crawlgauge as cg
    >>> fit = cg.estimate(cg.simulate_table(n_crawls=4, seed=1, with_histories=False))
    >>> plan = cg.plan(fit, target=0.8)
    >>> 150_000 < plan.result.coverage_target.n_urls.value < 170_000
    True
    """
    wishes = {"target": target, "union_target": union_target, "floor": floor}
    if all(wish is None for wish in wishes.values()):
        wishes = usual_wishes(fit.estimates)
    result = plan_crawls(
        fit.estimates,
        budget=budget,
        crawls_per_year=crawls_per_year,
        size=size,
        cost_per_million=cost_per_million,
        **wishes,
    )
    return CrawlPlan(fit=fit, result=result)
