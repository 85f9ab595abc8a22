#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hosts.sh FOLDER: four hosts on one machine, on which mpirun starts the programs of FOLDER. What happens to hosts,
# processes and cables is seen, named and over in time, and nothing is left behind. scripts/check-cluster does
# this more often, and with more kinds of faults. Exits with 77 where there are no namespaces, or no Open MPI.
set -u
bin=$(cd "$1" && pwd)
source "$(dirname "$0")/hosts.bash"
has_engine openmpi || skip "no Open MPI with a plug-in (Debian: openmpi-bin libopenmpi-dev)"
make_hosts 4

# Begins a run without an end, and returns when it trains.
train() {
    launch 4 "$mnist" --fake-data --epochs 100000 --batch-size 128 --no-progress
    wait_for 60 grep -q 'epoch 1' log || wrong "a run does not train"
}

# ---- the same bytes -----------------------------------------------------------------------------------

run="--fake-data --epochs 1 --batch-size 128 --virtual-shards 4 --no-progress"
# shellcheck disable=SC2086
"$mnist" $run --save whole.safetensors >log 2>&1 || wrong "one device failed"

# Of these 80 steps a cable is out for 2 s: TCP sends again, and nothing is seen of it, unless mpirun gives up.
export TARN_TIMEOUT=20
# shellcheck disable=SC2086
patience=15 launch 4 "$mnist" $run --save "$work/some.safetensors" --save-every 5
wait_for 60 [ -e some.safetensors ] || wrong "nothing is saved"
cut 1
sleep 2
join 1
over 90 "link down for 2 s"
[ $code = 0 ] || wrong "link down for 2 s: ended with $code"
cmp -s some.safetensors whole.safetensors || wrong "link down for 2 s: other bytes than one device's"

# ---- what goes wrong ----------------------------------------------------------------------------------

TARN_TIMEOUT=4
train
kill -9 $(program 2)
over 10 "kill -9"
[ $code = 137 ] || wrong "kill -9: ended with $code, not 137"

train
kill -STOP $(program 2)
over 20 "kill -STOP"
[ $code = 75 ] || wrong "kill -STOP: ended with $code, not 75"
grep -q "node 2 (${prefix}2) does not answer" log || wrong "kill -STOP: not named"
grep -qE '^mnist: node [013] ' log && wrong "kill -STOP: an innocent one is named"

# mpirun must notice before Tarn does: what it sends to a host that is cut off keeps it waiting for minutes.
TARN_TIMEOUT=12
train
cut 2
over 60 "link down"
[ $code != 0 ] || wrong "link down: ended with 0"
grep -qE "node 2 \(${prefix}2\) does not answer|daemon.* on node ${prefix}2" log ||
    wrong "link down: not named"

[ "$failures" = 0 ] && echo "hosts.sh: all as it must be"
exit $((failures > 0))
