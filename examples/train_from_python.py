"""Train, look, evaluate: all of it from Python.

python examples/train_from_python.py [STEPS]
"""

import sys

import cuprl
from cuprl.experiments.report.plot import plot_runs


def main(steps: float = 250_000, **settings) -> None:
    run = cuprl.train("hopper-speed", "cup", seed=0, steps=steps, limits={"speed": 70.0}, alpha=0.1, **settings)
    print(f"the run is in {run.path}; its columns: {', '.join(run.progress())}")
    for deterministic in (True, False):
        found = cuprl.evaluate(run, episodes=10, deterministic=deterministic)
        kind = "mode" if deterministic else "sampled"
        print(f"{kind}: return {found['return_mean']:.1f}, cost {found['cost_mean']:.1f} / {found['cost_limit']:g}")
    print(f"learning curve: {plot_runs([run.path])}")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
