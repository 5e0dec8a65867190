#!/usr/bin/env bash
# Three brokers with Strata under Go and Java clients and faults; whether what the clients saw is a log's history. See --help.
set -euo pipefail

usage() {
  cat <<'EOT'
Usage: integration-tests/histories.sh [--histories N] [--operations N] [--faults N] [--seed S] [--unclean N] [--limit D] [--stock]
       integration-tests/histories.sh --short
       integration-tests/histories.sh --cuts N [--dax | --stock] [--seed S]

  --histories N   how many, each with topics of its own on brokers that stay (100)
  --operations N  of each, at the least: records sent, fetches that returned records, ends of transactions (10000)
  --faults N      of each (3)
  --seed S        of the first; the next ones count on. Repeats load and faults, as far as timing allows (the time)
  --unclean N     every N-th history allows unclean elections: what it loses is counted, not judged (20; 0 for none)
  --limit D       begins no history later, as 90m (none)
  --stock         brokers without Strata: what fails there, too, is no fault of Strata's
  --short         three histories
  --cuts N        no histories: cuts the power of controller and brokers at once, N times (as root). All have one ext4 of their own, which
                  is shut down while they are suspended, so that nothing reaches its device that was not forced; three replicas,
                  acks=all, pools of the type file with strata.durability=ack. Fails if an acknowledged record is lost; with --stock,
                  if none is
  --dax           with --cuts: pools of the type mapped, in memory that has only what was flushed, as DAX has after a power failure

A history takes from 15 s to a minute on two cores; time-outs are generous, as the machine may do other work. One line for each:
operations, faults, verdict, seed. The brokers' logs are in integration-tests/target/histories; a history that is bad is there as JSON.

Needs a built tree (mvn -q verify -DskipTests) and Go. Downloads Go modules unless STRATA_VERIFY_OFFLINE is set.
Exit code: 0 when all are good, 1 when not, 77 when it cannot run here.
EOT
}

options=()
dax=
while [[ $# -gt 0 ]]; do
  case $1 in
    --histories | --operations | --faults | --seed | --unclean | --limit | --cuts) options+=("-${1#--}" "$2"); shift 2 ;;
    --stock) options+=(-stock); shift ;;
    --dax) dax=yes; shift ;;
    --short) options+=(-histories 3 -unclean 0); shift ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")"
command -v go >/dev/null || { echo "==> SKIPPED: histories: no go"; exit 77; }
version=$(sed -n 's:.*<version>\(.*\)</version>.*:\1:p' pom.xml | head -n 1)
jar=$PWD/../pmem-tier/target/strata-kafka-$version.jar
[[ -f $jar && -d target/kafka-libs ]] || { echo "histories.sh: build first: mvn -q verify -DskipTests" >&2; exit 1; }
[[ -z ${STRATA_VERIFY_OFFLINE:-} ]] || export GOPROXY=off
mkdir -p target
(cd histories && go test ./... && go build -o ../target/histories-program .)
if [[ -n $dax ]]; then
  rm -rf target/shadow-classes
  mkdir -p target/shadow-classes
  java -cp "../pmem-tier/target/test-classes:$jar:target/bench-libs/*" io.strata.kafka.memory.ShadowPatch target/shadow-classes
  options+=(-shadow "$PWD/target/shadow-classes")
fi
exec target/histories-program -folder "$PWD/target/histories" -libs "$PWD/target/kafka-libs" -jar "$jar" \
  -logging "$PWD/src/test/resources/broker-log4j2.xml" -client "$PWD/histories/Client.java" ${options[@]+"${options[@]}"}
