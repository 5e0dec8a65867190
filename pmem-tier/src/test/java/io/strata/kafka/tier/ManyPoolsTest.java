package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** More pools than ext4 has room for in a log directory's attributes: one block. */
final class ManyPoolsTest {

  private static final long SIZE = 4 << 20;
  private static final int POOLS = 16;
  private static final byte[] BATCHES = Batches.of(10_000, 1);
  private static final Pattern FIT = Pattern.compile("found 16 pools, and room for .* of (\\d+) ");

  @TempDir private Path directory;
  private TierFixture fixture;
  private final List<String> skipped = new ArrayList<>();

  @BeforeEach
  void manyPools() throws IOException {
    assumeThat(Files.getFileStore(directory).type()).isEqualTo("ext4");
    fixture = new TierFixture(directory);
    fixture.events =
        new TierEvents() {
          @Override
          public void logDirectorySkipped(Path path, String reason) {
            skipped.add(path + ": " + reason);
          }
        };
    for (int i = 0; i < POOLS; i++) {
      fixture.pool("p".repeat(200) + i, SIZE);
    }
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private int refused() {
    FileSystemException refusal = catchThrowableOfType(FileSystemException.class, fixture::open);
    assertThat(skipped).isEmpty();
    assertThat(refusal)
        .hasMessageContaining(fixture.logs().toString())
        .hasMessageContaining("fewer pools");
    Matcher fit = FIT.matcher(refusal.getMessage());
    assertThat(fit.find()).as(refusal.getMessage()).isTrue();
    return Integer.parseInt(fit.group(1));
  }

  private void keep(int count) {
    fixture.pools.subList(count, fixture.pools.size()).clear();
  }

  /** All log directories were left out, with a warning: no record went into a pool. */
  @Test
  void areRefusedWithTheNumberThatFits() throws IOException {
    int fit = refused();
    assertThat(HotTier.refusal(fixture.spec(), missing -> {}))
        .get()
        .asString()
        .contains("pools, and room for the names and moments of");

    keep(fit);
    for (int start = 0; start < 2; start++) {
      fixture.open();
      assertThat(skipped).isEmpty();
      assertThat(TierFixture.attributes(fixture.logs()))
          .containsOnlyKeys("strata.directory", "strata.moments", "strata.pools");
      fixture.close();
    }
  }

  /** Its segments could not be opened then. */
  @Test
  void beyondThoseThatALogDirectoryUsesChangeNothing() throws IOException {
    List<Path> all = List.copyOf(fixture.pools);
    keep(3);
    fixture.open();
    Path segment = fixture.segment("orders-0", 0);
    fixture.append(segment, BATCHES);
    fixture.close();
    Map<String, String> before = TierFixture.attributes(fixture.logs());

    fixture.pools.addAll(all.subList(3, all.size()));
    assertThat(refused()).isGreaterThan(3);
    assertThat(TierFixture.attributes(fixture.logs())).isEqualTo(before);

    keep(3);
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
  }
}
