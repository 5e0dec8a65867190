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
    if (!broker.hasKafkasRemoteMetadata()) {
      return found;
    }
    int brokers = broker.combinedVoters();
    if (StoredConfiguration.isIn(broker.metadataLogDir())) {
      try {
        StoredConfiguration stored = StoredConfiguration.read(broker.metadataLogDir());
        if (stored.hasTopic(TOPIC)) {
          return found; // The key is for its creation alone.
        }
        brokers = stored.brokers().isEmpty() ? brokers : stored.brokers().size();
      } catch (IOException e) {
        return found; // The check of the stored configuration says so.
      }
    }
    compare(brokers, broker.remoteMetadataReplicas());
    return found;
  }

  /** Compares with the brokers that are known; 0 if none are. */
  private void compare(int brokers, int replicas) {
    String known = "%d, and %d %s known";
    warnUnless(
        brokers == 0 || brokers >= replicas,
        broker.remoteMetadataReplicasKey(),
        brokers == 0
            ? "%d, which needs as many brokers".formatted(replicas)
            : known.formatted(replicas, brokers, brokers == 1 ? "broker is" : "brokers are"),
        """
        set it to the number of brokers, or start as many: until Kafka can create %s, it copies \
        nothing, and stops each broker after two minutes\
        """
            .formatted(TOPIC));
  }
}
