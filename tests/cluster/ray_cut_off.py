"""A driver of a Ray cluster, of which one node is in a network namespace and is cut off during the fit.

    python ray_cut_off.py FOLDER NAMESPACE ADDRESS_OUTSIDE ADDRESS_INSIDE

It prints the hash of the labels, the nodes that are alive, and the seconds after the cut as JSON.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from conformance import ALL
from ray_processes import RayProcesses

# Rounds before the cut.
N_ROUNDS = 4


def main() -> None:
    """Fit on a node in the namespace, start another one outside, and cut the first one off."""
    folder, name, outside, inside = sys.argv[1:]
    in_namespace = ("ip", "netns", "exec", name)
    n_rounds, began = 0, 0.0
    with RayProcesses(Path(folder), outside) as cluster:

        def after_round(record: Any) -> None:
            nonlocal n_rounds, began
            n_rounds += 1
            if n_rounds == N_ROUNDS:
                cluster.add(outside)
                subprocess.run([*in_namespace, "ip", "link", "set", f"{name}i", "down"], check=True)
                began = time.monotonic()

        cluster.add(inside, prefix=in_namespace)
        chosen = next(one for one in ALL if one.name == "many rounds")
        found = chosen.outcome("ray", callback=after_round)
        seconds = time.monotonic() - began
        print(json.dumps({"labels": found.labels, "n_alive": cluster.n_alive(), "seconds": seconds}))


if __name__ == "__main__":
    main()
