#!/usr/bin/env bash
# Runs a benchmark of docs/benchmarks.md from the built tree. See --help.
set -euo pipefail

usage() {
  cat <<'EOF'
Usage: integration-tests/bench.sh brokers [PAIRS [MEGABYTES]]   stock Kafka against Strata, by Kafka's own perf tools
       integration-tests/bench.sh scale [SEGMENTS]              heap, pool bytes and recovery time of many segments
       integration-tests/bench.sh memory [JMH options]          durable appends and reads of the memory types

Needs a built tree: mvn -q -DskipTests verify
EOF
}

cd "$(dirname "${BASH_SOURCE[0]}")"
what=${1:---help}
shift || true

version=$(sed -n 's:.*<version>\(.*\)</version>.*:\1:p' pom.xml | head -n 1)
jar=$PWD/../pmem-tier/target/strata-kafka-$version.jar
classpath=target/bench-classpath.txt
if [[ $what != --help && $what != -h ]]; then
  [[ -f $jar && -d target/test-classes ]] || { echo "bench.sh: build first: mvn -q -DskipTests verify" >&2; exit 1; }
fi

run() {
  [[ -f $classpath ]] || (cd .. && mvn -q -B -pl integration-tests -am dependency:build-classpath \
    -DincludeScope=test -Dmdep.outputFile="$PWD/integration-tests/$classpath" >/dev/null)
  java -Dstrata.it.jar="$jar" -Dstrata.it.kafka.libs="$PWD/target/kafka-libs" -Dstrata.it.work="$PWD/target/it" \
    -Dstrata.it.version="$version" -cp "target/test-classes:$jar:target/kafka-libs/*:$(<"$classpath")" "$@"
}

case $what in
  brokers) run io.strata.kafka.it.BrokerComparison "$@" ;;
  scale) run io.strata.kafka.it.TierScale "$@" ;;
  memory) java -cp "target/test-classes:target/bench-libs/*:$jar" org.openjdk.jmh.Main 'MemoryBench|ChannelBench' \
    -p directory=/dev/shm "$@" ;;
  --help | -h) usage ;;
  *) usage >&2; exit 2 ;;
esac
