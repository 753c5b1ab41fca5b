"""How long and how much memory a report on 1,000 runs of 200 evaluations takes.

Run `python benchmarks/report_scale.py`. Writes synthetic runs to a temporary folder: 4 algorithms x 5
seeds x 50 games, with the metrics a real run logs, and prints load time, report time, peak memory and the
size of the page.
"""

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

EVALUATIONS = 200
SEEDS = 5
ALGORITHMS = {
    "double-dqn": ("single", {"members": 1}, {"individual": 1.0}),
    "bootstrapped-dqn": ("ensemble", {"members": 10}, {"individual": 0.7, "aggregate": 1.2}),
    "cerl": ("cerl", {"members": 10, "value_map": {"kind": "cross"}}, {"individual": 0.9, "aggregate": 1.5}),
    "tandem": ("tandem", {"members": 2}, {"active": 0.95, "passive": 0.5}),
}


def write_run(folder: Path, preset: str, env: str, seed: int, rng: np.random.Generator) -> None:
    role, agent, policies = ALGORITHMS[preset]
    path = folder / f"{env.replace('/', '-')}__{preset}__s{seed}"
    path.mkdir()
    acting = {"kind": "tandem", "passive_share": 0.1} if preset == "tandem" else {"kind": "uniform"}
    config = {
        "preset": preset,
        "scale": "paper",
        "seed": seed,
        "env": {"id": env},
        "agent": agent,
        "acting": acting,
    }
    (path / "config.json").write_text(json.dumps(config))
    identity = {"title": preset, "role": role, "group": "dqn"}
    (path / "meta.json").write_text(json.dumps({"chorus": "benchmark", "identity": identity}))
    (path / "status.json").write_text(json.dumps({"state": "finished", "reason": None}))
    names = {f"eval/{policy}/episodic_return": level for policy, level in policies.items()}
    names |= {f"eval/member_{m}/episodic_return": 0.7 for m in range(agent["members"]) if agent["members"] > 1}
    names |= {"diversity/vote_entropy/individual": 0.5, "losses/td_loss": 0.1, "losses/q_values": 3.0}
    lines = []
    for iteration in range(1, EVALUATIONS + 1):
        rise = 1000 * (1 - np.exp(-iteration / 40))
        values = rng.normal(rise, 30, size=len(names)) * np.array(list(names.values()))
        head = {"iteration": iteration, "step": iteration * 250_000, "frames": iteration * 1_000_000}
        lines += [json.dumps(head | {"metric": n, "value": float(v)}) for n, v in zip(names, values, strict=True)]
    (path / "metrics.jsonl").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000, help="how many runs to write (default: 1000)")
    runs = parser.parse_args().runs
    from chorus.analysis.loading import load_runs
    from chorus.analysis.report import write_dataset_report
    from chorus.envs.atari_games import named_sets

    envs = named_sets()["atari55"][: runs // (SEEDS * len(ALGORITHMS))]
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        for env in envs:
            for preset in ALGORITHMS:
                for seed in range(SEEDS):
                    write_run(Path(folder), preset, env, seed, rng)
        start, busy = time.perf_counter(), time.process_time()
        dataset = load_runs([folder])
        loaded = time.perf_counter()
        out = Path(folder) / "report.html"
        write_dataset_report(dataset, out)
        done, processor = time.perf_counter(), time.process_time() - busy
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{len(dataset.runs)} runs, {dataset.table.count:,} rows, {len(dataset.envs)} environments")
        print(
            f"load {loaded - start:.1f} s, report {done - loaded:.1f} s, together {done - start:.1f} s "
            f"({processor:.1f} s of processor)"
        )
        print(f"peak memory {peak:.0f} MB, page {out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
