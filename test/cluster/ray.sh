#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ray.sh FOLDER [PYTHON]: a Ray of two hosts, in namespaces; examples/cluster/ray_train.py trains on both, one
# of its processes is killed, it starts again, and ends with the bytes of a training that nothing disturbed.
# PYTHON is one that has Ray, in a virtual environment, say.
set -u
bin=$(cd "$1" && pwd)
python=${2:-python3}
source "$(dirname "$0")/hosts.bash"
has_engine openmpi || skip "no Open MPI with a plug-in (Debian: openmpi-bin libopenmpi-dev)"
"$python" -c 'import ray' 2>/dev/null || skip "$python has no Ray (python3 -m venv V && V/bin/pip install ray)"
make_hosts 2
chmod 755 "$work"
example=$(realpath "$here/../../examples/cluster/ray_train.py")
export RAY_DISABLE_IMPORT_WARNING=1 RAY_USAGE_STATS_ENABLED=0
start_ray() { # NUMBER OPTION...
    local i=$1
    shift
    on_host "$i" "$python" -m ray.scripts.scripts start --node-ip-address=10.77.0.$((i + 1)) --num-cpus=1 \
        --object-store-memory=100000000 "$@" >>ray.out 2>&1 </dev/null || wrong "Ray: $(tail -n 3 ray.out)"
}
start_ray 0 --head --port=6379 --include-dashboard=false --disable-usage-stats --temp-dir="$work/ray"
start_ray 1 --address=10.77.0.1:6379

train="--fake-data --epochs 3 --batch-size 128 --virtual-shards 4 --no-progress"
# shellcheck disable=SC2086
"$mnist" $train --save whole.safetensors >log 2>&1 || wrong "one device failed"
export TARN_DEVICES=0,0 MPIRUN=mpirun.openmpi EVERY=7 RAY_ADDRESS=10.77.0.1:6379
OPTIONS=$(openmpi_options)
export OPTIONS
: >log
# shellcheck disable=SC2086
on_host 0 "$python" "$example" 2 "$work/some.safetensors" "$mnist" $train >log 2>&1 </dev/null &
pid=$!
wait_for 120 grep -q '^epoch 1' log || wrong "does not train"
kill -9 $(program 1) || wrong "nothing to kill"
wait_for 120 has_ended || wrong "does not end"
wait $pid
code=$?
[ $code = 0 ] || wrong "ended with $code"
[ "$(grep -c '^ray_train.py: start' log)" = 2 ] || wrong "not two starts"
cmp -s some.safetensors whole.safetensors || wrong "other bytes than undisturbed"
grep '^ray_train.py' log
[ "$failures" = 0 ] && echo "$self: all as it must be"
exit $((failures > 0))
