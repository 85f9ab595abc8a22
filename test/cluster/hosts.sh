#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hosts.sh FOLDER: four hosts on one machine, each a namespace of the network with a name of its own, on one
# switch; mpirun starts the programs of FOLDER on them. What happens to hosts, processes and cables is seen, named
# and over in time, and nothing is left behind. Exits with 77 where there are no namespaces, or no Open MPI.
set -u
bin=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
mnist=$bin/mnist
prefix=tarn$$
switch=tsw$$
hosts="0 1 2 3"
failures=0

skip() {
    echo "hosts.sh: skipped: $*"
    exit 77
}
[ -e "$bin/tarn-link-openmpi.so" ] && command -v mpirun.openmpi >/dev/null ||
    skip "no Open MPI with a plug-in (Debian: openmpi-bin libopenmpi-dev)"
[ "$(id -u)" = 0 ] && command -v ip >/dev/null || skip "hosts are made by root, with ip (iproute2)"

work=$(mktemp -d)
cleanup() {
    for i in $hosts; do
        ip netns pids $prefix$i 2>/dev/null | xargs -r kill -9 2>/dev/null
        ip netns del $prefix$i 2>/dev/null
    done
    ip link del $switch 2>/dev/null
    [ -e "$work/etc" ] && cp "$work/etc" /etc/hosts
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1

ip link add $switch type bridge 2>/dev/null && ip link set $switch up || skip "no bridge can be made"
cp /etc/hosts etc
for i in $hosts; do
    ip netns add $prefix$i && ip link add v$i-$$ type veth peer name eth0 netns $prefix$i ||
        skip "no namespace can be made"
    ip link set v$i-$$ master $switch up
    ip -n $prefix$i addr add 10.77.0.$((i + 1))/24 dev eth0
    ip -n $prefix$i link set eth0 up
    ip -n $prefix$i link set lo up
    echo "10.77.0.$((i + 1)) $prefix$i" >>/etc/hosts
done
unshare -u true 2>/dev/null || skip "no host can have a name of its own"

unset "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" WORLD_SIZE MASTER_ADDR
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TARN_AWAKE=0 TARN_TIMEOUT=4

wrong() {
    echo "hosts.sh: $*"
    [ -e log ] && grep -v 'tarn: flight' log | tail -n 20
    failures=$((failures + 1))
}

# launch NODES DEVICES COMMAND...: on the first hosts, a process on each (two on each for 8), in the background.
launch() {
    local nodes=$1 devices=$2
    shift 2
    local list="" i
    for i in $hosts; do
        [ "$i" -lt "$nodes" ] && list="$list${list:+,}$prefix$i"
    done
    : >log # here, as what waits for a line of it must not see that of the run before
    TARN_DEVICES=$devices ip netns exec ${prefix}0 unshare -u "$here/host.sh" ${prefix}0 \
        timeout -k 5 100 mpirun.openmpi --mca plm_rsh_agent "$here/agent.sh" \
        --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
        --mca oob_tcp_keepalive_time 3 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes "${probes:-2}" \
        --mca pml ob1 --mca btl self,tcp --mca mpi_yield_when_idle 1 --bind-to none --oversubscribe \
        -x TARN_DEVICES -x TARN_AWAKE -x TARN_TIMEOUT -x TARN_CACHE_DIR \
        --host "$list" --map-by node -np "$nodes" "$@" >log 2>&1 </dev/null &
    pid=$!
}

# wait_for SECONDS COMMAND...: until it succeeds. Counted in naps: the clock of a virtual machine may jump.
wait_for() {
    local naps=$(($1 * 5))
    shift
    until "$@"; do
        naps=$((naps - 1))
        [ $naps -gt 0 ] || return 1
        sleep 0.2
    done
}

has_ended() {
    [ ! -d /proc/$pid ]
}

is_empty() {
    [ -z "$(for i in $hosts; do ip netns pids $prefix$i; done)" ]
}

# Waits for the launch, at most SECONDS from now; `code` is its status. A host that is cut off ends by deadlines of
# its own.
over() {
    if ! wait_for "$1" has_ended; then
        wrong "$2: still running after $1 s"
        for i in $hosts; do
            ip netns pids $prefix$i | xargs -r kill -9
        done
    fi
    wait $pid
    code=$?
    if ! wait_for 40 is_empty; then
        wrong "$2: processes are left"
        for i in $hosts; do
            ip netns pids $prefix$i | xargs -r kill -9
        done
    fi
}

# The program on a host.
program() {
    local p
    for p in $(ip netns pids "$prefix$1"); do
        [ "$(cat /proc/$p/comm 2>/dev/null)" = mnist ] && echo $p
    done
}

# Begins a run without an end, and returns when it trains.
train() {
    launch "$1" 0 "$mnist" --fake-data --epochs 100000 --batch-size 128 --no-progress
    wait_for 60 grep -q 'epoch 2' log || wrong "a run on $1 hosts does not train"
}

# ---- the same bytes -----------------------------------------------------------------------------------

run="--fake-data --steps 6 --batch-size 128 --virtual-shards 8 --no-progress"
# shellcheck disable=SC2086
TARN_DEVICES=0 "$mnist" $run --save whole.safetensors >log 2>&1 || wrong "one device failed"
for layout in "2 0,0,0,0" "4 0,0"; do
    set -- $layout
    # shellcheck disable=SC2086
    launch "$1" "$2" "$mnist" $run --save "$work/some.safetensors"
    over 60 "$1 hosts"
    [ $code = 0 ] || wrong "$1 hosts: ended with $code"
    cmp -s some.safetensors whole.safetensors || wrong "$1 hosts: other bytes than one device's"
    rm -f some.safetensors
done

# ---- what goes wrong ----------------------------------------------------------------------------------

train 4
kill -9 $(program 2)
over 10 "kill -9"
[ $code != 0 ] || wrong "kill -9: ended with 0"

train 4
kill -STOP $(program 2)
over 20 "kill -STOP"
[ $code = 75 ] || wrong "kill -STOP: ended with $code, not 75"
grep -q "node 2 (${prefix}2) does not answer" log || wrong "kill -STOP: not named"
grep -qE '^mnist: node [013] ' log && wrong "kill -STOP: an innocent one is named"

# mpirun must notice before Tarn does: what it sends to a host that is cut off keeps it waiting for minutes.
TARN_TIMEOUT=12 train 4
ip link set v2-$$ down
over 60 "link down"
[ $code != 0 ] || wrong "link down: ended with 0"
grep -qE "node 2 \(${prefix}2\) does not answer|daemon.* on node ${prefix}2" log ||
    wrong "link down: not named"
ip link set v2-$$ up
sleep 2

# A cable that is out for a moment: TCP sends again, and the run goes on, unless mpirun gives up first.
probes=9 launch 2 0 "$mnist" --fake-data --epochs 20 --batch-size 128 --no-progress
wait_for 60 grep -q 'epoch 2' log
ip link set v1-$$ down
sleep 2
ip link set v1-$$ up
over 90 "link down for 2 s"
[ $code = 0 ] || wrong "link down for 2 s: ended with $code"

[ "$failures" = 0 ] && echo "hosts.sh: all as it must be"
exit $((failures > 0))
