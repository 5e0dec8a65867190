package io.strata.kafka.broker;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** All that a reporter calls throws. */
public final class FailingConfiguration extends LiveConfiguration {

  private final Throwable failure;

  /** With this failure of any kind. */
  public FailingConfiguration(Throwable failure) {
    super(new StoredValues(text -> {}), new RemoteChanges(wrong -> {}));
    this.failure = failure;
  }

  @Override
  public Set<String> names(Optional<BrokerMigration> migration) {
    FailingConfiguration.<RuntimeException>rethrow(failure);
    return Set.of();
  }

  @Override
  public void validate(Optional<BrokerMigration> migration, Map<String, ?> configs) {
    FailingConfiguration.<RuntimeException>rethrow(failure);
  }

  @Override
  public void apply(Optional<BrokerMigration> migration, Map<String, ?> configs) {
    FailingConfiguration.<RuntimeException>rethrow(failure);
  }

  @Override
  public void closed(Optional<BrokerTier> broker, boolean removed) {
    FailingConfiguration.<RuntimeException>rethrow(failure);
  }

  /** Throws anything where the compiler expects an exception that is not checked. */
  @SuppressWarnings("unchecked")
  public static <T extends Throwable> void rethrow(Throwable any) throws T {
    throw (T) any;
  }
}
