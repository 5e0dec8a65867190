#!/usr/bin/env bash
# Runs a benchmark of docs/benchmarks.md from the built tree. See --help.
set -euo pipefail

usage() {
  cat <<'EOF'
Usage: integration-tests/bench.sh scale [SEGMENTS]              heap, pool bytes and recovery time of many segments
       integration-tests/bench.sh memory [JMH options]          durable appends and reads of the memory types
       integration-tests/bench.sh migration [POOL_MIB [QUIET_S [STEADY_S [HOME_MBPS [burst|steady|all]]]]]
                                                                a home of 80 MB/s: a burst after a quiet minute, and a
                                                                steady load with retention; 2048 60 90 80 all. Needs root,
                                                                nbdkit, nbdfuse and fuse3, and 16 GiB of memory
       integration-tests/bench.sh remote [MIB [SEGMENTS [read|copy|many|all]]]
                                                                the remote tier: catching up, copying, first byte, heap
                                                                and threads; 4096 10000 all. Root drops the page cache
       integration-tests/bench.sh planning [SEGMENTS...]        processor time of a planning round; 1000 10000 100000

Needs a built tree: mvn -q -DskipTests verify. Load on brokers, and stock Kafka against Strata: examples/bin/strata-bench
EOF
}

cd "$(dirname "${BASH_SOURCE[0]}")"
what=${1:---help}
shift || true

version=$(sed -n 's:.*<version>\(.*\)</version>.*:\1:p' pom.xml | head -n 1)
jar=$PWD/../pmem-tier/target/strata-kafka-$version.jar
if [[ $what != --help && $what != -h ]]; then
  [[ -f $jar && -d target/test-classes ]] || { echo "bench.sh: build first: mvn -q -DskipTests verify" >&2; exit 1; }
fi

run() {
  java -Djava.awt.headless=true -Dstrata.it.jar="$jar" -Dstrata.it.kafka.libs="$PWD/target/kafka-libs" \
    -Dstrata.it.kafka.own.tests="$PWD/target/kafka-own-tests" -Dstrata.it.work="$PWD/target/it" -Dstrata.it.version="$version" \
    -cp "target/test-classes:target/bench-libs/*:$jar:target/kafka-libs/*" "$@"
}

case $what in
  scale) run io.strata.kafka.it.TierScale "$@" ;;
  memory) java -cp "target/test-classes:target/bench-libs/*:$jar" org.openjdk.jmh.Main 'MemoryBench|ChannelBench' \
    -p directory=/dev/shm "$@" ;;
  migration) run io.strata.kafka.it.MigrationComparison "$@" ;;
  remote) run io.strata.kafka.it.RemoteComparison "$@" ;;
  planning) run io.strata.kafka.it.PlanningCost "$@" ;;
  --help | -h) usage ;;
  *) usage >&2; exit 2 ;;
esac
