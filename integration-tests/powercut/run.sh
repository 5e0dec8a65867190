#!/usr/bin/env bash
# Cuts the power of a virtual machine with a broker in it, and looks for every acknowledged record. See --help.
set -euo pipefail

usage() {
  cat <<'EOT'
Usage: integration-tests/powercut/run.sh [--cuts N] [--kinds K,K,...] [--chain N] [--seed N] [--limit MINUTES]
       integration-tests/powercut/run.sh --short
       integration-tests/powercut/run.sh --nfs

A virtual machine (QEMU without hardware help) with an emulated NVDIMM, a DAX file system for the pool, a disk for
log.dirs, and a stock Kafka broker. Clients on this machine produce with one replica and Kafka's default flush settings. At a random
moment of the load the machine is killed: its memory and page cache are gone, what it has written to its disks stays. It is
booted again, and every acknowledged record is looked for. One line for each cut, a table at the end.

  --cuts N      cuts of each kind (20)
  --kinds LIST  what runs in the machine (strata,shadow):
                  strata          Strata, pool type mapped                     must lose nothing
                  strata-pmem     Strata, pool type pmem (libpmem)             must lose nothing
                  strata-ack      Strata, type file, strata.durability=ack     must lose nothing
                  shadow          Strata; only flushed cache lines reach the   must lose nothing
                                  pool, some others by themselves
                  shadow-forgets  as shadow, with one flush in 50 left out     must lose: the shadow notices
                  stock           Kafka's files, default flush settings        must lose: the cut is real
                  stock-flush     Kafka's files, flush.messages=1              must lose nothing
  --chain N     cuts one after the other on the same disks (5)
  --seed N      what random moments and layouts come from (the time)
  --limit M     minutes after which everything is killed (600)
  --short       one cut of each kind, for CI; ends after 25 minutes at the latest
  --nfs         cuts nothing: the machine is a server of NFS, two clients of it in networks of their own, and two brokers
                with the remote tier on it; the server goes and comes back, and a client loses its network; 40 minutes at
                the latest

Needs a built tree (mvn -q verify -DskipTests), QEMU, and on Debian or Ubuntu apt-get, from whose packages the guest is
made: once, into integration-tests/target/powercut. QEMU is installed where this may be done without a password. Says SKIPPED,
and why, where it cannot run. Disks and consoles of a cut that showed a problem stay in target/powercut/cuts.

Environment:
  STRATA_VERIFY_OFFLINE=1   install and download nothing
Exit code: 0 when all is as promised, or skipped; 1 when not; 3 when the guest could not be built; 124 when the limit was
reached.
EOT
}

cuts=20 kinds=strata,shadow chain=5 seed=$(date +%s) limit=600 nfs=
while [[ $# -gt 0 ]]; do
  case $1 in
    --cuts) cuts=$2 && shift ;;
    --kinds) kinds=$2 && shift ;;
    --chain) chain=$2 && shift ;;
    --seed) seed=$2 && shift ;;
    --limit) limit=$2 && shift ;;
    --nfs) nfs=yes limit=40 ;;
    --short) cuts=1 kinds=strata,strata-pmem,strata-ack,shadow,shadow-forgets,stock,stock-flush limit=25 ;;
    --help | -h) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
say() { printf '==> %s\n' "$*"; }
skip() { say "SKIPPED: the virtual machine: $*"; exit 0; }

version=$(sed -n 's:.*<version>\(.*\)</version>.*:\1:p' integration-tests/pom.xml | head -n 1)
jar=$PWD/pmem-tier/target/strata-kafka-$version.jar
libs=$PWD/integration-tests/target/kafka-libs
guest=$PWD/integration-tests/target/powercut
if [[ ! -f $jar || ! -d $libs || ! -d integration-tests/target/test-classes || ! -d pmem-tier/target/test-classes ]]; then
  echo "run.sh: build first: mvn -q verify -DskipTests" >&2
  exit 1
fi

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; elif command -v sudo >/dev/null; then sudo -n "$@"; else return 1; fi
}

[[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || skip "the guest is Linux on x86-64"
command -v mke2fs >/dev/null || PATH=$PATH:/usr/sbin:/sbin
for tool in mke2fs tar gzip truncate timeout; do
  command -v $tool >/dev/null || skip "$tool is missing"
done
if ! command -v qemu-system-x86_64 >/dev/null && [[ -z ${STRATA_VERIFY_OFFLINE:-} ]] && command -v apt-get >/dev/null; then
  say "installing QEMU"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=2 update || true
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install qemu-system-x86 >/dev/null || true
fi
command -v qemu-system-x86_64 >/dev/null || skip "qemu-system-x86_64 is missing and could not be installed"
if [[ ! -f $guest/stamp ]]; then
  [[ -z ${STRATA_VERIFY_OFFLINE:-} ]] || skip "the guest is not built yet, and STRATA_VERIFY_OFFLINE is set"
  for tool in apt-get apt-cache dpkg-deb unshare; do
    command -v $tool >/dev/null || skip "$tool is missing: the guest is made of Debian's packages"
  done
  [[ -n $(apt-cache search --names-only '^linux-image-cloud-amd64$') ]] || skip "apt knows no linux-image-cloud-amd64"
fi
mkdir -p "$guest"
exec 9>"$guest/lock"
flock -n 9 || { echo "run.sh: another run uses $guest" >&2; exit 1; }
if [[ -z ${STRATA_VERIFY_OFFLINE:-} ]]; then
  built=0
  timeout 900 "$here/build-guest.sh" "$guest" "$libs" 9>&- || built=$?
  [[ $built -ne 2 ]] || skip "the guest's packages cannot be downloaded"
  [[ $built -eq 0 ]] || exit 3
fi

# The machine must not outlive this script, however it ends.
end() {
  if [[ -n ${campaign:-} ]]; then
    kill "$campaign" 2>/dev/null || true # timeout passes it on
    wait "$campaign" || true
  fi
  if [[ -f $guest/qemu.pid ]]; then
    kill -9 "$(<"$guest/qemu.pid")" 2>/dev/null || true
    rm -f "$guest/qemu.pid"
  fi
}
trap end EXIT
trap 'exit 130' INT TERM

mkdir -p "$guest/payload" "$guest/shadow"
cp "$here/guest-run.sh" "$here/guest-nfs.sh" "$guest/payload/"
cp "$jar" "$guest/payload/strata.jar"
rm -rf "$guest/shadow/classes"
mkdir -p "$guest/shadow/classes"
class_path="$PWD/integration-tests/target/test-classes:$PWD/integration-tests/target/bench-libs/*:$jar:$libs/*"
java -cp "$PWD/pmem-tier/target/test-classes:$jar:$PWD/integration-tests/target/bench-libs/*" \
  io.strata.kafka.memory.ShadowPatch "$guest/shadow/classes"

campaign_of=(io.strata.kafka.it.powercut.PowerCuts "$guest" "$guest/shadow" "$kinds" "$cuts" "$chain" "$seed")
if [[ -n $nfs ]]; then
  campaign_of=(io.strata.kafka.it.powercut.NfsOutages "$guest" "$seed")
else
  say "$cuts cuts of each of $kinds, seed $seed"
fi
timeout --kill-after=5 "${limit}m" java -Xmx1g -Djava.awt.headless=true -Dlog4j2.configurationFile="$here/../src/test/resources/log4j2-test.xml" \
  -Dstrata.it.jar="$jar" -Dstrata.it.kafka.libs="$libs" -Dstrata.it.work="$guest/work" -Dstrata.it.version="$version" \
  -cp "$class_path" "${campaign_of[@]}" 9>&- &
campaign=$!
code=0
wait "$campaign" || code=$?
campaign=
[[ $code -ne 124 ]] || say "FAILED: not done after $limit minutes"
exit "$code"
