#!/usr/bin/env bash
# Builds the documentation as a site: docs/site/build.sh [FOLDER], docs/target/site by default. Needs Python 3.11 and pip.
# Fails on a link or an anchor that does not exist, and on a page that the navigation does not have.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
site=${1:-$root/docs/target/site}
tools=$root/docs/target/tools

if ! "$tools/bin/sphinx-build" --version >/dev/null 2>&1; then
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
fi
"$tools/bin/sphinx-build" --builder html --fail-on-warning --keep-going --fresh-env --quiet \
  --conf-dir "$here" --doctree-dir "$root/docs/target/doctrees" "$root" "$site"
echo "site: $site/index.html"
