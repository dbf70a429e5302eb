"""A certificate: what fresh episodes of a policy allow to be said of its costs, as a value and as a file.

`certify` makes it. A file may be anyone's: what it says is checked when it is read, and a policy carries it only where it is
of that very checkpoint.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuprl.core.values import is_number, is_of
from cuprl.errors import UserError
from cuprl.policies.acting import SavedPolicy
from cuprl.runs import files

KIND = "cuprl certificate 1"  # marks the file, and the version of its layout
NAME = "certificate.json"  # in a run's folder
LARGEST_FILE = 2**20  # bytes

WITHIN, NOT_WITHIN, UNDECIDED = "within", "not within", "undecided"

CHECKS = {  # what a field of this type may hold
    "str": lambda value: isinstance(value, str),
    "int": lambda value: is_of(value, int),
    "float": is_number,
    "str | None": lambda value: value is None or isinstance(value, str),
    "float | None": lambda value: value is None or is_number(value),
    "int | None": lambda value: value is None or is_of(value, int),
    "tuple[str, ...]": lambda value: isinstance(value, list) and all(isinstance(x, str) for x in value),
    "dict[str, str]": lambda value: isinstance(value, dict) and all(isinstance(x, str) for x in value.values()),
}


@dataclass(frozen=True)
class Statement:
    """Of one constraint: its cost is the expected sum over an episode, discounted as the constraint says."""

    constraint: str
    limit: float
    discount: float
    cost: float  # the mean of the episodes
    lower: float | None  # one-sided bounds on the expected cost; None: nothing can be said
    upper: float | None
    confidence: float  # of each bound, and of the interval of the share over the limit
    method: str  # "betting" or "bootstrap-t"
    largest: float | None  # what an episode can cost at most, where it is known
    over: int  # episodes over the limit
    over_low: float  # the exact interval of their share
    over_high: float
    worst: float  # the mean of the worst 1% of the episodes
    to_decide: int | None  # about how many episodes would decide, where these do not

    @property
    def verdict(self) -> str:
        """Compare the bounds with the limit: within, not within, or undecided."""
        if self.upper is not None and self.upper <= self.limit:
            return WITHIN
        return NOT_WITHIN if self.lower is not None and self.lower > self.limit else UNDECIDED

    def sentence(self, confidence: float) -> str:
        """Say the verdict in words; confidence: of the whole certificate."""
        said = f"at {100 * confidence:g}%"
        if self.verdict == WITHIN:
            return f"within the limit {said}: the expected cost is at most {digits(self.upper)}"
        if self.verdict == NOT_WITHIN:
            return f"not within the limit {said}: the expected cost is at least {digits(self.lower)}"
        if self.to_decide is not None:
            return f"undecided {said}; about {self.to_decide:,} episodes would decide it"
        if self.lower is None or self.upper is None:
            why = "too few episodes differ for a bound where none on the cost of a step is known"
            return f"undecided {said}: {why}; give --cost-bound"
        return f"undecided {said}: the cost is too near to the limit for any number of episodes"


@dataclass(frozen=True)
class Certificate:
    """What is stated of a policy: of all its constraints at once, with `confidence`."""

    task: str
    algo: str
    seed: int  # of the training
    iteration: int  # of the checkpoint
    mode: str  # whose actions: "mode", or "sampled" as in training
    episodes: int
    episode_seed: int
    confidence: float
    return_mean: float
    return_low: float | None
    return_high: float | None
    changed: tuple[str, ...]  # modules of the task that are not what they were in training
    versions: dict[str, str]
    constraints: tuple[Statement, ...]
    policy: str | None = None  # the fingerprint of its weights; None: of a compiled program, or from before it was kept

    @property
    def verdict(self) -> str:
        """Judge all constraints together: within every limit, not within one of them, or undecided."""
        found = {statement.verdict for statement in self.constraints}
        return next(verdict for verdict in (NOT_WITHIN, UNDECIDED, WITHIN) if verdict in found)

    def sentence(self) -> str:
        """Say the verdict over all constraints in words."""
        words = {WITHIN: "within every limit", NOT_WITHIN: "not within every limit", UNDECIDED: "undecided"}
        return f"{words[self.verdict]} at {100 * self.confidence:g}%"

    def to_json(self) -> dict[str, Any]:
        """Give plain values, with the verdicts."""
        constraints = [{**dataclasses.asdict(s), "verdict": s.verdict} for s in self.constraints]
        values = dataclasses.asdict(self)
        return {"kind": KIND, "verdict": self.verdict, **values, "changed": list(self.changed), "constraints": constraints}

    @staticmethod
    def from_json(values: Any) -> Certificate:
        """Read what `to_json` gave; a ValueError, TypeError or KeyError where it is none. The verdicts are drawn anew."""
        if not isinstance(values, dict) or values.get("kind") != KIND:
            raise ValueError(f"it lacks the mark {KIND!r}")
        if not isinstance(values["constraints"], list) or not values["constraints"]:
            raise ValueError("it is of no constraint")
        statements = tuple(Statement(**fields_in(s, Statement)) for s in values["constraints"])
        read = Certificate(**fields_in({**values, "constraints": statements}, Certificate))
        refuse_impossible(read)
        return read

    def refuse_other(self, policy: SavedPolicy) -> None:
        """Refuse another policy: a certificate is of one checkpoint under its limits, and says nothing about another."""
        own = {
            "task": self.task,
            "algo": self.algo,
            "seed": self.seed,
            "iteration": self.iteration,
            "limits": {s.constraint: s.limit for s in self.constraints},
        }
        for name, value in own.items():
            if (found := policy.info.get(name)) != value:
                raise UserError(f"the certificate is of {name} {value}, the policy of {name} {found}; certify it anew.")
        if self.policy is not None and policy.fingerprint not in (self.policy, None):
            raise UserError("the certificate is of a policy with other weights, as of another run; certify this one anew.")


def digits(cost: float | None) -> str:
    """Write a cost for people, to four digits; a limit may be 0.1 or 1000."""
    return "-" if cost is None else f"{cost:#.4g}".rstrip(".") if abs(cost) < 1e4 else f"{cost:.0f}"


def fields_in(values: dict[str, Any], kind: type) -> dict[str, Any]:
    """Take the fields of a dataclass out of a file's values; lists as tuples."""
    found = {}
    for field in dataclasses.fields(kind):
        if field.name not in values and field.default is not dataclasses.MISSING:
            continue  # an old file
        value = values[field.name]
        if not CHECKS.get(str(field.type), lambda _: True)(value):
            raise ValueError(f"its {field.name} is {value!r}")
        found[field.name] = tuple(value) if isinstance(value, list) else value
    return found


def refuse_impossible(certificate: Certificate) -> None:
    """Raise a ValueError for numbers that no episodes give: they would be read as a promise."""
    if certificate.episodes < 1:
        raise ValueError(f"it is of {certificate.episodes} episodes")
    for confidence in (certificate.confidence, *(s.confidence for s in certificate.constraints)):
        if not 0.0 < confidence < 1.0:
            raise ValueError(f"its confidence is {confidence}")
    for s in certificate.constraints:
        if not (
            0 <= s.over <= certificate.episodes and 0.0 <= s.over_low <= s.over / certificate.episodes <= s.over_high <= 1.0
        ):
            raise ValueError(
                f"{s.over} of its {certificate.episodes} episodes are over the limit, {s.over_low} to {s.over_high}"
            )
        if s.lower is not None and s.upper is not None and s.lower > s.upper:
            raise ValueError(f"its bounds are {s.lower} and {s.upper}")


def read_certificate(path: Path) -> Certificate:
    """Read a certificate's file; what is none is refused."""
    try:
        return Certificate.from_json(json.loads(files.read(path, LARGEST_FILE)))
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged or no certificate ({error}); make it anew with `cup certify`.") from None


def write_certificate(path: Path, certificate: Certificate) -> None:
    """Write a certificate's file, and the folders above it."""
    files.write_with_folders(path, json.dumps(certificate.to_json(), indent=1, allow_nan=False).encode())


def of_folder(policy: SavedPolicy) -> Certificate | None:
    """Read the certificate in the folder of a policy's run, if there is one; one of another checkpoint is refused."""
    path = Path(str(policy.source), NAME)
    if policy.source is None or not path.exists():
        return None
    certificate = read_certificate(path)
    certificate.refuse_other(policy)
    return certificate
