package io.strata.kafka.broker;

import io.strata.kafka.metrics.RemoteLog;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** All that a reporter calls throws. */
public final class FailingConfiguration extends LiveConfiguration {

  private final Throwable failure;

  /** With this failure of any kind. */
  public FailingConfiguration(Throwable failure) {
    super(new StoredValues(text -> {}), new RemoteChanges(new RemoteLog(), wrong -> {}));
    this.failure = failure;
  }

  @Override
  public Set<String> names(Optional<BrokerMigration> migration) {
    throw FailingConfiguration.<RuntimeException>unchecked(failure);
  }

  @Override
  public void validate(Optional<BrokerMigration> migration, Map<String, ?> configs) {
    throw FailingConfiguration.<RuntimeException>unchecked(failure);
  }

  @Override
  public void apply(Optional<BrokerMigration> migration, Map<String, ?> configs) {
    throw FailingConfiguration.<RuntimeException>unchecked(failure);
  }

  @Override
  public void closed(Optional<BrokerTier> broker) {
    throw FailingConfiguration.<RuntimeException>unchecked(failure);
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> T unchecked(Throwable any) throws T {
    throw (T) any;
  }
}
