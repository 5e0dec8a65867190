#!/usr/bin/env bash
# A stock broker with Strata under all kinds of load for hours, sampled all the while. See --help.
set -euo pipefail

usage() {
  cat <<'EOF'
Usage: integration-tests/soak.sh [--hours H] [--minutes M] [--every SECONDS] [--kill-every MINUTES] [--folder DIR]

  --hours, --minutes   how long, together (1 hour)
  --every SECONDS      between samples, at each of which a topic is made and an old one deleted, the migration is told
                       something else, and a partition is sent to one of two log directories (10)
  --kill-every MINUTES kill -9 so often, as 30 in two hours; what is asserted is then asserted of the last process (never)
  --folder DIR         for soak.csv, soak.png and the broker's logs (integration-tests/target/soak)

Loads: retained, tiered (remote copies), compacted, transactional and plain topics, consumers from the start and from the end. Fails if heap
after GC, anonymous memory, direct buffers, descriptors, threads or the log directories grow once the broker has warmed up, if a record that is read
is not what was sent, if the pool's accounting is not exact, or if anything is left in it when all topics are deleted.

Needs a built tree: mvn -q -DskipTests verify
EOF
}

minutes=0
every=10
kills=0
folder=
while [[ $# -gt 0 ]]; do
  case $1 in
    --hours) minutes=$(awk "BEGIN { print $minutes + 60 * $2 }"); shift 2 ;;
    --minutes) minutes=$(awk "BEGIN { print $minutes + $2 }"); shift 2 ;;
    --every) every=$2; shift 2 ;;
    --kill-every) kills=$2; shift 2 ;;
    --folder) folder=$(realpath -m "$2"); shift 2 ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
[[ $minutes != 0 ]] || minutes=60

cd "$(dirname "${BASH_SOURCE[0]}")"
version=$(sed -n 's:.*<version>\(.*\)</version>.*:\1:p' pom.xml | head -n 1)
jar=$PWD/../pmem-tier/target/strata-kafka-$version.jar
[[ -f $jar && -d target/test-classes ]] || { echo "soak.sh: build first: mvn -q -DskipTests verify" >&2; exit 1; }
folder=${folder:-$PWD/target/soak}
rm -rf "$folder"

exec java -Xmx1g -Djava.awt.headless=true -Dstrata.it.jar="$jar" -Dstrata.it.kafka.libs="$PWD/target/kafka-libs" \
  -Dstrata.it.kafka.own.tests="$PWD/target/kafka-own-tests" -Dstrata.it.work="$PWD/target/it" -Dstrata.it.version="$version" \
  -cp "target/test-classes:target/bench-libs/*:$jar:target/kafka-libs/*" \
  io.strata.kafka.it.soak.Soak "$minutes" "$every" "$kills" "$folder"
