#!/usr/bin/env bash
# PMDK's "pmempool rm --only-pools" removes a writable text file, and leaves one that begins as a pool set does.
# Versions: PMDK 1.12.1 (Debian 12: pmdk-tools)
# Guess: The option, in --help "Remove only pool files", and also the default, leaves what is no pool, with an error.
# Seen: A file with the line "notes" is gone, status 0, with the option and without. A file whose first line is
#   PMEMPOOLSET stays with both; its parts are gone. The manual page says "removes each specified file".
# Matters: "pmempool rm /mnt/pmem0/*", to free space for a new pool, also takes the pools of other programs (of Strata, say)
#   and whatever else lies there: the tool does not look whether a file is a pool.
set -euo pipefail
for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/packages" "$tmp/work"
(
  cd "$tmp/packages"
  apt-get download -qq {pmdk-tools,libpmempool1,libpmemblk1,libpmemlog1,libpmemobj1,libpmem1}=1.12.1-2 libndctl6 libdaxctl1 libkmod2
  for package in *.deb; do dpkg-deb -x "$package" .; done
) >/dev/null 2>&1 || { echo "cannot run: PMDK 1.12.1 is not to be had (Debian 12's pmdk-tools, by apt-get download)"; exit 3; }
export PATH=$tmp/packages/usr/bin:$PATH
LD_LIBRARY_PATH=$(find "$tmp/packages" -name 'lib*.so.*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
cd "$tmp/work"
seen=
for option in "" --only-pools; do
  echo notes >text
  printf 'PMEMPOOLSET\n8M %s\n' "$PWD/part" >set
  pmempool create --layout=notes obj set
  status=0
  # Not quoted: without the option there is to be no argument.
  # shellcheck disable=SC2086
  pmempool rm $option text set || status=$?
  left=$(echo *)
  echo "pmempool rm ${option:-without an option}: status $status, left: $left"
  seen+="$status $left;"
done
if [ "$seen" = "0 set;0 set;" ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
