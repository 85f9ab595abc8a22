#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm.sh FOLDER [RUNS]: a Slurm of three hosts, in namespaces; jobs of two nodes by examples/cluster/slurm.sbatch.
# In the first a process is killed, in the others all that runs on a node: the job must be requeued, resume,
# and end with the bytes of a training that nothing disturbed. Needs slurmd, slurmctld and munge.
set -u
bin=$(cd "$1" && pwd)
runs=${2:-2}
source "$(dirname "$0")/hosts.bash"
has_engine openmpi || skip "no Open MPI with a plug-in (Debian: openmpi-bin libopenmpi-dev)"
for program in slurmctld slurmd sbatch munged; do
    command -v $program >/dev/null || skip "no $program (Debian: slurmctld slurmd slurm-client munge)"
done
make_hosts 3
job=$(realpath "$here/../../examples/cluster/slurm.sbatch")
conf=$work/slurm
mkdir -p "$conf" "$conf/state"
chmod 755 "$work"

# A munge of its own, as the user of this script.
dd if=/dev/urandom of="$conf/munge.key" bs=1024 count=1 2>/dev/null
chmod 400 "$conf/munge.key"
munged --force --socket="$conf/munge.socket" --key-file="$conf/munge.key" --pid-file="$conf/munged.pid" \
    --log-file="$conf/munged.log" --seed-file="$conf/munge.seed" || skip "munged does not start"
stop_slurm() {
    kill_all
    [ -e "$conf/munged.pid" ] && kill "$(cat "$conf/munged.pid")"
    remove_hosts
}
trap stop_slurm EXIT

{
    cat <<END
ClusterName=test
SlurmctldHost=${prefix}0
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$conf/munge.socket,cred_expire=20
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
StateSaveLocation=$conf/state
SlurmdSpoolDir=$conf/spool.%n
SlurmdPidFile=$conf/slurmd.%n.pid
SlurmctldPidFile=$conf/slurmctld.pid
SlurmctldLogFile=$conf/slurmctld.log
SlurmdLogFile=$conf/slurmd.%n.log
TmpFS=$conf/tmp.%n
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MpiDefault=none
END
    for i in $hosts; do
        echo "NodeName=$prefix$i NodeAddr=10.77.0.$((i + 1)) CPUs=2 RealMemory=1000 State=UNKNOWN"
    done
    echo "PartitionName=p Nodes=${prefix}[0-2] Default=YES MaxTime=INFINITE State=UP"
} >"$conf/slurm.conf"
echo "CgroupPlugin=cgroup/v1" >"$conf/cgroup.conf"
export SLURM_CONF=$conf/slurm.conf

start_slurmd() {
    mkdir -p "$conf/spool.$prefix$1" "$conf/tmp.$prefix$1"
    on_host "$1" slurmd -N "$prefix$1" >>slurmd.out 2>&1 || wrong "slurmd does not start: $(cat slurmd.out)"
}
on_host 0 slurmctld >slurmctld.out 2>&1 || skip "slurmctld does not start: $(tail -n 1 slurmctld.out)"
for i in $hosts; do
    start_slurmd "$i"
done
all_idle() {
    [ "$(on_host 0 timeout 8 sinfo -h -N -o %T | grep -c '^idle$')" = 3 ]
}
wait_for 30 all_idle || skip "Slurm's nodes do not come up: $(tail -n 3 "$conf/slurmctld.log")"

train="--fake-data --epochs 12 --batch-size 128 --virtual-shards 4 --no-progress"
# shellcheck disable=SC2086
"$mnist" $train --save whole.safetensors >log 2>&1 || wrong "one device failed"
export TARN_DEVICES=0,0 EVERY=7 TARN_TIMEOUT=10 OMPI_MCA_btl_tcp_if_include=10.77.0.0/24 OMPI_MCA_pml=ob1 \
    OMPI_MCA_btl=self,tcp OMPI_MCA_mpi_yield_when_idle=1

has_trained() {
    grep -q '^epoch 2' log
}
has_finished() {
    grep -q '^done' log
}
for ((run = 1; run <= runs; run++)); do
    before=$failures
    rm -f some.safetensors
    : >log
    # shellcheck disable=SC2086
    on_host 0 timeout 20 sbatch --nodes=2 --output="$work/log" "$job" "$work/some.safetensors" \
        "$mnist" $train >sbatch.out 2>&1 || wrong "run $run: $(cat sbatch.out)"
    wait_for 60 has_trained || wrong "run $run: does not train: $(tail -n 3 "$conf/slurmctld.log")"
    host=
    for i in $hosts; do # the last of the two
        [ -n "$(program "$i")" ] && host=$i
    done
    [ -n "$host" ] || wrong "run $run: trains nowhere"
    if [ $run = 1 ]; then
        what="a process on host $host"
        kill -9 $(program "$host")
    else
        what="all of host $host"
        ip netns pids "$prefix$host" | xargs -r kill -9
    fi
    began=$SECONDS
    wait_for 240 has_finished || wrong "run $run: does not end: $(tail -n 5 "$conf/slurmctld.log")"
    cmp -s some.safetensors whole.safetensors || wrong "run $run: other bytes than undisturbed"
    starts=$(grep -c '^slurm.sbatch: start' log)
    [ "$starts" = 2 ] || wrong "run $run: $starts starts"
    echo "run $run: $what killed; $starts starts on" \
        "$(grep -oE '^slurm.sbatch: start [0-9]+ on .*' log | sed 's/.* on //' | tr '\n' ' ')in $((SECONDS - began)) s;" \
        "$([ $failures = "$before" ] && echo 'the same bytes' || echo 'not as it must be')"
    [ $run = 1 ] || start_slurmd "$host"
    wait_for 60 all_idle || wrong "run $run: nodes do not come back"
done
echo "$self: $runs runs, $failures failures"
[ $failures = 0 ]
