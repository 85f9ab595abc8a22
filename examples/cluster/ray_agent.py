#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What mpirun calls instead of ssh: ray_agent.py MACHINE COMMAND... runs the command on a machine of the Ray
cluster. It starts mpirun's daemon there; what that says afterwards goes MPI's way."""
import subprocess
import sys

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy


@ray.remote(num_cpus=0, max_retries=0)
def run(line):
    done = subprocess.run(line, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def main():
    machine, line = sys.argv[1], " ".join(sys.argv[2:])
    ray.init(address="auto", logging_level="ERROR")
    there = [n["NodeID"] for n in ray.nodes()
             if n["Alive"] and machine in (n["NodeManagerAddress"], n["NodeManagerHostname"])]
    if not there:
        sys.exit(f"ray_agent.py: Ray has no machine {machine}")
    where = NodeAffinitySchedulingStrategy(there[0], soft=False)
    try:
        code, text = ray.get(run.options(scheduling_strategy=where).remote(line))
    except ray.exceptions.RayError as error:
        sys.exit(f"ray_agent.py: {machine}: {type(error).__name__}")
    sys.stdout.buffer.write(text)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
