#!/usr/bin/env bash
# Runs a benchmark of docs/benchmarks.md or docs/design/performance.md from the built tree. See --help.
set -euo pipefail

usage() {
  cat <<'EOF'
Usage: integration-tests/bench.sh scale [SEGMENTS]              heap, pool bytes and recovery time of many segments
       integration-tests/bench.sh memory [JMH options]          durable appends and reads of the memory types
       integration-tests/bench.sh turns [ROUNDS [JAVA...]]      durable appends in C and in Java (type pmem; to the pool, and by a
                                                                segment's channel) in turn, in processor time; 9 rounds, with the
                                                                java of the path. Needs cc, libpmem
       integration-tests/bench.sh forced DIRECTORY [ROUNDS [APPENDS]]
                                                                forced appends of 16 KiB to a pool of type file, by 1 and 8
                                                                threads, beside C with O_DIRECT and O_DSYNC, with
                                                                fdatasync, and with all that a pool writes, in turn;
                                                                5 rounds, 2000 appends a thread. Needs cc
       integration-tests/bench.sh remote [MIB [SEGMENTS [read|copy|many|all [ROUNDS [SEGMENT_MIB]]]]]
                                                                the remote tier, in turns: catching up, copying, first
                                                                byte; many segments; 4096 10000 all 9. Needs 16 GiB
                                                                of memory, and 20 GiB of disk. With another manager:
                                                                JAVA_TOOL_OPTIONS=-Dstrata.bench.manager=FILE (RemoteManager)
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

turn() { # JAVA CLASS BYTES
  "$1" --enable-native-access=ALL-UNNAMED -Xmx700m -cp "target/test-classes:target/bench-libs/*:$jar:target/kafka-libs/*" \
    "io.strata.kafka.it.bench.$2" /dev/shm pmem "$3"
}

# Rounds in which C and each JVM have their turn; medians, ranges, and what part of C's speed each JVM has.
turns() {
  local rounds=${1:-9} c=target/pmem_append length jvm jvms
  shift || true
  [[ $# -gt 0 ]] || set -- java
  cc -O2 -o "$c" src/bench/c/pmem_append.c -l:libpmem.so.1
  for ((round = 0; round < rounds; round++)); do
    for length in 16384 163840 1048576; do
      echo "$length 0 C $("$c" /dev/shm "$length" | sed -E 's/.*median ([0-9.]+) ms.*/\1/')"
      jvms=0
      for jvm; do
        echo "$length $((++jvms)) $jvm $(turn "$jvm" MemoryTurn "$length")"
        echo "$length $((++jvms)) $jvm,channel $(turn "$jvm" SegmentTurn "$length")"
      done
    done
  done | sort -k1,1n -k2,2n -k4,4n | awk '
    function show() {
      if (!n) return
      median = times[int((n + 1) / 2)]
      if (name == "C") c[size] = median
      printf "%8d bytes  %-50s %7.3f ms (%.3f to %.3f)  %s\n", size, name, median, times[1], times[n],
        name == "C" ? "" : sprintf("%.2f of C", c[size] / median)
    }
    { if ($1 != size || $3 != name) { show(); n = 0; size = $1; name = $3 } times[++n] = $4 }
    END { show() }'
}

# As turns, in appends per second of all threads.
forced() {
  local directory=${1:?a directory on the device to measure} rounds=${2:-5} appends=${3:-2000} c=target/forced_append threads
  cc -O2 -pthread -o "$c" src/bench/c/forced_append.c
  for ((round = 0; round < rounds; round++)); do
    for threads in 1 8; do
      echo "$threads C,direct $("$c" "$directory" 16384 "$threads" "$appends" direct)"
      echo "$threads C,fdatasync $("$c" "$directory" 16384 "$threads" "$appends" cached)"
      echo "$threads C,pool $("$c" "$directory" 16384 "$threads" "$appends" pool)"
      echo "$threads channel $(run --enable-native-access=ALL-UNNAMED io.strata.kafka.it.bench.ForcedTurn \
        "$directory" 16384 "$threads" "$appends")"
    done
  done | sort -k1,1n -k2,2 -k3,3n | awk '
    function show() { if (n) printf "%d threads  %-12s %8d appends/s (%d to %d)\n", threads, name, rates[int((n + 1) / 2)], rates[1], rates[n] }
    { if ($1 != threads || $2 != name) { show(); n = 0; threads = $1; name = $2 } rates[++n] = $3 }
    END { show() }'
}

# With the classes of other releases of Kafka, which Maven brings.
remote() {
  local home
  home=$(mvn -B -Dstyle.color=never -version | sed -n 's/^Maven home: //p')
  run -Dstrata.it.kafka.other="$PWD/kafka-versions/pom.xml" -Dstrata.it.maven.home="$home" \
    -Dstrata.it.maven.repository="$HOME/.m2/repository" -Dstrata.it.maven.settings=offline=false \
    io.strata.kafka.it.bench.RemoteComparison "$@"
}

case $what in
  forced) forced "$@" ;;
  scale) run io.strata.kafka.it.bench.TierScale "$@" ;;
  memory) java -cp "target/test-classes:target/bench-libs/*:$jar" org.openjdk.jmh.Main 'MemoryBench|ChannelBench' \
    -p directory=/dev/shm "$@" ;;
  turns) turns "$@" ;;
  remote) remote "$@" ;;
  planning) run io.strata.kafka.it.bench.PlanningCost "$@" ;;
  --help | -h) usage ;;
  *) usage >&2; exit 2 ;;
esac
