#!/usr/bin/env bash
# Runs what the chart renders through the code of Strimzi's cluster operator. See --help.
set -euo pipefail

readonly VERSION=1.2.0

usage() {
  cat <<EOT
Usage: integration-tests/strimzi/operator.sh [Maven options]

The cluster operator is in no Maven repository: this gets the sources of its release $VERSION, compiles what it needs of them
outside the project's tree, and calls NodePoolUtils.createKafkaPools and KafkaCluster.fromCrd with the rendered resources of
every values file. OperatorTest compares the nodes' configurations with those that the other tests take for granted, looks
at pods, volumes and claims, and at what restarts a pod. Nothing of Strimzi stays but below operator/target.

Needs a JDK 21 or newer (JAVA_HOME or below /usr/lib/jvm), Maven, helm, and git and a network for the sources.

Environment:
  STRIMZI_SOURCES=FOLDER   the sources of $VERSION, where they are already
  HELM=PATH                helm, where it is not on the path
Exit code: 0 as expected, 1 otherwise, 3 where it cannot run: no JDK, no helm, no sources.
EOT
}

case ${1:-} in
  --help | -h) usage; exit 0 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")"

cannot() { echo "==> SKIPPED: the operator's own code: $*" >&2; exit 3; }

jdk() {
  local home release
  for home in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
    release=$("$home/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p') || true
    [[ ${release:-0} -lt 21 ]] || { echo "$home"; return; }
  done
}

helm=${HELM:-$(command -v helm || true)}
[[ -n $helm ]] || ! [[ -x ../target/tools/helm ]] || helm=$(realpath ../target/tools/helm)
[[ -n $helm ]] || cannot "no helm"
jdk=$(jdk)
[[ -n $jdk ]] || cannot "no JDK 21 or newer"
command -v mvn >/dev/null || cannot "no Maven"

sources=${STRIMZI_SOURCES:-$PWD/operator/target/sources-$VERSION}
if [[ ! -d $sources/cluster-operator/src/main/java ]]; then
  [[ -z ${STRIMZI_SOURCES:-} ]] || cannot "STRIMZI_SOURCES=$STRIMZI_SOURCES has no cluster-operator/src/main/java"
  command -v git >/dev/null || cannot "no git"
  mkdir -p operator/target
  rm -rf "$sources"
  git clone --quiet --depth 1 --branch "$VERSION" https://github.com/strimzi/strimzi-kafka-operator "$sources" \
    || cannot "the sources of Strimzi $VERSION cannot be had; STRIMZI_SOURCES names a folder that has them"
fi
grep -q "<version>$VERSION</version>" "$sources/pom.xml" || cannot "$sources is not Strimzi $VERSION"

JAVA_HOME=$jdk mvn -B -ntp -q test -f operator/pom.xml -Dstrimzi.sources="$sources" -Dhelm="$helm" "$@"
echo "the chart in the code of Strimzi's cluster operator $VERSION: as expected"
