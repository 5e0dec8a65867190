#!/usr/bin/env bash
# build.sh NAME FOLDER: installs or builds the client NAME below FOLDER/NAME, unless that has been done, and puts a command there:
# FOLDER/NAME/client. Exit code 1, with the reason, where that cannot be done.
set -euo pipefail

readonly NAME=$1
mkdir -p "$2/$1"
target=$(cd "$2/$1" && pwd)
readonly target
cd "$(dirname "${BASH_SOURCE[0]}")/$NAME"
here=$PWD
readonly here

needs() {
  command -v "$1" >/dev/null || { echo "$NAME needs $1, which is not here"; exit 1; }
}

# downloads FILE: whether what the file lists has still to be downloaded; ends where it would have to be, and may not.
downloads() {
  cmp -s "$1" "$target/built-from" && return 1
  [[ -z ${STRATA_VERIFY_OFFLINE:-} ]] || { echo "$NAME has not been built, and STRATA_VERIFY_OFFLINE is set"; exit 1; }
}

# command LINE: what runs the client.
command_is() {
  printf '#!/bin/sh\n%s "$@"\n' "$1" >"$target/client"
  chmod +x "$target/client"
}

case $NAME in
  confluent-kafka)
    needs python3
    if downloads requirements.txt; then
      python3 -m venv "$target/venv"
      "$target/venv/bin/pip" install -q --disable-pip-version-check -r requirements.txt
      cp requirements.txt "$target/built-from"
    fi
    command_is "exec '$target/venv/bin/python' '$here/client.py'"
    ;;
  kafkajs)
    needs node
    needs npm
    if downloads package.json; then
      cp package.json "$target/"
      (cd "$target" && npm install --silent --no-package-lock --no-fund --no-audit)
      cp package.json "$target/built-from"
    fi
    command_is "NODE_PATH='$target/node_modules' KAFKAJS_NO_PARTITIONER_WARNING=1 exec node '$here/client.js'"
    ;;
  franz-go)
    needs go
    if downloads go.mod || [[ main.go -nt $target/client ]]; then
      go build -o "$target/client" .
      cp go.mod "$target/built-from"
    fi
    ;;
  *)
    echo "there is no client $NAME"
    exit 2
    ;;
esac
"$target/client" version
