package io.strata.kafka.cli.doctor;

import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.unpublished.StoredConfiguration;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;

/**
 * Looks at whether there are as many brokers as Kafka's topic of remote metadata has replicas:
 * otherwise Kafka cannot create it, and a broker with tiered storage stops itself after two
 * minutes.
 */
final class MetadataTopicCheck extends DoctorCheck {

  private static final String TOPIC = "__remote_log_metadata";

  MetadataTopicCheck(Surroundings surroundings, BrokerProperties broker, OptionalLong process) {
    super(surroundings, broker, process);
  }

  @Override
  List<Diagnosis> run() {
    if (broker.hasKafkasRemoteMetadata()) {
      int replicas = broker.remoteMetadataReplicas();
      long brokers = broker.combinedVoters();
      try {
        if (StoredConfiguration.isIn(broker.metadataLogDir())) {
          StoredConfiguration stored = StoredConfiguration.read(broker.metadataLogDir());
          brokers = stored.brokers().isEmpty() ? brokers : stored.brokers().size();
          brokers = stored.hasTopic(TOPIC) ? 0 : brokers;
        }
      } catch (IOException e) {
        return found; // The check of the stored configuration says so.
      }
      warnUnless(
          brokers == 0 || brokers >= replicas,
          broker.remoteMetadataReplicasKey(),
          brokers == 0
              ? "%d, and %s is created with as many brokers".formatted(replicas, TOPIC)
              : "%d, and %d %s known"
                  .formatted(replicas, brokers, brokers == 1 ? "broker is" : "brokers are"),
          """
          set it to the number of brokers, or start as many: until Kafka can create %s, it copies \
          nothing, and stops each broker after two minutes\
          """
              .formatted(TOPIC));
    }
    return found;
  }
}
