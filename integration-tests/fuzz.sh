#!/usr/bin/env bash
# Looks for inputs that do harm with a coverage-guided fuzzer (Jazzer), and adds what reaches new code to the saved corpus.
set -euo pipefail

usage() {
  cat <<'EOF'
Usage: integration-tests/fuzz.sh [SECONDS] [TARGET...]

Fuzzes each target, or those whose class is named, for SECONDS (60 by default). A finding ends the run of its target: its input
is left in target/fuzz/<target>/findings. New inputs that reach new code go, minimised, to src/test/resources/fuzz/<target>,
where every later test run replays them; look at them with git status.

  integration-tests/fuzz.sh 600
  integration-tests/fuzz.sh 60 io.strata.kafka.pool.PoolImageTarget

Environment:
  STRATA_VERIFY_OFFLINE=1   do not let Maven download
  STRATA_FUZZ_MERGE=0       leave the saved corpus as it is
EOF
}

[[ ${1:-} == --help || ${1:-} == -h ]] && { usage; exit 0; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD
seconds=${1:-60}
shift || true

maven=(mvn -B -ntp -q)
[[ -z ${STRATA_VERIFY_OFFLINE:-} ]] || maven+=(-o)
work=$top/pmem-tier/target/fuzz
if [[ -z ${STRATA_FUZZ_CLASSPATH:-} ]]; then
  "${maven[@]}" -Pfuzz test-compile -pl pmem-tier -am
  mkdir -p "$work"
  "${maven[@]}" -Pfuzz -pl pmem-tier -am test-compile dependency:build-classpath -Dmdep.outputFile="$work/classpath" \
    -Dmdep.includeScope=test
  STRATA_FUZZ_CLASSPATH=pmem-tier/target/test-classes:pmem-tier/target/classes:migration/target/test-classes
  STRATA_FUZZ_CLASSPATH+=:migration/target/classes:plugin-api/target/classes:$(cat "$work/classpath")
fi

# The sources know the targets: module, class.
targets() {
  grep -l 'implements FuzzTarget' -r migration/src/test/java pmem-tier/src/test/java | sort | while read -r file; do
    class=${file#*/src/test/java/}
    class=${class%.java}
    echo "${file%%/*} ${class//\//.}"
  done
}

status=0
while read -r module class; do
  if [[ $# -gt 0 && " $* " != *" $class "* ]]; then
    continue
  fi
  name=$(sed -n 's/^    return "\(.*\)";$/\1/p' "$module/src/test/java/${class//.//}.java" | head -n 1)
  saved=$module/src/test/resources/fuzz/$name
  here=$work/$name
  mkdir -p "$here/found" "$here/seeds" "$here/findings" "$here/merged"
  echo "==> $name ($class), $seconds s"
  run=(java -Xmx1g "-Dstrata.fuzz.target=$class" -cp "$STRATA_FUZZ_CLASSPATH")
  "${run[@]}" io.strata.kafka.fuzz.FuzzMain "$here/seeds"
  jazzer=("${run[@]}" com.code_intelligence.jazzer.Jazzer --target_class=io.strata.kafka.fuzz.FuzzMain
    --instrumentation_includes='io.strata.kafka.**' --custom_hook_excludes='**'
    # A regular expression in the configuration is the operator's own.
    --disabled_hooks=com.code_intelligence.jazzer.sanitizers.RegexInjection)
  known=("$here/seeds")
  [[ ! -d $saved ]] || known+=("$saved")
  dictionary=()
  [[ ! -s $here/words ]] || dictionary=("-dict=$here/words")
  "${jazzer[@]}" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -artifact_prefix="$here/findings/" \
    --reproducer_path="$here/findings" "${dictionary[@]}" "$here/found" "${known[@]}" >"$here/log" 2>&1 \
    || { echo "FAILED: see $here/log"; status=1; }
  grep -E 'DONE|^== Java Exception|FINAL' "$here/log" | tail -n 3 || true
  if [[ ${STRATA_FUZZ_MERGE:-1} != 0 ]]; then
    rm -rf "$here/merged" && mkdir -p "$here/merged"
    "${jazzer[@]}" -merge=1 -max_len=2000 "$here/merged" "${known[@]:1}" "$here/found" >"$here/merge-log" 2>&1 || true
    if [[ -n $(ls "$here/merged") ]]; then
      mkdir -p "$saved"
      cp "$here/merged"/* "$saved/"
    fi
    echo "    saved: $(find "$saved" -type f 2>/dev/null | wc -l) inputs"
  fi
done < <(targets)
exit $status
