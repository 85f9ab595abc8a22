#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# restarts.sh FOLDER [RUNS [SEED]]: RUNS trainings on two hosts by examples/cluster/mpirun.sh, in each of which a
# process is killed once, at a random step; it must end with the bytes of a training that nothing disturbed.
set -u
bin=$(cd "$1" && pwd)
runs=${2:-1}
RANDOM=${3:-$$}
source "$(dirname "$0")/hosts.bash"
has_engine openmpi || skip "no Open MPI with a plug-in (Debian: openmpi-bin libopenmpi-dev)"
make_hosts 2
example=$here/../../examples/cluster/mpirun.sh
epochs=3
steps=$((epochs * 80))
train="--fake-data --epochs $epochs --batch-size 128 --virtual-shards 4 --no-progress"
# shellcheck disable=SC2086
"$mnist" $train --save whole.safetensors >log 2>&1 || wrong "one device failed"
printf '%s slots=1\n' ${prefix}0 ${prefix}1 >hostfile
TARN_TIMEOUT=30 # the machine may be busy
export TARN_DEVICES=0,0 MPIRUN=mpirun.openmpi EVERY=7 PAUSE=1
OPTIONS="--mca plm_rsh_agent $here/agent.sh $(openmpi_options)"
export OPTIONS

# The step of the checkpoint.
saved() {
    LC_ALL=C grep -aoE '"step":"[0-9]+"' some.safetensors 2>/dev/null | head -n 1 | grep -oE '[0-9]+' || echo 0
}

has_saved() {
    [ "$(saved)" -ge "$1" ]
}

for ((run = 1; run <= runs; run++)); do
    before=$failures
    rm -f some.safetensors
    host=$((RANDOM % 2))
    at=$((7 + RANDOM % (steps - 20)))
    : >log
    # shellcheck disable=SC2086
    on_host 0 "$example" hostfile "$work/some.safetensors" "$mnist" $train >log 2>&1 </dev/null &
    pid=$!
    wait_for 120 has_saved $at || wrong "run $run: does not come to step $at"
    kill -9 $(program $host) || wrong "run $run: nothing to kill"
    step=$(saved)
    wait_for 120 has_ended || wrong "run $run: does not end"
    wait $pid
    code=$?
    [ $code = 0 ] || wrong "run $run: ended with $code"
    starts=$(grep -c '^mpirun.sh: ended with' log)
    [ "$starts" = 1 ] || wrong "run $run: $starts restarts"
    cmp -s some.safetensors whole.safetensors || wrong "run $run: other bytes than undisturbed"
    wait_for 40 is_empty || wrong "run $run: processes are left"
    echo "run $run: host $host killed after step $step of $steps;" \
        "$(grep -oE '^mpirun.sh: ended with [0-9]+' log);" \
        "$([ $failures = "$before" ] && echo 'the same bytes' || echo 'not as it must be')"
done
echo "$self: $runs runs, $failures failures"
[ $failures = 0 ]
