# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder: hosts on one machine, each a namespace of the network with a name of its
# own, all on one switch; programs on them through an MPI's launcher, in the background; and waiting. Sourced with
# `bin`, the folder of the programs.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
self=$(basename "$0")
mnist=$bin/mnist
prefix=tarn$$
hosts="" # their numbers
failures=0
engine=openmpi

skip() {
    echo "$self: skipped: $*"
    exit 77
}

wrong() {
    echo "$self: $*"
    [ -e log ] && grep -v 'tarn: flight' log | tail -n 20
    failures=$((failures + 1))
}

has_engine() {
    [ -e "$bin/tarn-link-$1.so" ] && command -v "mpirun.$1" >/dev/null
}

kill_all() {
    local i
    for i in $hosts; do
        ip netns pids $prefix$i 2>/dev/null | xargs -r kill -9 2>/dev/null
    done
}

remove_hosts() {
    local i
    kill_all
    for i in $hosts; do
        ip netns del $prefix$i 2>/dev/null
        rm -rf "/etc/netns/$prefix$i"
    done
    ip link del tsw$$ 2>/dev/null
    rm -rf "$work"
}

# make_hosts N, in a scratch folder, which this script is in from then on.
make_hosts() {
    local i j
    [ "$(id -u)" = 0 ] && command -v ip >/dev/null || skip "hosts are made by root, with ip (iproute2)"
    work=$(mktemp -d)
    trap remove_hosts EXIT
    trap 'exit 1' INT TERM
    cd "$work" || exit 1
    unshare -u true 2>/dev/null || skip "no host can have a name of its own"
    ip link add tsw$$ type bridge 2>/dev/null && ip link set tsw$$ up || skip "no bridge can be made"
    for ((i = 0; i < $1; i++)); do
        ip netns add $prefix$i && ip link add v$i-$$ type veth peer name eth0 netns $prefix$i ||
            skip "no namespace can be made"
        hosts="$hosts $i"
        ip link set v$i-$$ master tsw$$ up
        ip -n $prefix$i addr add 10.77.0.$((i + 1))/24 dev eth0
        ip -n $prefix$i link set eth0 up
        ip -n $prefix$i link set lo up
        # What ip lays over /etc in this namespace.
        mkdir -p "/etc/netns/$prefix$i"
        echo "127.0.0.1 localhost" >"/etc/netns/$prefix$i/hosts"
        for ((j = 0; j < $1; j++)); do
            echo "10.77.0.$((j + 1)) $prefix$j" >>"/etc/netns/$prefix$i/hosts"
        done
    done
    unset "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" WORLD_SIZE MASTER_ADDR
    export TARN_CACHE_DIR=${TARN_CACHE_DIR:-}
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TARN_AWAKE=0
    export TARN_DEVICES=0 TARN_TIMEOUT=4 TARN_EXCHANGE=auto
}

on_host() { # NUMBER COMMAND...
    local host=$prefix$1
    shift
    ip netns exec "$host" unshare -u "$here/host.sh" "$host" "$@"
}

# What Open MPI must know of these hosts.
openmpi_options() {
    echo "--mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24" \
        "--mca pml ob1 --mca btl self,tcp --mca mpi_yield_when_idle 1" \
        "-x TARN_DEVICES -x TARN_AWAKE -x TARN_TIMEOUT -x TARN_CACHE_DIR -x TARN_EXCHANGE"
}

# launch NODES COMMAND...: a process on each of the first hosts, in the background; output to log. With 8 nodes there
# are two on each of four.
launch() {
    local nodes=$1 list="" i
    shift
    for i in $hosts; do
        [ "$i" -lt "$nodes" ] && list="$list${list:+,}$prefix$i:$(((nodes - 1 - i) / $(wc -w <<<"$hosts") + 1))"
    done
    : >log # here, as what waits for a line of it must not see that of the run before
    # mpirun notices a host that is cut off after `patience` seconds and one more. Debian's MPICH goes through UCX, which
    # would see that all hosts are one, and use its memory.
    # shellcheck disable=SC2046
    case $engine in
    openmpi) on_host 0 timeout -k 5 "${limit:-100}" mpirun.openmpi $(openmpi_options) --bind-to none \
        --mca plm_rsh_agent "$here/agent.sh" --mca oob_tcp_keepalive_time 1 --mca oob_tcp_keepalive_intvl 1 \
        --mca oob_tcp_keepalive_probes "${patience:-2}" \
        --host "$list" --map-by node -np "$nodes" "$@" ;;
    mpich) on_host 0 timeout -k 5 "${limit:-100}" mpirun.mpich -launcher rsh -launcher-exec "$here/agent.sh" \
        -iface eth0 -genv UCX_TLS tcp,self -hosts "$list" -np "$nodes" "$@" ;;
    esac >log 2>&1 </dev/null &
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
    [ ! -d "/proc/$pid" ]
}

is_empty() {
    [ -z "$(for i in $hosts; do ip netns pids $prefix$i; done)" ]
}

# over SECONDS WHAT: waits for the launch, at most so long from now; `code` is its status. A host that is cut off
# ends by deadlines of its own.
over() {
    if ! wait_for "$1" has_ended; then
        wrong "$2: still running after $1 s"
        kill_all
    fi
    wait $pid
    code=$?
    if ! wait_for 40 is_empty; then
        wrong "$2: processes are left"
        kill_all
    fi
}

# The program on a host.
program() {
    local p
    for p in $(ip netns pids "$prefix$1"); do
        [ "$(cat "/proc/$p/comm" 2>/dev/null)" = mnist ] && echo "$p"
    done
}

cut() {
    ip link set "v$1-$$" down
}

join() {
    ip link set "v$1-$$" up
}
