package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What goes on in the background goes on, whatever happens to it. */
class BackgroundWorkTest {

  @TempDir private Path root;

  @Test
  void workThatFailsOnceIsDoneAgain() throws IOException {
    try (TierFixture fixture = new TierFixture(root).pool("a.pool", 4 << 20)) {
      AtomicInteger failed = new AtomicInteger();
      fixture.events =
          new TierEvents() {
            @Override
            public void backgroundFailure(String what, Exception cause) {
              failed.incrementAndGet();
            }
          };
      fixture.open();
      AtomicInteger calls = new AtomicInteger();
      fixture
          .tier()
          .backgroundWork()
          .every(
              1,
              "fail in a test",
              () -> {
                switch (calls.incrementAndGet()) {
                  case 1 -> throw new IllegalStateException("slot has been freed");
                  case 2 -> throw new OutOfMemoryError("a test's");
                  default -> {}
                }
              });
      await().atMost(Duration.ofSeconds(30)).until(() -> calls.get() > 5);
      assertThat(failed).hasValue(2);
    }
  }
}
