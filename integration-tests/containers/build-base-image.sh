#!/usr/bin/env bash
# Builds an image that is laid out like apache/kafka, where no image can be pulled. See --help.
set -euo pipefail

usage() {
  cat <<'EOT'
Usage: integration-tests/containers/build-base-image.sh [--libs FOLDER] [--tag NAME] [--rebuild]

Builds two images with the container engine that runs:

  strata-it/jre:21        Debian with a Java 21 runtime, by debootstrap; kept until --rebuild
  strata-it/kafka:4.4.0   the same with Kafka's jars below /opt/kafka/libs, scripts below /opt/kafka/bin, the user appuser
                          (1000), and /etc/kafka/docker/run as its command, which treats KAFKA_* variables, CLUSTER_ID
                          and /mnt/shared/config as apache/kafka does: it runs the same class of Kafka's for that

Options:
  --libs FOLDER   Kafka's jars; default: integration-tests/target/kafka-libs, where the Maven build puts them
  --tag NAME      the second image's name; default: strata-it/kafka and the version of Kafka's jars
  --rebuild       builds the first image even if there is one

Needs root, debootstrap, and a container engine that docker can talk to; starts and stops none. Differs from apache/kafka
in its libc (glibc, not musl), in its Java runtime (Debian's, not Temurin's) and in its scripts, which are minimal.
Prints the second image's name as its last line.
EOT
}

libs=""
tag=""
rebuild=no
while [[ $# -gt 0 ]]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --libs) libs=$(realpath -- "${2:?--libs needs a folder}"); shift 2 ;;
    --tag) tag=${2:?--tag needs a name}; shift 2 ;;
    --rebuild) rebuild=yes; shift ;;
    *) echo "build-base-image.sh: '$1' is not understood; see --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")"
readonly SUITE=trixie
readonly JRE=strata-it/jre:21
libs=${libs:-$PWD/../target/kafka-libs}

say() { printf '==> %s\n' "$*"; }
fail() { echo "build-base-image.sh: $*" >&2; exit 1; }

docker version >/dev/null 2>&1 || fail "no container engine answers: start dockerd first"
[[ -d $libs ]] || fail "no Kafka's jars in $libs: run mvn process-test-resources, or give --libs"
version=$(find "$libs" -name 'kafka_2.13-*.jar' | sed -n 's/.*kafka_2\.13-\([0-9.]*\)\.jar/\1/p' | head -n 1)
[[ -n $version ]] || fail "$libs has no kafka_2.13-VERSION.jar"
tag=${tag:-strata-it/kafka:$version}

work=$(mktemp -d)
cleanup() {
  # debootstrap mounts these, and leaves them mounted when it is interrupted.
  local mounted
  for mounted in "$work/rootfs/proc" "$work/rootfs/sys"; do
    mountpoint -q "$mounted" && umount -l "$mounted"
  done
  rm -rf --one-file-system -- "$work"
}
trap cleanup EXIT

build_jre() {
  [[ $EUID -eq 0 ]] || fail "debootstrap needs root"
  command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
  say "$JRE: Debian $SUITE and a Java 21 runtime, by debootstrap"
  # An image needs no fsync of each file.
  mkdir -p "$work/rootfs/etc/dpkg/dpkg.cfg.d"
  printf 'force-unsafe-io\npath-exclude=/usr/share/doc/*\npath-exclude=/usr/share/man/*\npath-exclude=/usr/share/locale/*\n' \
    >"$work/rootfs/etc/dpkg/dpkg.cfg.d/image"
  debootstrap --variant=minbase --include=openjdk-21-jre-headless,procps "$SUITE" "$work/rootfs" >"$work/debootstrap.log" 2>&1 \
    || fail "debootstrap failed: $(tail -n 5 "$work/debootstrap.log")"
  rm -rf "$work"/rootfs/var/cache/apt/archives/*.deb "$work"/rootfs/var/lib/apt/lists/*
  tar -C "$work/rootfs" --exclude=./proc/* --exclude=./sys/* --exclude=./dev/* -c . \
    | docker import --change 'ENV JAVA_HOME=/usr/lib/jvm/java-21-openjdk-amd64' --change 'ENV LANG=C.UTF-8' - "$JRE" >/dev/null
}

if [[ $rebuild == yes ]] || ! docker image inspect "$JRE" >/dev/null 2>&1; then
  build_jre
else
  say "$JRE is there; --rebuild builds it anew"
fi

say "$tag: Kafka $version, laid out like apache/kafka:$version"
mkdir "$work/context"
cp -r image/. "$work/context/"
mkdir "$work/context/libs"
cp "$libs"/*.jar "$work/context/libs/"
docker build -q --build-arg "BASE=$JRE" -t "$tag" "$work/context" >/dev/null
echo "$tag"
