#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains on machines of a Ray cluster: ray_train.py NODES FILE PROGRAM [ARGUMENT...]

Ray chooses the machines, and stands in for ssh under mpirun (ray_agent.py); the processes then talk through
MPI. Started again from the checkpoint FILE, on other machines if need be, when one was lost. FILE must lie
where every machine reads and writes it, or the driver must run where it lies: the machines are sorted, so that the first
is the same again while it is there. PROGRAM takes --save, --save-every and --resume, as mnist does.
  MPIRUN=mpirun.openmpi  which mpirun (Open MPI's)
  OPTIONS="-mca ..."     more options of mpirun
  EVERY=100              steps between two checkpoints
  STARTS=20              give up after so many
  CPUS=1                 Ray's CPUs that a machine must have free; GPUS=0 of its GPUs
"""
import ipaddress
import os
import shlex
import subprocess
import sys

import ray
from ray.util.placement_group import placement_group, placement_group_table, remove_placement_group

HERE = os.path.dirname(os.path.abspath(__file__))


def setting(name, default):
    return os.environ.get(name) or default


def machines_of(group):
    """Their addresses, in an order that does not change from start to start."""
    address = {n["NodeID"]: n["NodeManagerAddress"] for n in ray.nodes()}
    bundles = placement_group_table(group)["bundles_to_node_id"].values()
    return sorted((address[i] for i in bundles), key=ipaddress.ip_address)


def train_once(machines, file, command):
    resume = ["--resume", file] if os.path.exists(file) else []
    return subprocess.call(
        [setting("MPIRUN", "mpirun"), "--bind-to", "none", "--host", ",".join(machines),
         "--map-by", "ppr:1:node", "-np", str(len(machines)),
         "--mca", "plm_rsh_agent", f"{sys.executable} {HERE}/ray_agent.py",
         "--mca", "plm_rsh_no_tree_spawn", "1",
         "--mca", "oob_tcp_keepalive_time", "10", "--mca", "oob_tcp_keepalive_intvl", "5",
         "--mca", "oob_tcp_keepalive_probes", "3",
         *shlex.split(setting("OPTIONS", "")), *command,
         "--save", file, "--save-every", setting("EVERY", "100"), *resume])


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: ray_train.py NODES FILE PROGRAM [ARGUMENT...]")
    nodes, file, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    bundle = {"CPU": float(setting("CPUS", "1"))}
    if setting("GPUS", "0") != "0":
        bundle["GPU"] = float(setting("GPUS", "0"))
    ray.init(address="auto", logging_level="ERROR")
    starts = int(setting("STARTS", "20"))
    code = 1
    for start in range(1, starts + 1):
        group = placement_group([bundle] * nodes, strategy="STRICT_SPREAD")
        ray.get(group.ready())
        machines = machines_of(group)
        print(f"ray_train.py: start {start} on {', '.join(machines)}", flush=True)
        code = train_once(machines, file, command)
        remove_placement_group(group)
        print(f"ray_train.py: ended with {code}", flush=True)
        # 75: of Tarn, worth another start; above 128, or negative: a signal, or mpirun lost a machine.
        if code != 75 and 0 <= code <= 128:
            break
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
