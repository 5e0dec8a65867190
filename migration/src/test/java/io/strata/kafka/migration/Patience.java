package io.strata.kafka.migration;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What a test waits for comes in its own time: a limit only ends what would wait for ever. JUnit
 * finds this extension without being told, in the modules that have these test classes.
 */
public final class Patience implements BeforeAllCallback {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultTimeout(LIMIT);
  }
}
