# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts, which follow from findings, a claim's expectation, its noise margin and the samples.

A finding is one number, mostly a ratio of two times. Its uncertainty is the claim's margin plus
the spread of the samples. An expectation has these fields:

- ``is``: the paper's number, or the two ends of its range.
- ``least``, ``most``: bounds that the whole uncertainty must keep.
- ``neutral``: the number that shows no effect. The paper's number is on one side of it.
- ``factor``: the factor from the paper's number up to which a finding agrees with it.
- ``tie``: true if a finding at ``neutral`` contradicts the claim, because the claimed effect would
  be far above the noise.
- ``share``: the part of the findings that must agree, such as 0.5 for a claim that says "often".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HOLDS = "holds"
FACTOR = "holds within a stated factor"
DIRECTION = "direction only"
NOT_SHOWN = "not shown here"
CONTRADICTED = "contradicted"
#: from the best to the worst
WORDS = (HOLDS, FACTOR, DIRECTION, NOT_SHOWN, CONTRADICTED)
FIELDS = ("is", "least", "most", "neutral", "factor", "tie", "share")


@dataclass(frozen=True)
class Finding:
    """One number of a trial."""

    label: str  #: its place in a series, such as "N = 64"; may be empty
    value: float
    samples: int | None = None  #: runs of the side with fewer of them; None: no runs have noise
    spread: float = 0.0  #: relative uncertainty of the value that the samples show
    premise: str = ""  #: the condition of the claim that this finding lacks
    source: str = ""  #: the machine and the date, or the method
    shown: str = ""  #: the value for people, with its unit

    def __str__(self) -> str:
        value = self.shown or f"{self.value:.3g}"
        return f"{self.label}: {value}" if self.label else value


@dataclass(frozen=True)
class Verdict:
    """A category, the findings and the reason."""

    word: str  #: one of WORDS
    why: str
    findings: Sequence[Finding] = ()

    @property
    def ours(self) -> str:
        """The findings for people."""
        return "; ".join(map(str, self.findings))

    @property
    def source(self) -> str:
        """The machines and dates of the findings."""
        return "; ".join(dict.fromkeys(each.source for each in self.findings if each.source))


def ratio(
    label: str, over: Mapping[str, Any], under: Mapping[str, Any], source: str, premise: str = ""
) -> Finding:
    """One measured figure's median over another's, with the samples and the spread of both."""
    runs = min(int(over["runs"]), int(under["runs"]))
    spread = _spread(over) + _spread(under)
    return Finding(label, median(over) / median(under), runs, spread, premise, source)


def over(first: Finding, second: Finding) -> Finding:
    """One measured finding over another, such as a gain for small arrays over that for large."""
    runs = min(first.samples or 0, second.samples or 0)
    spread = first.spread + second.spread
    label = f"{first} over {second}"
    return Finding(label, first.value / second.value, runs, spread, source=first.source)


def median(figure: Mapping[str, Any]) -> float:
    """Seconds of a figure of a benchmark or of a program."""
    return float(figure["median"] if "median" in figure else figure["median_s"])


def _spread(figure: Mapping[str, Any]) -> float:
    """Two standard errors of the median, relative to it. The distance from the minimum to the
    median stands for the deviation, because interrupted runs lengthen only the other half."""
    least = float(figure["minimum"] if "minimum" in figure else figure["minimum_s"])
    middle = median(figure)
    return 2 * max(0.0, middle - least) / (middle * math.sqrt(int(figure["runs"])))


def judge(
    findings: Sequence[Finding], expect: Mapping[str, Any], margin: float, samples: int
) -> Verdict:
    """The verdict on a claim.

    Findings without the claim's premise take no part. Too few samples of any other finding, and
    no finding at all, show nothing.
    """
    counted = [each for each in findings if not each.premise]
    if not counted:
        missing = "; ".join(dict.fromkeys(each.premise for each in findings)) or "nothing was found"
        return Verdict(NOT_SHOWN, missing, findings)
    few = [each.samples for each in counted if each.samples is not None and each.samples < samples]
    if few:
        why = f"a finding has {min(few)} samples, and a verdict takes {samples}"
        return Verdict(NOT_SHOWN, why, findings)
    words = sorted(
        (_judge_one(each, expect, margin, len(findings) == 1) for each in counted),
        key=lambda one: WORDS.index(one[0]),
    )
    word, why = words[math.ceil(expect.get("share", 1) * len(words)) - 1]
    if "share" in expect:
        agree = sum(one in (HOLDS, FACTOR) for one, _ in words)
        why = f"{agree} of {len(words)} agree" + (f"; {why}" if why else "")
    out = [each.label for each in findings if each.premise]
    if out:
        why += ("; " if why else "") + f"without its premise: {', '.join(out)}"
    return Verdict(word, why, findings)


def _judge_one(
    finding: Finding, expect: Mapping[str, Any], margin: float, alone: bool
) -> tuple[str, str]:
    """The word for one finding, and the reason, which names the finding unless it is alone."""
    value, noise = finding.value, 1 + margin + finding.spread
    low, high = value / noise, value * noise
    text = "it" if alone else str(finding)
    text += "" if noise == 1 else f" (noise {100 * (noise - 1):.0f} %)"
    ends = expect.get("is")
    about = [] if ends is None else ends if isinstance(ends, list) else [ends]
    least = min(about) / noise if about else float(expect.get("least", -math.inf))
    most = max(about) * noise if about else float(expect.get("most", math.inf))
    neutral = expect.get("neutral")
    if neutral is not None:
        above = (min(about) if about else least) >= neutral
        if low <= neutral <= high:
            word = CONTRADICTED if expect.get("tie") else NOT_SHOWN
            return word, f"{text} shows no effect, which is {neutral:g}"
        if (value > neutral) != above:
            return CONTRADICTED, f"{text} is on the other side of {neutral:g}"
    inside = least <= value <= most if about else least <= low and high <= most
    if inside:
        return HOLDS, ""
    bound, off = _distance(value, least, most, about)
    stated = f"the paper has {bound:.3g}" if about else f"the bound is {bound:.3g}"
    if about == [1] and neutral is None:
        stated = (
            f"{value:.3g} times the paper's number" if value else "the paper has another result"
        )
    if "factor" in expect and off <= expect["factor"]:
        return FACTOR, f"{text} is within a factor of {expect['factor']:g}; {stated}"
    if neutral is not None:
        return DIRECTION, f"{text}; {stated}"
    if not about and low <= bound <= high:
        return NOT_SHOWN, f"{text}; {stated}, within the noise"
    return CONTRADICTED, f"{text}; {stated}"


def _distance(
    value: float, least: float, most: float, about: Sequence[float]
) -> tuple[float, float]:
    """The nearest number of the expectation, and the factor between it and the value."""
    ends = about or [end for end in (least, most) if math.isfinite(end)]
    bound = min(ends, key=lambda end: _apart(value, end))
    return bound, _apart(value, bound)


def _apart(one: float, other: float) -> float:
    """The factor between two numbers, 1 or more."""
    if one == other:
        return 1.0
    return max(one / other, other / one) if one > 0 and other > 0 else math.inf
