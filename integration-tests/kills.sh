#!/usr/bin/env bash
# Kills and stops brokers at random under every kind of load, and looks for every record. See --help.
set -euo pipefail

usage() {
  cat <<'EOF'
Usage: integration-tests/kills.sh [--cycles N] [--nodes 1|3|both] [--seed S] [--round N] [--stock]

  --cycles N   how often a broker is killed or stopped (1000)
  --nodes      one node, three, or both in turn (both)
  --seed S     repeats a run, as far as timing allows; a failure names the one of its round
  --round N    cycles until there are new brokers with other settings (25)
  --stock      stock Kafka without Strata: what fails there, too, is no fault of Strata's

A cycle takes 5 to 15 seconds. One line for each is in integration-tests/target/it/KillCampaignTest/cycles.log; the brokers' logs,
and after a failure their data and pools, are beside it. STRATA_VERIFY_OFFLINE=1 does not let Maven download.
EOF
}

cycles=1000
options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --cycles) cycles=$2; shift 2 ;;
    --nodes) options+=("-Dstrata.it.campaign.nodes=$2"); shift 2 ;;
    --seed) options+=("-Dstrata.it.seed=$2"); shift 2 ;;
    --round) options+=("-Dstrata.it.campaign.round=$2"); shift 2 ;;
    --stock) options+=("-Dstrata.it.campaign.stock=true"); shift ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
maven=(mvn -B -ntp -q)
[[ -z ${STRATA_VERIFY_OFFLINE:-} ]] || maven+=(-o)
exec "${maven[@]}" verify -Dtest=KillCampaignTest -Dsurefire.failIfNoSpecifiedTests=false \
  -Dstrata.it.campaign.cycles="$cycles" ${options[@]+"${options[@]}"}
