#!/usr/bin/env bash
# Runs the whole suite: unit and simulation tests (also on JDK 25 where one is found), stock brokers, static checks,
# and whether two builds give the same jar. See --help.
set -euo pipefail

usage() {
  cat <<'EOF'
Usage: integration-tests/verify.sh [Maven options]

Needs a JDK (17 or later), Maven 3.8 or later, and Linux. Installs libpmem (three packages), and nbdkit, nbdfuse and fuse3, and
libfaketime, by apt or dnf where it is root or may use sudo without a password, and, by apt, QEMU and the packages of the guest whose
power is cut (powercut/run.sh --short); says what is skipped where it cannot. Arguments go to Maven, for
example

  integration-tests/verify.sh -Dstrata.it.kill.cycles=500     longer kill -9 run (8 by default)
  integration-tests/verify.sh -Dtest='Hot*' -Dsurefire.failIfNoSpecifiedTests=false

Environment:
  STRATA_VERIFY_POWERCUTS=0 do not cut the power of a virtual machine (powercut/run.sh --short; ten minutes)
  STRATA_VERIFY_OFFLINE=1   neither install packages nor let Maven download
Exit code: Maven's, or 1 when the two jars differ, or that of the power cuts.
EOF
}

[[ ${1:-} == --help || ${1:-} == -h ]] && { usage; exit 0; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '==> %s\n' "$*"; }

# as_root COMMAND...: runs it as root, or fails without asking anything.
as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

has_library() { ldconfig -p 2>/dev/null | grep -qF "$1" || /sbin/ldconfig -p 2>/dev/null | grep -qF "$1"; }

has_native_packages() { has_library libpmem.so.1 && has_library libpmemobj.so.1 && has_library libpmempool.so.1; }

install_native_packages() {
  if has_native_packages; then
    say "libpmem, libpmemobj and libpmempool are there"
    return
  fi
  if [[ -z ${STRATA_VERIFY_OFFLINE:-} ]]; then
    say "installing libpmem, libpmemobj and libpmempool"
    if command -v apt-get >/dev/null; then
      as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=2 update || true
      as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install libpmem1 libpmemobj1 libpmempool1 || true
    elif command -v dnf >/dev/null; then
      as_root dnf -q -y install libpmem libpmemobj libpmempool || true
    fi
  fi
  has_native_packages \
    || say "SKIPPED: tests of the pool type pmem: libpmem, libpmemobj or libpmempool is missing and could not be installed"
}

has_slow_device() { command -v nbdkit && command -v nbdfuse && command -v fusermount3; } >/dev/null

install_slow_device() {
  if has_slow_device; then
    say "nbdkit, nbdfuse and fuse3 are there"
    return
  fi
  if [[ -z ${STRATA_VERIFY_OFFLINE:-} ]]; then
    say "installing nbdkit, nbdfuse and fuse3"
    if command -v apt-get >/dev/null; then
      as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=2 update || true
      as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install nbdkit fuse3 libnbd-bin || true
      # A package of its own in newer releases.
      command -v nbdfuse >/dev/null || as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install nbdfuse || true
    elif command -v dnf >/dev/null; then
      as_root dnf -q -y install nbdkit nbdfuse fuse3 || true
    fi
  fi
  has_slow_device || say "SKIPPED: tests of a slow or failing home: nbdkit, nbdfuse or fuse3 is missing and could not be installed"
}

has_faketime() { compgen -G '/usr/lib*/*/faketime/libfaketime.so.1' || compgen -G '/usr/lib*/faketime/libfaketime.so.1'; } >/dev/null

install_faketime() {
  if has_faketime; then
    say "libfaketime is there"
    return
  fi
  if [[ -z ${STRATA_VERIFY_OFFLINE:-} ]]; then
    say "installing libfaketime"
    if command -v apt-get >/dev/null; then
      as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install libfaketime || true
    elif command -v dnf >/dev/null; then
      as_root dnf -q -y install libfaketime || true
    fi
  fi
  has_faketime || say "SKIPPED: the test of a clock that jumps: libfaketime is missing and could not be installed"
}

say_what_is_skipped() {
  [[ $EUID -eq 0 ]] && command -v mkfs.ext4 >/dev/null \
    || say "SKIPPED where a test mounts a file system of its own (home full, no user attributes): it needs root and mkfs.ext4"
}

# A JDK 25, when it is not the one that runs Maven.
jdk25() {
  local java
  for java in /usr/lib/jvm/*25*/bin/java; do
    if [[ -x $java ]] && "$java" -version 2>&1 | grep -q 'version "25'; then
      echo "$java"
      return
    fi
  done
}

maven=(mvn -B -ntp)
[[ -z ${STRATA_VERIFY_OFFLINE:-} ]] || maven+=(-o)

install_native_packages
install_slow_device
install_faketime
say_what_is_skipped

say "building the jar a first time, for the comparison of two builds"
"${maven[@]}" -q clean package -DskipTests -pl pmem-tier -am
jar=$(ls pmem-tier/target/strata-kafka-*.jar | grep -v -e '-tests\.jar$')
first=$(sha256sum <"$jar")

java25=$(jdk25)
if [[ -n $java25 ]]; then
  say "unit tests on $("$java25" -version 2>&1 | head -n 1)"
  # The crash simulation in full, and whether it notices mutations, are for the other JDK.
  "${maven[@]}" test -Dtest.jvm="$java25" -Dstrata.crash.seeds=16 -Dstrata.crash.mutations=none "$@"
else
  say "SKIPPED: unit tests on JDK 25: none below /usr/lib/jvm"
fi

say "the whole suite on $(java -version 2>&1 | head -n 1)"
"${maven[@]}" clean verify "$@"

if [[ $(sha256sum <"$jar") != "$first" ]]; then
  say "FAILED: two builds of the same sources gave different jars"
  exit 1
fi

# The whole is to end well within an hour and a half.
left=$((75 - SECONDS / 60))
[[ $left -lt 20 ]] || left=20
if [[ ${STRATA_VERIFY_POWERCUTS:-1} == 0 || $* == *-Dtest=* ]]; then
  say "SKIPPED: power cuts of a virtual machine: STRATA_VERIFY_POWERCUTS is 0, or only some tests were asked for"
elif [[ $left -lt 8 ]]; then
  say "SKIPPED: power cuts of a virtual machine: this machine is too slow for them (integration-tests/powercut/run.sh --short)"
else
  say "power cuts of a virtual machine"
  code=0
  said=integration-tests/target/powercuts.log
  integration-tests/powercut/run.sh --short --seed 7 --limit "$left" 2>&1 | tee "$said" || code=${PIPESTATUS[0]}
  if [[ $code -eq 124 ]] && ! grep -q '  FAILED$' "$said"; then
    say "SKIPPED: the rest of the power cuts: this machine is too slow for them"
  elif [[ $code -ne 0 ]] && ! grep -q ' cuts of each of ' "$said"; then
    say "SKIPPED: power cuts: the guest could not be built"
  elif [[ $code -ne 0 ]]; then
    exit "$code"
  fi
fi
