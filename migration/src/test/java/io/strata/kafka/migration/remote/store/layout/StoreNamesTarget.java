package io.strata.kafka.migration.remote.store.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.fuzz.FuzzTarget;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Names of directories of a store, read back as the segment they are of; four, between slashes. */
public final class StoreNamesTarget implements FuzzTarget {

  private static final String SEED =
      "orders/topictopictopictopicAA/3/00000000000000004711-segmentsegmentsegmentA";

  @Override
  public String name() {
    return "store-names";
  }

  @Override
  public void run(byte[] input) {
    String[] names = FuzzTarget.text(input).split("/", 4);
    if (names.length < 4) {
      return;
    }
    Optional<SegmentKey> read = StoreNames.parse(names[0], names[1], names[2], names[3]);
    if (read.isPresent()) {
      Path directory = Path.of("/store");
      assertThat(StoreNames.segment(directory, read.get()))
          .isEqualTo(Path.of("/store/topics/" + String.join("/", names)));
    }
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        FuzzTarget.text(SEED),
        FuzzTarget.text("../" + SEED),
        FuzzTarget.text(SEED.replace("/3/", "/03/")),
        FuzzTarget.text(SEED.replace("orders", "..")));
  }

  @Override
  public List<String> words() {
    return List.of("..", "/", "-", "+1", "00", "\u0000", "2147483648", "\u0663");
  }
}
