#!/usr/bin/env bash
# Tests the project: in minutes by default, or all that there is. See --help.
set -euo pipefail

readonly ALL_PARTS=(short unit faults jdk25 lincheck brokers versions kafka metrics kills histories year powercuts nfs fuzz release docs strimzi clients containers)

usage() {
  cat <<'EOT'
Usage: integration-tests/verify.sh [--all | --part NAME]... [Maven options]

Needs a JDK (17 or later), Maven 3.8 or later, and Linux. Without --all and --part it runs the part "short". Parts:

  short      static checks, unit tests and simulations on the JDK that runs Maven, stock brokers, and Kafka's own tests of
             FileRecords and LogSegment; all but the tests that are tagged "long", in small sizes: a quarter of an hour
  unit       all unit tests, crash simulations and stress tests in full size, and whether the simulation notices what is taken away
  faults     every n-th call of a workload fails, once and for good: in the crash simulation, with cuts behind that
             (-Dstrata.failing.seeds), and on real files below the real provider
  jdk25      the unit tests on JDK 25, where there is one below /usr/lib/jvm
  lincheck   the checks of linearizability, with twenty times as many scenarios
  brokers    all tests on stock brokers, one at a time
  versions   the tests on stock brokers that are not long on other releases of Kafka, and the core on all of them; with
             -Dwrite=true writes the table in docs/install.md
  kafka      all of Kafka's own tests that run on our channel and our remote manager
  metrics    the alerts and the dashboard of the examples on a real Prometheus that scrapes a broker under load
  kills      brokers that are killed and stopped at random (kills.sh, 100 cycles)
  histories  three brokers, Go and Java clients, kills, pauses and cut links; whether what the clients saw is the history of a log
             (histories.sh, 100 histories of 10,000 operations or what 90 minutes allow; histories.sh --short is three of them);
             power cuts of all three at once: 20 with pools that are forced, 10 on emulated DAX, 5 of stock Kafka
  year       ordinary work on a stock broker for two hours: a seeded random walk over every documented operation, in which every
             acknowledged record is counted (-Dstrata.it.year.seconds, -Dstrata.it.seed)
  powercuts  a virtual machine whose power is cut (powercut/run.sh --short)
  nfs        a virtual machine with the kernel's NFS server, two clients of it, and two brokers (powercut/run.sh --nfs)
  fuzz       each fuzz target for some seconds with Jazzer (fuzz.sh)
  release    what a release consists of, built twice from clean copies: byte for byte the same, checksums, signatures, SBOM,
             licences, chart and image; and whether a break of the plugin API is noticed
  containers clusters in containers, and examples/docker: takes an engine that runs, or starts one as root (docker.io and
             debootstrap by apt) and stops it again; builds the images
  docs       the site of the documentation, whose links and anchors must exist (docs/site/build.sh)
  strimzi    the Helm chart in examples/strimzi, rendered and read by Strimzi's own model, and in the code of its cluster
             operator where the sources can be had (strimzi/operator.sh); its nodes start in the part brokers
  clients    librdkafka, kafkajs, franz-go and kcat against the Java client; Kafka Streams, Kafka Connect, Kafka's tools for operators

--all runs each of them, and goes on to the next one after a failure; it takes hours. What several parts print is in
integration-tests/target/verify/PART.log; here each has a line with its time and its result, and so has a summary at the end.

Installs what is missing (libpmem and rsync for all; nbdkit, nbdfuse, fuse3 and libfaketime for brokers; prometheus for metrics; venv and
kcat for clients; skopeo for release; QEMU for powercuts and nfs) by apt or dnf where it is root or may use sudo without a password, helm and
kubeconform for strimzi and release by go install, and clients in other languages and the histories by pip, npm and go build; it says
what is skipped where it cannot. Other arguments go to Maven in the parts short, unit, faults, jdk25, lincheck, brokers, versions, kafka, metrics, year,
strimzi, clients and containers. A test that is named runs whether or not it is tagged "long":

  integration-tests/verify.sh -Dtest='Hot*' -Dsurefire.failIfNoSpecifiedTests=false
  integration-tests/verify.sh --part brokers -Dstrata.it.kill.cycles=500
  integration-tests/verify.sh --part brokers -Dstrata.it.kafka=4.1.2

Environment:
  STRATA_VERIFY_OFFLINE=1   neither install packages nor let Maven download
Exit code: 0 when every part that ran has passed or was skipped, 1 otherwise, 2 for arguments that are not understood.
EOT
}

parts=()
options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --all) parts=("${ALL_PARTS[@]}"); shift ;;
    --part)
      [[ " ${ALL_PARTS[*]} " == *" ${2:-} "* && -n ${2:-} ]] \
        || { echo "verify.sh: no part '${2:-}'; there are: ${ALL_PARTS[*]}" >&2; exit 2; }
      parts+=("$2"); shift 2 ;;
    --*) echo "verify.sh: '$1' is not understood; see --help" >&2; exit 2 ;;
    *) options+=("$1"); shift ;;
  esac
done
[[ ${#parts[@]} -gt 0 ]] || parts=(short)

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly LOGS=$PWD/integration-tests/target/verify
readonly SKIPPED=77

say() { printf '==> %s\n' "$*"; }

maven() {
  local command=(mvn -B -ntp -Dstyle.color=never)
  [[ -z ${STRATA_VERIFY_OFFLINE:-} ]] || command+=(-o)
  "${command[@]}" "$@"
}

# ---------------------------------------------------------------------------------------------------------------------
# What the tests need beside a JDK

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
has_rsync() { command -v rsync; } >/dev/null
has_slow_device() { command -v nbdkit && command -v nbdfuse && command -v fusermount3; } >/dev/null
has_prometheus() { command -v prometheus && command -v promtool; } >/dev/null
has_debootstrap() { command -v debootstrap; } >/dev/null
has_faketime() { compgen -G '/usr/lib*/*/faketime/libfaketime.so.1' || compgen -G '/usr/lib*/faketime/libfaketime.so.1'; } >/dev/null

apt_updated=
apt_install() {
  if [[ -z $apt_updated ]]; then
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=2 update || true
    apt_updated=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" || true
}

# provide TEST WHAT SKIPPED APT DNF: installs the packages unless the test says that they are there.
provide() {
  local test=$1 what=$2 skipped=$3 apt=$4 dnf=$5
  "$test" && return
  if [[ -z ${STRATA_VERIFY_OFFLINE:-} ]]; then
    say "installing $what"
    # Lists of packages.
    # shellcheck disable=SC2086
    if command -v apt-get >/dev/null; then
      apt_install $apt
    elif command -v dnf >/dev/null && [[ -n $dnf ]]; then
      as_root dnf -q -y install $dnf || true
    fi
  fi
  "$test" || say "SKIPPED: $skipped: $what could not be installed"
}

provide_native_packages() {
  provide has_native_packages "libpmem, libpmemobj and libpmempool" "tests of the pool type pmem" \
    "libpmem1 libpmemobj1 libpmempool1" "libpmem libpmemobj libpmempool"
  provide has_rsync rsync "tests of log directories that are copied by rsync" rsync rsync
}

provide_devices() {
  # nbdfuse is a package of its own in newer releases.
  provide has_slow_device "nbdkit, nbdfuse and fuse3" "tests of slow or failing log directories" "nbdkit fuse3 libnbd-bin" \
    "nbdkit nbdfuse fuse3"
  command -v nbdfuse >/dev/null || provide has_slow_device nbdfuse "tests of slow or failing log directories" nbdfuse ""
  provide has_faketime libfaketime "the test of a clock that jumps" libfaketime libfaketime
  [[ $EUID -eq 0 ]] && command -v mkfs.ext4 >/dev/null \
    || say "SKIPPED where a test mounts a file system of its own (full, read-only, no user attributes): it needs root and mkfs.ext4"
}

# tool NAME PACKAGE: the path of a program that is there, or that go install builds into target/tools; nothing where neither is.
tool() {
  local name=$1 package=$2 tools=$PWD/integration-tests/target/tools
  if [[ -z ${STRATA_VERIFY_OFFLINE:-} ]] && ! command -v "$name" >/dev/null && ! [[ -x $tools/$name ]] \
      && command -v go >/dev/null; then
    say "building $name" >&2
    GOBIN=$tools go install "$package" >&2 || true
  fi
  command -v "$name" || ! [[ -x $tools/$name ]] || echo "$tools/$name"
}

# The home of a JDK of the release 21 or newer, the newest one.
jdk21() {
  local home release best=0 found=
  for home in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
    [[ -x $home/bin/javac ]] || continue
    release=$("$home/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    if [[ ${release:-0} -ge 21 && $release -gt $best ]]; then
      best=$release
      found=$home
    fi
  done
  echo "$found"
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

# ---------------------------------------------------------------------------------------------------------------------
# The parts. Each runs in a shell of its own, ends at its first failure, and returns SKIPPED where it cannot run.

readonly UNIT=(-pl plugin-api,migration,pmem-tier,examples/custom-policy,integration-tests/bench,integration-tests/testcontainers)

part_short() {
  provide_native_packages
  maven verify "$@"
}

part_unit() {
  provide_native_packages
  maven test "${UNIT[@]}" -Dtest.excluded=none -Dstrata.crash.seeds=150 -Dstrata.segment.crash.seeds=4 -Dstrata.pool.crash.seeds=4 \
    -Dstrata.pool.damage.rounds=4000 -Dstrata.lincheck.factor=2 -Dstrata.store.seeds=20 -Dstrata.stress.seconds=30 \
    -Dstrata.fuzz.millis=5000 "$@"
}

part_faults() {
  maven test -pl pmem-tier -am -Dtest=FailingCallsTest,FailingFilesTest -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded=none \
    -Dstrata.failing.seeds=10 "$@"
}

part_jdk25() {
  local java
  java=$(jdk25)
  if [[ -z $java ]]; then
    say "SKIPPED: unit tests on JDK 25: none below /usr/lib/jvm"
    return $SKIPPED
  fi
  provide_native_packages
  maven test "${UNIT[@]}" -Dtest.jvm="$java" "$@"
}

part_lincheck() {
  maven test "${UNIT[@]}" -Dtest='*LinearizabilityTest' -Dsurefire.failIfNoSpecifiedTests=false -Dstrata.lincheck.factor=20 "$@"
}

part_brokers() {
  provide_native_packages
  provide_devices
  maven verify -Dtest='io/strata/kafka/it/**/*Test,!KafkaOwn*Test,!KillCampaignTest,!PrometheusTest,!Container*Test,!ClientsTest,!StreamsTest,!ConnectTest,!AdminToolsTest' \
    -Dsurefire.failIfNoSpecifiedTests=false \
    -Dtest.forks=1 -Dstrata.it.kill.cycles=8 "$@"
}

part_versions() {
  local version code=0 write="" reports=$PWD/integration-tests/target/versions ran=$PWD/integration-tests/target/surefire-reports
  [[ " $* " != *" -Dwrite=true "* ]] || write=--write
  provide_native_packages
  rm -rf "$reports"
  for version in 3.9.2 4.0.2 4.1.2 4.2.2 4.3.1 4.4.0; do
    say "Kafka $version"
    rm -rf "$ran"
    maven verify -Dtest=KafkaVersionsTest -Dsurefire.failIfNoSpecifiedTests=false -Dtest.forks=1 -Dstrata.it.kafka="$version" "$@" || code=1
    if [[ $version != 3.9.* && $version != 4.[01].* ]]; then
      maven verify -Dtest='io/strata/kafka/it/**/*Test,!KafkaOwn*Test' -Dtest.excluded=long -Dsurefire.failIfNoSpecifiedTests=false \
        -Dtest.forks=1 -Dstrata.it.kafka="$version" "$@" || code=1
    fi
    mkdir -p "$reports/$version"
    cp "$ran"/TEST-*.xml "$reports/$version/"
  done
  # The table has what failed, too.
  # shellcheck disable=SC2086
  java integration-tests/src/test/java/io/strata/kafka/it/versions/VersionTable.java "$reports" docs/install.md $write
  return $code
}

part_kafka() {
  local code=0
  maven verify -Dtest='KafkaOwn*Test' -Dsurefire.failIfNoSpecifiedTests=false -Dtest.forks=1 -Dstrata.it.kafka.own=all \
    -Dstrata.it.kafka.remote=all "$@" || code=1
  maven verify -Dtest=KafkaOwnRemoteTestsTest -Dsurefire.failIfNoSpecifiedTests=false -Dtest.forks=1 \
    -Dstrata.it.kafka.remote=transactions "$@" || code=1
  return $code
}

part_metrics() {
  provide has_prometheus "prometheus and promtool" "alerts and dashboard on a real Prometheus" prometheus ""
  if command -v npm >/dev/null && (cd integration-tests/dashboard && npm_install); then
    node integration-tests/dashboard/check.mjs
  else
    say "SKIPPED: the dashboard against Grafana's types: needs Node.js, npm and its registry"
  fi
  has_prometheus || return $SKIPPED
  maven verify -Dtest='PrometheusTest,MonitoringExamplesTest' -Dsurefire.failIfNoSpecifiedTests=false "$@"
}

npm_install() {
  [[ -d node_modules ]] || { [[ -z ${STRATA_VERIFY_OFFLINE:-} ]] && npm install --silent --no-package-lock --no-fund --no-audit; }
}

part_kills() { integration-tests/kills.sh --cycles 100; }

part_histories() {
  maven -q verify -DskipTests
  integration-tests/histories.sh --histories 100 --limit 90m
  if [[ $EUID -eq 0 ]]; then
    integration-tests/histories.sh --cuts 5 --stock
    integration-tests/histories.sh --cuts 20
    integration-tests/histories.sh --cuts 10 --dax
  else
    say "SKIPPED: power cuts of a whole cluster: mounting a file system needs root"
  fi
}

part_year() {
  maven verify -pl integration-tests -am -Dtest=OrdinaryYearTest -Dsurefire.failIfNoSpecifiedTests=false \
    -Dstrata.it.year.seconds=7200 "$@"
}

part_powercuts() { virtual_machine "power cuts" --short --seed 7; }

part_nfs() { virtual_machine NFS --nfs --seed 7; }

# virtual_machine WHAT ARGUMENT...: runs powercut/run.sh; too slow a machine is no failure.
virtual_machine() {
  local what=$1 said code=0
  shift
  maven -q verify -DskipTests
  said=$(mktemp)
  integration-tests/powercut/run.sh "$@" 2>&1 | tee "$said" || code=${PIPESTATUS[0]}
  if [[ $code -eq 124 ]] && ! grep -q '  FAILED$' "$said"; then
    say "SKIPPED: the rest of $what: this machine is too slow for it"
    code=$SKIPPED
  elif [[ $code -eq 3 ]]; then
    say "SKIPPED: $what: the guest could not be built"
    code=$SKIPPED
  elif grep -q '^==> SKIPPED: ' "$said"; then
    code=$SKIPPED
  fi
  rm -f "$said"
  return "$code"
}

part_fuzz() { STRATA_FUZZ_MERGE=0 integration-tests/fuzz.sh 10; }

# build_release COPY [Maven options]: builds a release in a clean copy of these sources, and no tests.
build_release() {
  local copy=$1
  shift
  rm -rf "$copy"
  mkdir -p "$copy"
  tar --exclude=./.git --exclude=target --exclude=node_modules --exclude=dependency-reduced-pom.xml -cf - . | tar -xf - -C "$copy"
  (cd "$copy" && maven -q -Prelease verify -DskipTests -pl integration-tests/testcontainers -am "$@")
}

# accepted_api COPY LINE: whether japicmp accepts the plugin API with a line more in an interface.
accepted_api() {
  local copy=$1 file=$1/plugin-api/src/main/java/io/strata/kafka/api/MigrationPolicy.java line=$2
  cp "$file" "$copy/before"
  sed -i "\$ s|}|$line }|" "$file"
  local code=0
  (cd "$copy" && maven -q verify -pl plugin-api -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcheckstyle.skip=true \
    -Djapicmp.skip=false -Dapi.baseline="$API_BASELINE") >"$copy/api.log" 2>&1 || code=$?
  cp "$copy/before" "$file"
  [[ $code -eq 0 ]] || grep -q 'japicmp.*There is at least one' "$copy/api.log" || { cat "$copy/api.log"; exit 1; }
  return $code
}

# The version under which part_release installs the present API, as if it had been released, and removes it again.
readonly API_BASELINE=0.0.0-verify

check_api() {
  local copy=$1 repository=$2 baseline
  baseline=$repository/io/strata/kafka/plugin-api/$API_BASELINE
  # Expanded now: the name is not known when the shell ends.
  # shellcheck disable=SC2064
  trap "rm -rf '$baseline'; rmdir --ignore-fail-on-non-empty '${baseline%/*}'" EXIT
  mkdir -p "$baseline"
  cp "$copy"/plugin-api/target/plugin-api-*[!sc].jar "$baseline/plugin-api-$API_BASELINE.jar"
  printf '<project><modelVersion>4.0.0</modelVersion><groupId>io.strata.kafka</groupId><artifactId>plugin-api</artifactId>' \
    >"$baseline/plugin-api-$API_BASELINE.pom"
  printf '<version>%s</version></project>\n' "$API_BASELINE" >>"$baseline/plugin-api-$API_BASELINE.pom"
  accepted_api "$copy" 'default void added() {}' || { cat "$copy/api.log"; say "FAILED: a default method is taken for a break"; return 1; }
  ! accepted_api "$copy" 'void added();' || { say "FAILED: an abstract method more in an interface is not noticed"; return 1; }
}

part_release() {
  local work=$PWD/integration-tests/target/release key=() repository helm file
  if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    say "SKIPPED: the release: checking it needs Python 3.9 or later"
    return $SKIPPED
  fi
  if [[ -n ${STRATA_VERIFY_OFFLINE:-} ]]; then
    say "SKIPPED: the release: the SBOM's plugin needs Maven to be online"
    return $SKIPPED
  fi
  has_skopeo() { command -v skopeo; } >/dev/null
  provide has_skopeo skopeo "a look at the image by another tool" skopeo skopeo
  helm=$(tool helm helm.sh/helm/v3/cmd/helm@v3.22.0)
  mkdir -p "$work"
  # To a file: what Maven prints may have colours in it.
  maven -q -N org.apache.maven.plugins:maven-help-plugin:3.5.1:evaluate -Dexpression=settings.localRepository \
    -Doutput="$work/repository"
  repository=$(<"$work/repository")
  build_release "$work/first"
  if command -v gpg >/dev/null; then
    # Short: an agent's socket is below it.
    GNUPGHOME=$(mktemp -d)
    export GNUPGHOME
    gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key verify@example.org default default never
    key=(-Dgpg.keyname=verify@example.org)
  else
    say "SKIPPED: signatures: no gpg"
  fi
  build_release "$work/second" ${key[@]+"${key[@]}"}
  diff -r --exclude='*.asc' "$work"/{first,second}/target/release \
    || { say "FAILED: two builds of the same sources differ"; return 1; }
  cd "$work/second/target/release"
  sha256sum --check --quiet SHA256SUMS
  sha512sum --check --quiet SHA512SUMS
  if [[ ${#key[@]} -gt 0 ]]; then
    for file in *[!c]; do
      gpg --batch --quiet --verify "$file.asc" "$file" 2>"$work/gpg.log" || { cat "$work/gpg.log"; return 1; }
    done
    gpgconf --kill all
    rm -rf "$GNUPGHOME"
  fi
  ! compgen -G "$work/first/target/release/*.asc" || { say "FAILED: signed without a key"; return 1; }
  python3 "$work/first/integration-tests/release/check.py" . "$repository"
  if [[ -n $helm ]]; then "$helm" lint --quiet strata-kafka-*.tgz; else say "SKIPPED: helm lint: no helm, and no go to build it"; fi
  ! has_skopeo || skopeo inspect "oci-archive:$(echo strata-jar-*-oci.tar)" >/dev/null
  check_api "$work/first" "$repository"
}

part_docs() {
  if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    say "SKIPPED: the site: it needs Python 3.11 or later"
    return $SKIPPED
  fi
  docs/site/build.sh
}

part_strimzi() {
  local jdk helm kubeconform
  jdk=$(jdk21)
  if [[ -z $jdk ]]; then
    say "SKIPPED: the chart for Strimzi: no JDK 21 or newer in JAVA_HOME or below /usr/lib/jvm"
    return $SKIPPED
  fi
  helm=$(tool helm helm.sh/helm/v3/cmd/helm@v3.22.0)
  if [[ -z $helm ]]; then
    say "SKIPPED: the chart for Strimzi: no helm, and no go to build it"
    return $SKIPPED
  fi
  kubeconform=$(tool kubeconform github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0)
  [[ -n $kubeconform ]] || say "SKIPPED: the check of the chart's resources against Strimzi's CRDs: no kubeconform, and no go to build it"
  JAVA_HOME=$jdk maven test -f integration-tests/strimzi/pom.xml -Dhelm="$helm" -Dkubeconform="${kubeconform:-none}" "$@"
  # Says what it lacks, and ends with 3 then.
  [[ -n ${STRATA_VERIFY_OFFLINE:-} ]] || JAVA_HOME=$jdk HELM=$helm integration-tests/strimzi/operator.sh || [[ $? -eq 3 ]]
}

part_clients() {
  local name
  has_venv() { python3 -c 'import ensurepip, venv'; } 2>/dev/null
  has_kcat() { command -v kcat; } >/dev/null
  provide has_venv "venv of Python 3" "the tests of librdkafka" python3-venv ""
  provide has_kcat kcat "the tests of kcat" kcat ""
  for name in confluent-kafka kafkajs franz-go; do
    integration-tests/clients/build.sh "$name" integration-tests/target/clients \
      || say "SKIPPED: the tests of $name: it could not be built here"
  done
  maven verify -Dtest='ClientsTest,StreamsTest,ConnectTest,AdminToolsTest' -Dsurefire.failIfNoSpecifiedTests=false -Dtest.forks=1 "$@"
}

# stop_engine PID: stops the engine that part_containers has started.
stop_engine() {
  kill "$1" 2>/dev/null || true
  while kill -0 "$1" 2>/dev/null; do sleep 0.5; done
}

part_containers() {
  local engine=""
  if ! docker version >/dev/null 2>&1; then
    if [[ $EUID -ne 0 ]]; then
      say "SKIPPED: tests in containers: no container engine answers, and starting one needs root"
      return $SKIPPED
    fi
    has_engine() { command -v dockerd && command -v docker && command -v debootstrap; } >/dev/null
    provide has_engine "docker.io and debootstrap" "tests in containers" "docker.io debootstrap iptables" ""
    has_engine || return $SKIPPED
  fi
  # The package may have started it as a service.
  if ! docker version >/dev/null 2>&1; then
    dockerd >"$LOGS/dockerd.log" 2>&1 &
    engine=$!
    # The part is a shell of its own.
    # shellcheck disable=SC2064
    trap "stop_engine $engine" EXIT
    until docker version >/dev/null 2>&1; do
      if ! kill -0 "$engine" 2>/dev/null; then
        say "SKIPPED: tests in containers: dockerd has ended: $(tail -n 1 "$LOGS/dockerd.log")"
        return $SKIPPED
      fi
      sleep 1
    done
  fi
  if ! docker image inspect strata-it/jre:21 >/dev/null 2>&1; then
    [[ $EUID -eq 0 ]] && provide has_debootstrap debootstrap "tests in containers" debootstrap ""
    if [[ $EUID -ne 0 ]] || ! has_debootstrap; then
      say "SKIPPED: tests in containers: the base image needs root and debootstrap"
      return $SKIPPED
    fi
  fi
  maven -q verify -DskipTests
  integration-tests/containers/build-base-image.sh
  maven verify -Dtest='Container*Test' -Dsurefire.failIfNoSpecifiedTests=false -Dtest.forks=1 "$@"
}

# ---------------------------------------------------------------------------------------------------------------------

summary=()
status=0
mkdir -p "$LOGS"
# Maven compiles what is new, and leaves classes whose sources are gone: as tests they would still run.
for module in plugin-api migration pmem-tier integration-tests integration-tests/bench examples/custom-policy; do
  rm -rf "$module"/target/{classes,test-classes,maven-status}
done

# run PART: runs it, and adds a line to the summary.
run() {
  local part=$1 code begin=$SECONDS result line log=$LOGS/$1.log
  say "$part"
  # Not in a condition, where a shell does not end at a failure.
  set +e
  if [[ ${#parts[@]} -eq 1 ]]; then
    (set -e; "part_$part" ${options[@]+"${options[@]}"})
    code=$?
  else
    (set -e; "part_$part" ${options[@]+"${options[@]}"}) >"$log" 2>&1
    code=$?
    grep -E 'Tests run:.*Skipped: [0-9]+$|^==> SKIPPED' "$log"
    if [[ $code -ne 0 && $code -ne $SKIPPED ]]; then
      grep -E '^\[ERROR\]|FAILED' "$log" | head -n 40
      say "all of it: $log"
    fi
  fi
  set -e
  case $code in
    0) result=passed ;;
    "$SKIPPED") result=SKIPPED ;;
    *) result=FAILED; status=1 ;;
  esac
  line=$(printf '%-10s %-8s %5d s' "$part" "$result" $((SECONDS - begin)))
  summary+=("$line")
  say "$line"
}

for part in "${parts[@]}"; do
  run "$part"
done
if [[ ${#parts[@]} -gt 1 ]]; then
  say "summary"
  printf '    %s\n' "${summary[@]}"
fi
exit $status
