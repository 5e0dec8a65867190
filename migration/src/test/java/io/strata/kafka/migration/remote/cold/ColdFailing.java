package io.strata.kafka.migration.remote.cold;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

/** What becomes of a cold manager's failures: for {@code ErrorPaths}. */
public final class ColdFailing {
  private ColdFailing() {}

  /** How each arrives. */
  public static Map<String, Throwable> translations() {
    Map<String, Throwable> causes = new LinkedHashMap<>();
    causes.put("cold: missing", new RemoteResourceNotFoundException("missing"));
    causes.put("cold: failed", new RemoteStorageException("failed"));
    causes.put("cold: io", new IOException("io"));
    causes.put("cold: retriable error of Kafka", new TimeoutException("late"));
    causes.put("cold: fault", new IllegalStateException("fault"));
    causes.put("cold: error", new NoClassDefFoundError("some/Type"));
    Map<String, Throwable> answers = new LinkedHashMap<>();
    causes.forEach((name, cause) -> answers.put(name, ColdFailures.translate("cold", cause)));
    return answers;
  }
}
