"""Tune a preset with Optuna: learning rate, members and target period, with pruning after each iteration.

    pip install optuna
    python examples/tune.py cerl CartPole-v1 --trials 20

Each trial is one run. Optuna sees its score after each iteration and stops those that look bad; a stopped run keeps its
checkpoint. The best trial is a first guess: compare it with the defaults over several seeds, as the last line says.
"""

import argparse
import sys
from typing import Any

import chorus


def propose(trial: Any) -> dict[str, Any]:
    """The settings of one trial; change these to tune something else."""
    return {
        "lr": trial.suggest_float("lr", 1e-4, 3e-3, log=True),
        "members": trial.suggest_categorical("members", [2, 5, 10]),
        "target_period": trial.suggest_int("target_period", 50, 1_000, log=True),
    }


def objective(trial: Any, args: argparse.Namespace) -> float:
    import optuna

    pruned = False

    def watch(record: Any) -> bool:
        nonlocal pruned
        trial.report(record["metrics"][f"eval/{args.policy}/episodic_return"], record["iteration"])
        pruned = trial.should_prune()
        return not pruned

    run = chorus.train(
        args.preset,
        args.env,
        seed=trial.number,
        scale=args.scale,
        out=args.out,
        quiet=True,
        resume=True,
        on_iteration=watch,
        **propose(trial),
    )
    trial.set_user_attr("run", str(run))
    if pruned:
        raise optuna.TrialPruned
    return run.scores()[args.policy]


def main() -> int:
    parser = argparse.ArgumentParser(description="Tune a preset with Optuna.")
    parser.add_argument("preset", help="the algorithm, such as cerl")
    parser.add_argument("env", help="an environment id")
    parser.add_argument("--trials", type=int, default=20, help="number of runs (default: 20)")
    parser.add_argument("--scale", default="laptop", help="smoke, laptop or paper (default: laptop)")
    parser.add_argument("--policy", default="individual", help="the policy whose return is tuned (default: individual)")
    parser.add_argument("--out", default="runs/tuning", help="folder of the runs (default: runs/tuning)")
    args = parser.parse_args()
    try:
        import optuna
    except ImportError:
        print("examples/tune.py needs Optuna; install it with `pip install optuna`", file=sys.stderr)
        return 2
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=0),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
    )
    study.optimize(lambda trial: objective(trial, args), n_trials=args.trials)
    best = " ".join(f"{name}={value}" for name, value in study.best_params.items())
    print(f"best: {study.best_value:.2f} with {best} ({study.best_trial.user_attrs['run']})")
    print(f"next: chorus sweep --preset {args.preset} --env {args.env} --seeds 100-104 --set {best}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
