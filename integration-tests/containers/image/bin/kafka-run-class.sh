#!/usr/bin/env bash
# Runs a class of Kafka's with the environment that the distribution's script of this name has: CLASSPATH, JAVA_HOME,
# KAFKA_HEAP_OPTS, KAFKA_JVM_PERFORMANCE_OPTS, KAFKA_JMX_OPTS, JMX_PORT, KAFKA_LOG4J_OPTS, KAFKA_OPTS.
set -eu

kafka=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# What CLASSPATH names comes first; then the folder's files in the order of their names.
class_path=${CLASSPATH:-}
for jar in "$kafka"/libs/*; do
  class_path=${class_path:+$class_path:}$jar
done

jmx=${KAFKA_JMX_OPTS:--Dcom.sun.management.jmxremote -Dcom.sun.management.jmxremote.authenticate=false -Dcom.sun.management.jmxremote.ssl=false}
if [[ -n ${JMX_PORT:-} && $jmx != *jmxremote.rmi.port=* ]]; then
  jmx+=" -Dcom.sun.management.jmxremote.port=$JMX_PORT -Dcom.sun.management.jmxremote.rmi.port=$JMX_PORT"
fi
performance=${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 -XX:+ExplicitGCInvokesConcurrent -Djava.awt.headless=true}
logging=${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=$kafka/config/tools-log4j2.yaml}

# Lists of options: each is split at its spaces.
# shellcheck disable=SC2086
exec "${JAVA_HOME:-/usr}/bin/java" ${KAFKA_HEAP_OPTS:--Xmx256M} $performance $jmx -Dkafka.logs.dir="${LOG_DIR:-$kafka/logs}" \
  $logging -cp "$class_path" ${KAFKA_OPTS:-} "$@"
