#!/usr/bin/env bash
# Shows that a test fails without the fix that it came with. See --help.
set -euo pipefail

usage() {
  cat <<'EOT'
Usage: integration-tests/before-fix.sh COMMIT CLASS#METHOD [Maven options]

Checks COMMIT out beside this tree, takes back what it changes in src/main, and runs one of its tests. The table in
docs/design/findings.md has commits and tests.

Exit code: 0 when the test fails, as it must; 1 when it passes; 2 for arguments that are not understood; 3 when the test cannot run
EOT
}

[[ ${1:-} != --help && ${1:-} != -h ]] || { usage; exit 0; }
[[ $# -ge 2 && $2 == *'#'* ]] || { usage >&2; exit 2; }
commit=$1 test=$2
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/.."
commit=$(git rev-parse --verify "$commit^{commit}")
tree=$(mktemp -d)
trap 'git worktree remove --force "$tree"' EXIT
git worktree add --quiet --detach "$tree" "$commit"
cd "$tree"
git diff --name-only --diff-filter=A "$commit^" "$commit" -- '*/src/main/*' | xargs -r git rm -q --
git diff --name-only --diff-filter=MD "$commit^" "$commit" -- '*/src/main/*' | xargs -r git checkout -q "$commit^" --
file=$(git ls-files "*/${test%%#*}.java" | head -1)
[[ -n $file ]] || { echo "before-fix.sh: found no ${test%%#*}.java in $commit" >&2; exit 3; }
module=${file%%/*}
mvn -B -ntp -q test -pl "$module" -am -Dtest="$test" -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded=none "$@" || true
reports=$(find "$module/target/surefire-reports" -name '*.xml' 2> /dev/null || true)
if [[ -z $reports ]]; then
  echo "before-fix.sh: $test did not run on what was there before $commit" >&2
  exit 3
fi
if grep -qE '<(failure|error)' $reports; then
  echo "$test fails before $commit"
  exit 0
fi
echo "$test passes before $commit"
exit 1
