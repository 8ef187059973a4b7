"""How many crawls back a capture has an effect on being captured again."""

from dataclasses import dataclass, replace

from crawlgauge.model.known_alive.candidates import fit_informed
from crawlgauge.model.known_alive.families import Even, LogNormal, TwoClasses
from crawlgauge.model.known_alive.information import Information
from crawlgauge.model.known_alive.parameters import WindowModel
from crawlgauge.model.known_alive.windows import MAX_TRAP_LAGS, WindowCounts

__all__ = ["USUAL_LOW_TAIL", "TrapChoice", "choose_trap_lags"]

USUAL_LOW_TAIL = 0.35
"""Low tail of the log-normal family to begin with: the middle of what lists show."""

_CRAWLS_BEYOND_LAGS = 4
"""A trap of K crawls needs windows with K rested crawls inside, and a crawl to compare."""

_MIN_GAIN = 6.0
"""A longer trap must gain this much of the criterion: six units, where two are chance."""

_GAIN_SHARE = 0.03
"""A crude family leaves some unevenness, which a trap can take up: the more there is, the more a
longer trap must gain."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrapChoice:
    """The trap's length, with the first fits at that length.

    Parameters
    ----------
    trap_lags
        K.
    no_trap
        Fit with even capture and no trap, whatever K.
    even, one_sided, log_normal, two_classes
        Fits with even capture, with a log-normal upper and no low tail, with the usual low tail,
        and with two classes.
    """

    trap_lags: int
    no_trap: Information
    even: Information
    one_sided: Information
    log_normal: Information
    two_classes: Information

    @property
    def redundancy(self) -> float:
        """Units of the criterion that count as one."""
        return self.even.redundancy

    @property
    def best_uneven(self) -> float:
        """Lowest criterion of the families of uneven capture."""
        return min(fit.criterion for fit in (self.one_sided, self.log_normal, self.two_classes))

    @property
    def best(self) -> float:
        """Lowest criterion of all families."""
        return min(self.best_uneven, self.even.criterion)

    @property
    def gain(self) -> float:
        """What uneven capture gains over even capture."""
        return (self.even.criterion - self.best_uneven) / self.redundancy


def choose_trap_lags(counts: WindowCounts) -> TrapChoice:
    """Take the shortest trap whose criterion is as good as any, with crude uneven capture.

    Trap and uneven capture are judged together: either alone would explain part of the other.

    Parameters
    ----------
    counts
        The windows.
    """
    longest = min(MAX_TRAP_LAGS, counts.n_crawls - _CRAWLS_BEYOND_LAGS)
    choices = [_fit_first(counts, lags) for lags in range(longest + 1)]
    lowest = min(choice.best for choice in choices)
    margin = max(_MIN_GAIN, _GAIN_SHARE * _gain_without_trap(choices[0]))
    chosen = next(
        choice for choice in choices if choice.best <= lowest + margin * choice.redundancy
    )
    return replace(chosen, no_trap=choices[0].even)


def _gain_without_trap(choice: TrapChoice) -> float:
    return (choice.even.criterion - choice.best) / choice.redundancy


def _fit_first(counts: WindowCounts, lags: int) -> TrapChoice:
    # On the logit scale even capture without a trap has no limit at certain capture.
    even = WindowModel(family=Even(), trap_lags=lags, link="cloglog" if lags else "logit")
    one_sided = WindowModel(family=LogNormal(low_tail=0.0), trap_lags=lags)
    log_normal = WindowModel(family=LogNormal(low_tail=USUAL_LOW_TAIL), trap_lags=lags)
    even_fit = fit_informed(even, counts)
    return TrapChoice(
        trap_lags=lags,
        no_trap=even_fit,
        even=even_fit,
        one_sided=fit_informed(one_sided, counts),
        log_normal=fit_informed(log_normal, counts),
        two_classes=fit_informed(WindowModel(family=TwoClasses(), trap_lags=lags), counts),
    )
