#!/usr/bin/env bash
# A tool of Kafka's under the name that the distribution gives it: the link's name says which class to run.
set -eu
bin=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
case $(basename "$0") in
  kafka-configs.sh) class=org.apache.kafka.tools.ConfigCommand ;;
  kafka-console-consumer.sh) class=org.apache.kafka.tools.consumer.ConsoleConsumer ;;
  kafka-console-producer.sh) class=org.apache.kafka.tools.ConsoleProducer ;;
  kafka-consumer-groups.sh) class=org.apache.kafka.tools.consumer.group.ConsumerGroupCommand ;;
  kafka-consumer-perf-test.sh) class=org.apache.kafka.tools.ConsumerPerformance ;;
  kafka-dump-log.sh) class=org.apache.kafka.tools.DumpLogSegments ;;
  kafka-leader-election.sh) class=org.apache.kafka.tools.LeaderElectionCommand ;;
  kafka-log-dirs.sh) class=org.apache.kafka.tools.LogDirsCommand ;;
  kafka-metadata-quorum.sh) class=org.apache.kafka.tools.MetadataQuorumCommand ;;
  kafka-producer-perf-test.sh) class=org.apache.kafka.tools.ProducerPerformance ;;
  kafka-reassign-partitions.sh) class=org.apache.kafka.tools.reassign.ReassignPartitionsCommand ;;
  kafka-storage.sh) class=kafka.tools.StorageTool ;;
  kafka-topics.sh) class=org.apache.kafka.tools.TopicCommand ;;
  *) echo "$0: no tool of this name here" >&2; exit 2 ;;
esac
# Before Kafka 4.4.
if [[ $class == *.ConfigCommand ]] && compgen -G "$bin/../libs/kafka_2.13-[34].[0-39]*.jar" >/dev/null; then
  class=kafka.admin.ConfigCommand
fi
exec "$bin/kafka-run-class.sh" "$class" "$@"
