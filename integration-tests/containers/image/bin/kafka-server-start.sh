#!/usr/bin/env bash
# Starts a broker or a controller: kafka-server-start.sh server.properties [--override key=value]...
set -eu
bin=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export KAFKA_LOG4J_OPTS=${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=$bin/../config/log4j2.yaml}
export KAFKA_HEAP_OPTS=${KAFKA_HEAP_OPTS:--Xmx1G -Xms1G}
exec "$bin/kafka-run-class.sh" kafka.Kafka "$@"
