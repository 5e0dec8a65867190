#!/usr/bin/env bash
# Strata quickstart: a stock Apache Kafka broker keeps its newest segments in a pool. See --help.
set -euo pipefail

readonly VERIFIER=QuickstartRecords.java
readonly MIB=$((1024 * 1024))
readonly RECORD_SIZE=1024
readonly PAYLOADS=10000
readonly SEGMENT_BYTES=$((32 * MIB))

usage() {
  cat <<'EOF'
Usage: examples/quickstart/run.sh [options]

Builds Strata, starts a stock Apache Kafka broker with it, produces records until the pool has spilled, kills the broker
with kill -9, starts it again, reads everything back and checks every record. Ends with a table of where the segments are, and

  quickstart: OK: … records acknowledged, broker killed with kill -9, … records read back; lost: 0

It measures nothing: for figures see docs/benchmarks.md.

Options:
  --type TYPE       mapped (default): a mapped file, JDK only
                    pmem: libpmem, for persistent memory; needs libpmem (Debian: libpmem1 libpmemobj1 libpmempool1)
                    file: ordinary file I/O, for NVMe and SSD
  --path PATH       where the pool goes: a directory, or the name of a file that does not exist yet
                    (default: /dev/shm when it has space, else the temporary directory)
  --pool-size SIZE  size of the pool, in MiB or GiB (default 512MiB; at least 64MiB)
  --records N       how many records of 1 KiB to produce (default: one and a half times the pool, and on until it spills)
  --port PORT       the broker's port; the controller takes the next one (default: the first free one from 19092)
  --keep            leave the broker running at the end, and say how to connect, how to look at it and how to stop it
  --help            this text

Needs Linux, bash, a JDK (17 or later, with javac), Maven and git. Exit code 0: every record was there. 1: something was not as it
should be; the last line says what. 2: wrong usage. Without --keep nothing stays but build output and Kafka's jars, below
target/; after a failure the logs stay, too.
EOF
}

# ---------------------------------------------------------------------------------------------------------------------
# Messages and the end

work=""         # everything of this run: data, logs, payloads
pool=""         # the pool's file, once it is ours
broker_pid=""
keep=no
succeeded=no
failed=no       # with a reason given

# The caller's standard error, also where a function runs with its output redirected.
exec 3>&2

say() { printf '==> %s\n' "$*"; }

note() { printf '    %s\n' "$*"; }

# show FILE: its lines, indented.
show() {
  local shown
  while IFS= read -r shown; do
    note "$shown"
  done <"$1"
}

# fail REASON: one line with the reason, exit code 1. The trap adds where the logs are.
fail() {
  failed=yes
  printf 'quickstart: FAILED: %s\n' "$*" >&3
  exit 1
}

misuse() {
  printf 'quickstart: %s (see --help)\n' "$*" >&3
  exit 2
}

broker_runs() { [[ -n $broker_pid ]] && kill -0 "$broker_pid" 2>/dev/null; }

# stop_broker SIGNAL: ends the broker and waits until it is gone, at most 30 s, then with KILL.
stop_broker() {
  local signal=$1 tenths=0
  if broker_runs; then
    kill -s "$signal" "$broker_pid" 2>/dev/null || true
    while broker_runs; do
      if ((tenths++ == 300)); then
        kill -s KILL "$broker_pid" 2>/dev/null || true
      fi
      sleep 0.1
    done
  fi
  broker_pid=""
}

# A command that was not expected to fail: bash ends the script with that command's exit code.
fail_unexpectedly() {
  failed=yes
  printf 'quickstart: FAILED: a step ended with exit code %s\n' "$1" >&3
}

clean_up() {
  local status=$?
  trap - EXIT
  trap '' INT TERM HUP
  if [[ $succeeded == yes && $keep == yes ]]; then
    exit "$status"
  fi
  case $status in
    0 | 2 | 129 | 130 | 143) ;; # done, wrong usage, or ended by the user
    *) [[ $failed == yes ]] || fail_unexpectedly "$status" ;;
  esac
  stop_broker TERM
  if [[ -n $pool ]]; then
    rm -f -- "$pool"
  fi
  if [[ -n $work ]]; then
    if [[ $failed == yes && -d $work/logs ]]; then
      rm -rf -- "$work/data" "$work/payloads.txt" "$work/tmp"
      printf 'quickstart: the logs are in %s\n' "$work/logs" >&3
    else
      rm -rf -- "$work"
    fi
  fi
  case $status in
    129 | 130 | 143) printf 'quickstart: interrupted; its broker, pool and data are removed\n' >&3 ;;
  esac
  exit "$status"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# ---------------------------------------------------------------------------------------------------------------------
# Options

# mebibytes SIZE: prints a size as whole MiB.
mebibytes() {
  local size=$1
  [[ $size =~ ^([0-9]{1,7})(MiB|GiB)$ ]] || misuse "--pool-size: found '$size', expected for example 512MiB or 2GiB"
  case ${BASH_REMATCH[2]} in
    GiB) echo $((10#${BASH_REMATCH[1]} * 1024)) ;;
    *) echo $((10#${BASH_REMATCH[1]})) ;;
  esac
}

type=mapped
path=""
pool_size=512MiB
port=""
records=""
while (($# > 0)); do
  option=$1
  shift
  case $option in
    --help | -h)
      usage
      exit 0
      ;;
    --keep)
      keep=yes
      continue
      ;;
    --*=*)
      set -- "${option#*=}" "$@"
      option=${option%%=*}
      ;;
    --type | --path | --pool-size | --port | --records)
      (($# > 0)) || misuse "$option needs a value"
      ;;
    *) misuse "unknown argument '$option'" ;;
  esac
  case $option in
    --type) type=$1 ;;
    --path) path=$1 ;;
    --pool-size) pool_size=$1 ;;
    --port) port=$1 ;;
    --records) records=$1 ;;
    *) misuse "unknown option '$option'" ;;
  esac
  shift
done
[[ $type == @(mapped|pmem|file) ]] || misuse "--type: found '$type', expected mapped, pmem or file"
pool_mib=$(mebibytes "$pool_size")
((pool_mib >= 64)) || misuse "--pool-size: found $pool_mib MiB, expected at least 64"
if [[ -n $port ]]; then
  if [[ ! $port =~ ^[0-9]{1,5}$ ]] || ((10#$port < 1 || 10#$port > 65534)); then
    misuse "--port: found '$port', expected 1 to 65534"
  fi
  port=$((10#$port))
fi
if [[ -n $records ]]; then
  if [[ ! $records =~ ^[0-9]{1,10}$ ]] || ((10#$records < 10)); then
    misuse "--records: found '$records', expected a number from 10 up"
  fi
  records=$((10#$records))
fi

# ---------------------------------------------------------------------------------------------------------------------
# The machine

# Absolute paths, since we change the directory; the caller's relative --path means the caller's directory.
if [[ -n $path && $path != /* ]]; then
  path=$PWD/$path
fi
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
cd -- "$here"
[[ $here$path != *[,\\]* ]] || fail "commas and backslashes have a meaning in server.properties: $here and --path must have none"

java=java
javac=javac
if [[ -n ${JAVA_HOME:-} ]]; then
  java=$JAVA_HOME/bin/java
  javac=$JAVA_HOME/bin/javac
fi
[[ $(uname -s) == Linux ]] || fail "found $(uname -s), expected Linux: run this in a virtual machine, or in WSL 2"
command -v "$java" >/dev/null || fail "no $java: install a JDK, 17 or later, or set JAVA_HOME"
command -v "$javac" >/dev/null || fail "no $javac: a JDK is needed, 17 or later; this is a run-time environment alone"
command -v mvn >/dev/null || fail "no mvn: install Maven, 3.8 or later"
java_version=$("$java" -version 2>&1) || fail "$java -version does not work: ${java_version%%$'\n'*}"
[[ $java_version =~ version\ \"([0-9]+)(\.([0-9]+))? ]] || fail "cannot read the version of $java: ${java_version%%$'\n'*}"
java_major=${BASH_REMATCH[1]}
((java_major >= 17)) || fail "$java is version ${BASH_REMATCH[0]#*\"}, expected 17 or later: install one, or set JAVA_HOME"

# available_mib DIRECTORY: space on its file system, in MiB.
available_mib() {
  local lines
  lines=$(df --output=avail -B1M -- "$1") || return 1
  lines=${lines##*$'\n'}
  echo "${lines// /}"
}

# memory_mib: memory that a memory-backed file system could take now, in MiB; a large number where it cannot be told.
memory_mib() {
  local name value _
  while read -r name value _; do
    if [[ $name == MemAvailable: ]]; then
      echo $((value / 1024))
      return
    fi
  done </proc/meminfo || true
  echo 1000000000
}

port_taken() { (exec 4<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

if [[ -n $port ]]; then
  for taken in "$port" $((port + 1)); do
    if port_taken "$taken"; then
      fail "port $taken is taken (the broker needs $port, its controller $((port + 1))): choose others with --port"
    fi
  done
else
  for ((port = 19092; port < 19192; port += 2)); do
    if ! port_taken "$port" && ! port_taken $((port + 1)); then
      break
    fi
  done
  ((port < 19192)) || fail "no two free ports from 19092 to 19191: choose one with --port"
fi

# The pool's place. A pool in memory-backed storage takes as much memory, and the JVMs need some, too.
pool_directory=""
pool_file=""
if [[ -z $path ]]; then
  pool_directory=${TMPDIR:-/tmp}
  place="$pool_directory: no memory-backed file system with $pool_mib MiB free was found"
  if [[ -d /dev/shm && -w /dev/shm ]]; then
    if (($(available_mib /dev/shm) >= pool_mib + 16 && $(memory_mib) >= pool_mib + 2048)); then
      pool_directory=/dev/shm
      place="/dev/shm, which is memory: the pool survives the broker, but neither a power cut nor a reboot"
    fi
  fi
elif [[ -d $path ]]; then
  pool_directory=$path
  place="$path, as asked"
else
  pool_directory=$(dirname -- "$path")
  pool_file=$path
  place="$path, as asked"
  [[ ! -e $path ]] || fail "$path exists; the quickstart makes a pool of its own and removes it: name a directory or a new file"
  [[ -d $pool_directory ]] || fail "$pool_directory does not exist: create it, or choose another --path"
fi
[[ -w $pool_directory ]] || fail "$pool_directory is not writable for $(id -un): choose another --path"
free_mib=$(available_mib "$pool_directory") || fail "cannot tell the free space of $pool_directory"
((free_mib >= pool_mib)) || fail "a pool of $pool_mib MiB is too large for $pool_directory, which has $free_mib MiB free: choose --pool-size or --path"
if [[ -z $pool_file ]]; then
  pool_file=$pool_directory/strata-quickstart-$$.pool
  [[ ! -e $pool_file ]] || fail "$pool_file exists: remove it, or choose another --path"
fi

# Without --records: half as much again as the pool holds, and on until it has spilled, at most twice that.
records_given=no
total_records=$((pool_mib * MIB * 3 / 2 / RECORD_SIZE))
if [[ -n $records ]]; then
  records_given=yes
  total_records=$records
fi
logs_mib=$((total_records * 2 * RECORD_SIZE / MIB + 256))
# What a single step may take, before it counts as hanging.
tool_seconds=$((150 + logs_mib / 10))
free_mib=$(available_mib "$here")
((free_mib >= logs_mib)) || fail "$here has $free_mib MiB free, $logs_mib are needed: choose a smaller --pool-size or fewer --records"

# ---------------------------------------------------------------------------------------------------------------------
# Strata's jar and a stock Kafka

shopt -s nullglob globstar extglob

# find_jar: the installable jar, when there is one and no source is newer.
find_jar() {
  local candidate newest="" source
  for candidate in "$root"/pmem-tier/target/strata-kafka-*.jar; do
    case $candidate in
      *-tests.jar | *-sources.jar | *-javadoc.jar) ;;
      *) if [[ -z $newest || $candidate -nt $newest ]]; then newest=$candidate; fi ;;
    esac
  done
  [[ -n $newest ]] || return 0
  for source in "$root"/{plugin-api,migration,pmem-tier}/{src/main/**/*,pom.xml} "$root"/pom.xml; do
    if [[ $source -nt $newest && -f $source ]]; then
      return 0
    fi
  done
  echo "$newest"
}

jar=$(find_jar)
if [[ -z $jar ]]; then
  say "Building Strata: about three minutes, the first time with downloads"
  (cd -- "$root" && mvn -q -B -Dstyle.color=never -DskipTests -pl pmem-tier -am package) || fail "the build failed; its messages are above"
  jar=$(find_jar)
  [[ -n $jar ]] || fail "the build made no $root/pmem-tier/target/strata-kafka-*.jar"
fi

kafka_version=$(sed -n 's:.*<kafka\.version>\(.*\)</kafka\.version>.*:\1:p' "$root/pom.xml")
[[ -n $kafka_version ]] || fail "no kafka.version in $root/pom.xml"
kafka=$here/target/kafka-$kafka_version
if [[ ! -e $kafka/complete || $here/pom.xml -nt $kafka/complete ]]; then
  say "Assembling a stock Kafka $kafka_version from its published jars"
  rm -rf -- "$kafka"
  mvn -q -B -Dstyle.color=never -f "$here/pom.xml" dependency:copy-dependencies -Dkafka.version="$kafka_version" \
    -DincludeScope=runtime -DoutputDirectory="$kafka/libs" || fail "Kafka's jars could not be had; Maven's messages are above"
  touch -- "$kafka/complete"
fi

seconds_at_start=$SECONDS
mkdir -p -- "$here/target"
work=$(mktemp -d "$here/target/run-XXXXXX")
mkdir -- "$work/logs" "$work/data" "$work/tmp"
log=""

# tool CLASS ARGUMENTS...: one of Kafka's own command line tools.
tool() {
  timeout "$tool_seconds" "$java" -Xmx512m -Duser.language=en -Dquickstart.log.level=warn -Dlog4j2.configurationFile="$here/log4j2.properties" \
    -cp "$kafka/libs/*" "$@"
}

strata() { timeout "$tool_seconds" "$java" -jar "$jar" "$@"; }

# ---------------------------------------------------------------------------------------------------------------------
# The pool and the broker

pool=$pool_file
cluster_id=$(head -c 16 /dev/urandom | base64 | tr '+/' 'ab')
cluster_id=${cluster_id%%=*}

cat >"$work/server.properties" <<EOF
# One node, broker and controller.
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
log.dirs=$work/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
# Small segments, so that a short run has many.
log.segment.bytes=$SEGMENT_BYTES

# Strata: the pool; its metrics and its guard. (Naming a reporter drops Kafka's default one, so both are named.)
strata.pools=$pool
strata.pool.type=$type
metric.reporters=org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter
EOF
say "Formatting the broker's storage with this server.properties"
show "$work/server.properties"
tool kafka.tools.StorageTool format --cluster-id "$cluster_id" --config "$work/server.properties" \
  >"$work/logs/format.log" 2>&1 || fail "Kafka's storage tool failed: $(tail -n 1 "$work/logs/format.log")"

say "Creating the pool: $pool_mib MiB, type $type"
note "in $place"
strata pool create --size "${pool_mib}MiB" --config "$work/server.properties" >"$work/logs/pool.log" 2>&1 \
  || fail "the pool could not be created: $(tail -n 1 "$work/logs/pool.log")"
show "$work/logs/pool.log"

readonly PROVIDER=-Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider

starts=0

# why_broker_ended: the first error in its log, with the exception that follows it, as one line.
why_broker_ended() {
  local line reason=""
  while IFS= read -r line; do
    if [[ -z $reason && $line =~ (FATAL|ERROR|^Error|^Exception\ in) ]]; then
      reason=$line
    fi
    if [[ -n $reason && $line =~ (Exception|Error):\ (.+) ]]; then
      reason=${BASH_REMATCH[2]}
      break
    fi
  done <"$log"
  echo "${reason:-$(tail -n 1 "$log")}"
}

# start_broker: starts it with a log of its own and waits until it serves.
start_broker() {
  local tenths=0
  log=$work/logs/broker-$((++starts)).log
  : >"$log"
  # As kafka-server-start.sh: a heap of 1 GiB, G1. nohup, since --keep outlives this terminal.
  nohup "$java" -Xms1g -Xmx1g -XX:+UseG1GC -Djava.awt.headless=true -Djava.io.tmpdir="$work/tmp" \
    "$PROVIDER" -Dlog4j2.configurationFile="$here/log4j2.properties" -cp "$kafka/libs/*:$jar" \
    kafka.Kafka "$work/server.properties" >"$log" 2>&1 </dev/null 3>&- &
  broker_pid=$!
  disown "$broker_pid"
  until grep -q 'Kafka Server started' "$log"; do
    broker_runs || fail "the broker did not start: $(why_broker_ended)"
    ((tenths++ < 900)) || fail "the broker did not start within 90 s"
    sleep 0.1
  done
}

say "Starting the broker with $(basename -- "$jar") and the provider"
note "$PROVIDER"
start_broker
bootstrap=127.0.0.1:$port

# ---------------------------------------------------------------------------------------------------------------------
# Records in

create_topic() {
  tool org.apache.kafka.tools.TopicCommand --bootstrap-server "$bootstrap" --create --topic "$1" --partitions "$2" \
    --replication-factor 1 >"$work/logs/topic-$1.log" 2>&1 || fail "topic $1 could not be created: $(tail -n 1 "$work/logs/topic-$1.log")"
}

acknowledged_records=0
sent_orders=""
sent_clicks=""

hot=0
spilled=0
declare -A totals=()

# segments OPTIONS...: where the segments of the two topics live.
segments() { strata segments --config "$work/server.properties" --topic clicks --topic orders "$@"; }

# count_segments: sets totals, hot and spilled. A segment that is in its log file alone was moved there, or began there
# because the pool was full.
count_segments() {
  local json name
  json=$(segments --totals --json 2>"$work/logs/segments.log") \
    || fail "strata segments failed: $(tail -n 1 "$work/logs/segments.log")"
  for name in hot clean spilled logdirs unreachable; do
    [[ $json =~ \"$name\"\ *:\ *([0-9]+) ]] || fail "strata segments --json has no total for '$name'"
    totals[$name]=${BASH_REMATCH[1]}
  done
  ((totals[unreachable] == 0)) || fail "${totals[unreachable]} segments cannot be reached: $(tail -n 1 "$work/logs/segments.log")"
  hot=${totals[hot]}
  spilled=$((totals[spilled] + totals[logdirs]))
}

# produce TOPIC RECORDS PROPERTY...: with ProducerPerformance; adds to acknowledged_records.
produce() {
  local topic=$1 count=$2 line="" out acknowledged
  shift 2
  out=$work/logs/produce-$topic.log
  tool org.apache.kafka.tools.ProducerPerformance --bootstrap-server "$bootstrap" --topic "$topic" --num-records "$count" \
    --payload-file "$work/payloads.txt" --throughput -1 --command-property acks=all "$@" >>"$out" 2>&1 \
    || fail "producing to $topic failed: $(tail -n 1 "$out")"
  # The total is the line with the percentiles: 9 records sent, 9.9 records/sec (9.9 MB/sec), ..., 9 ms 99.9th.
  line=$(grep '99.9th' "$out" | tail -n 1) || fail "ProducerPerformance gave no total for $topic: $(tail -n 1 "$out")"
  [[ $line =~ ^([0-9]+)\ records\ sent, ]] || fail "ProducerPerformance's total for $topic is not understood: $line"
  acknowledged=${BASH_REMATCH[1]}
  ((acknowledged == count)) || fail "$topic: $acknowledged of $count records were acknowledged; see produce-$topic.log"
  acknowledged_records=$((acknowledged_records + acknowledged))
  note "$topic: $acknowledged of $count records acknowledged"
}

say "Producing with Kafka's ProducerPerformance, $RECORD_SIZE bytes a record, acks=all"
tool "$here/$VERIFIER" payloads "$work/payloads.txt" "$PAYLOADS" "$RECORD_SIZE" || fail "no payloads"
create_topic clicks 2
create_topic orders 4
sent_clicks=$((total_records / 5))
sent_orders=$((total_records - sent_clicks))
produce clicks "$sent_clicks" compression.type=zstd
produce orders "$sent_orders"
count_segments
# How much makes the pool spill depends on how the partitions share it.
for ((round = 0; round < 4 && spilled == 0; round++)); do
  [[ $records_given == no ]] || break
  produce orders $((total_records / 4))
  sent_orders+=+$((total_records / 4))
  count_segments
done
if ((spilled > 0)); then
  note "the pool is full: $hot segments are whole in it, $spilled have bytes in their log files"
elif [[ $records_given == yes ]]; then
  note "the pool is not full: $hot segments are whole in it, none has bytes in its log file"
else
  fail "the pool has not spilled after $(((sent_clicks + ${sent_orders//+/ + }) * RECORD_SIZE / MIB)) MiB: see strata segments"
fi

# ---------------------------------------------------------------------------------------------------------------------
# kill -9, and every record back

# check_records: reads everything, compares; sets checked_records.
check_records() {
  local line
  line=$(tool "$here/$VERIFIER" check "$bootstrap" "$work/payloads.txt" "$work/logs/digests.txt" \
    "clicks=$sent_clicks" "orders=$sent_orders" 2>"$work/logs/check.log") || fail "records are wrong: ${line##*$'\n'}"
  [[ $line =~ records=([0-9]+) ]] || fail "the check said nothing; see check.log"
  checked_records=${BASH_REMATCH[1]}
}

say "Reading everything back, before the kill"
check_records
note "$checked_records records, each as sent and in its place"

say "kill -9 of the broker, and a new start"
stop_broker KILL
start_broker

say "Reading everything back, after the kill"
check_records
show "$work/logs/digests.txt"
note "count and checksum of every partition are the same as before the kill"

# ---------------------------------------------------------------------------------------------------------------------
# Where it lives, and the last line

row() { note "$(printf '%-50s %8s' "$1" "$2")"; }

say "Where the segments live"
count_segments
((hot > 0)) || fail "no segment is in the pool"
row WHERE SEGMENTS
row "pool alone" $((totals[hot] - totals[clean]))
row "pool, and a copy in the log file" "${totals[clean]}"
row "first part in the pool, the rest in the log file" "${totals[spilled]}"
row "log file alone" "${totals[logdirs]}"
lost=$((acknowledged_records - checked_records))
((lost == 0)) || fail "$lost of $acknowledged_records acknowledged records are lost"

succeeded=yes
say "Done in $((SECONDS - seconds_at_start)) s"
if [[ $keep == yes ]]; then
  cat >"$work/stop.sh" <<EOF
#!/usr/bin/env bash
# Stops this quickstart's broker and removes its pool and its data.
kill $broker_pid 2>/dev/null && while kill -0 $broker_pid 2>/dev/null; do sleep 0.2; done
rm -rf -- $(printf '%q' "$pool") $(printf '%q' "$work")
EOF
  chmod +x "$work/stop.sh"
  rm -f -- "$work/payloads.txt"
  note "the broker stays: connect to $bootstrap (topics orders and clicks), for example"
  note "  $(printf '%q' "$java") -cp '$kafka/libs/*' org.apache.kafka.tools.ConsoleProducer --bootstrap-server $bootstrap --topic orders"
  look="$(printf '%q' "$java") -jar $(printf '%q' "$jar")"
  note "look at it, for example"
  note "  $look status --config $work/server.properties"
  note "  $look segments --config $work/server.properties"
  note "its log: $log"
  note "stop it and remove its data: $work/stop.sh"
fi
printf 'quickstart: OK: %d records acknowledged, broker killed with kill -9, %d records read back; lost: %d\n' \
  "$acknowledged_records" "$checked_records" "$lost"
