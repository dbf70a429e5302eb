"""The card of a policy: what it is, what it was measured to do and how it was made, in Markdown, from its file alone."""

from __future__ import annotations

from typing import Any

from cuprl.experiments.report.formats import Table, to_markdown
from cuprl.policies.acting import SavedPolicy
from cuprl.policies.certificate import Certificate, Statement, digits
from cuprl.policies.checks import sizes_of

PACKAGES = ("cuprl", "mujoco", "jax", "numpy")  # whose versions stand on a card
COMMIT = 12  # digits of one, enough to find it
SUMMARY = ["policy", "algorithm", "steps", "actions", "return", "constraint", "limit", "cost", "at most", "verdict"]


def card(policy: SavedPolicy, name: str, picture: str | None = None) -> str:
    """Write the card of a policy that was exported with its certificate; picture: a file to show, by its address."""
    info, stated = policy.info, certificate_of(policy)
    shown = [f"![{name} at work]({picture})", "One episode, from its first step to its last."] if picture else []
    parts = [
        f"# {name}",
        *shown,
        sentence_of(stated),
        to_markdown([statements(stated)]),
        " ".join(filter(None, [how_measured(stated), plain_sums(info.get("evaluation"))])),
        "## How it was made",
        to_markdown([facts(policy)]),
        "At that commit it is trained by",
        f"```\n{(info.get('training') or {}).get('command', 'the command is not known')}\n```",
        "## Use it",
        f"```bash\n{uses(name, stated.mode)}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def summary(policies: dict[str, SavedPolicy]) -> Table:
    """Put policies side by side, a line for each and each of its constraints."""
    rows = []
    for name, policy in policies.items():
        stated = certificate_of(policy)
        for s in stated.constraints:
            made = [name, policy.info["algo"], f"{policy.info['steps']:,}", stated.mode, f"{stated.return_mean:.1f}"]
            rows.append([*made, s.constraint, f"{s.limit:g}", digits(s.cost), digits(s.upper), s.verdict])
    return Table(SUMMARY, rows)


def certificate_of(policy: SavedPolicy) -> Certificate:
    """Read the certificate that a policy carries."""
    return Certificate.from_json(policy.info["certificate"])


# --- what it does -----------------------------------------------------------------------------------------------------


def sentence_of(stated: Certificate) -> str:
    """Say the verdict on each constraint."""
    low, high = (digits(bound) for bound in (stated.return_low, stated.return_high))
    said = [f"{s.constraint} is {s.sentence(stated.confidence)} (limit {s.limit:g})" for s in stated.constraints]
    return f"Return {digits(stated.return_mean)} [{low}, {high}]; {'; '.join(said)}."


def statements(stated: Certificate) -> Table:
    """Lay the certificate out, a line for each constraint."""

    def row(s: Statement) -> list[str]:
        share = f"{s.over / stated.episodes:.1%} [{s.over_low:.1%}, {s.over_high:.1%}]"
        bounds = [digits(s.cost), digits(s.lower), digits(s.upper)]
        return [s.constraint, f"{s.limit:g}", f"{s.discount:g}", *bounds, share, digits(s.worst), s.method]

    header = ["constraint", "limit", "discount", "cost", "at least", "at most", "over the limit", "worst 1%", "by"]
    return Table(header, [row(s) for s in stated.constraints])


def how_measured(stated: Certificate) -> str:
    """Say what the certificate rests on."""
    actions = "the policy's mode" if stated.mode == "mode" else "actions sampled as in training"
    return (
        f"Measured by `cup certify` on {stated.episodes:,} fresh episodes from seed {stated.episode_seed:,} with {actions}, "
        f"at {stated.confidence:.0%}; [certify.md](../certify.md) says what each column means."
    )


def plain_sums(evaluation: dict[str, Any] | None) -> str:
    """Say what the discount of a limit hides: the plain sums of the costs, from the evaluation the file carries."""
    if not evaluation:
        return ""
    sums, length = evaluation["cost_undiscounted_mean"], evaluation["length_mean"]
    said = ", ".join(f"{n} {x:.1f}" for n, x in sums.items()) if isinstance(sums, dict) else f"{sums:.1f}"
    return (
        f"Not discounted, the cost of an episode sums to {said}, in {length:.0f} steps (means of "
        f"{evaluation['episodes']} other episodes)."
    )


# --- how it was made --------------------------------------------------------------------------------------------------


def facts(policy: SavedPolicy) -> Table:
    """Name what made the policy."""
    info, made = policy.info, policy.info.get("training") or {}
    versions = [f"{package} {info['versions'][package]}" for package in PACKAGES if package in info["versions"]]
    rows = {
        "task": f"{info['task']}, episodes of at most {info['spec']['horizon']:,} steps",
        "clock": f"an action every {policy.step_seconds:g} s" if policy.step_seconds else None,
        "algorithm": f"{info['algo']}, seed {info['seed']}, iteration {info['iteration']} ({info['steps']:,} steps)",
        "begun from": made.get("start"),
        "trained further": made.get("extended"),
        "chosen": made.get("chosen", "unknown"),
        "network": sizes_of(policy.arrays),
        "versions": ", ".join(versions),
        "commit": str(made.get("git") or "unknown")[:COMMIT],
    }
    return Table(["", ""], [[key, value] for key, value in rows.items() if value is not None])


def uses(name: str, mode: str) -> str:
    """Give the commands of a card, for the actions that were certified."""
    policy = f"zoo:{name}" if mode == "mode" else f"zoo:{name} --sampled"
    return f"cup eval {policy}\ncup certify {policy} --seed 2_000_000    # other episodes\ncup video {policy}"
