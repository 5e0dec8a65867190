package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.MoveControl;
import io.strata.kafka.migration.TieredSegments;
import io.strata.kafka.migration.remote.LocalSegments.Sharing;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever happens to segments, what the store has been given stays what it was. */
class HomeSharingRandomTest {

  private static final int STEPS = 400;
  private static final int PARTITIONS = 4;
  private static final long MIB = 1 << 20;

  @TempDir private Path temp;

  /** A sealed segment as it must be. */
  private static final class Sealed {
    private Path file;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final List<Integer> ends = new ArrayList<>(List.of(0));
    private Optional<FileChannel> channel = Optional.empty();

    Sealed(Path file) {
      this.file = file;
    }

    void truncate(int length) {
      byte[] all = bytes.toByteArray();
      bytes.reset();
      bytes.write(all, 0, length);
      ends.removeIf(end -> end > length);
    }
  }

  private final List<Sealed> segments = new ArrayList<>();
  private final Map<Path, byte[]> objects = new HashMap<>();
  private int links;
  private int objectNumber;
  private final Set<Path> broken = new HashSet<>();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void objectsStayWhatTheyWere(long seed) throws Exception {
    Random random = new Random(seed);
    try (TierFixture fixture = TierFixture.twoTiers(temp, 8 * MIB)) {
      fixture.open();
      Path store = Files.createDirectories(fixture.root.resolve("store"));
      for (int i = 0; i < PARTITIONS; i++) {
        Sealed sealed = new Sealed(fixture.segment("topic-" + i, 0));
        append(fixture, sealed, random);
        segments.add(sealed);
        fixture.append(fixture.segment("topic-" + i, 1_000_000), Batches.of(100, 1));
      }
      for (int step = 0; step < STEPS; step++) {
        String what = "";
        try {
          what = step(fixture, store, random);
          check(fixture);
        } catch (Exception | AssertionError e) {
          throw new AssertionError("seed " + seed + ", step " + step + " " + what, e);
        }
      }
      assertThat(links).as("links made with seed " + seed).isGreaterThan(5);
      assertThat(broken).as("links broken with seed " + seed).isNotEmpty();
      closeAll();
    }
  }

  private String step(TierFixture fixture, Path store, Random random) throws Exception {
    Sealed segment = segments.get(random.nextInt(segments.size()));
    switch (random.nextInt(14)) {
      case 0 -> {
        append(fixture, segment, random);
        return "append " + segment.file;
      }
      case 1 -> {
        int end = segment.ends.get(random.nextInt(segment.ends.size()));
        try (FileChannel channel =
            fixture.tier().open(segment.file, TierFixture.KAFKA).orElseThrow()) {
          channel.truncate(end);
        }
        segment.truncate(end);
        return "truncate " + segment.file + " to " + end;
      }
      case 2 -> {
        closeAll();
        fixture.reopen();
        return "reopen";
      }
      case 3, 4, 5 -> {
        move(
            fixture,
            segment,
            (tier, view) -> tier.destage(view.id(), 1 + random.nextInt(2), MoveControl.UNLIMITED));
        return "destage " + segment.file;
      }
      case 6, 7 -> {
        move(fixture, segment, (tier, view) -> tier.evict(view.id()));
        return "evict " + segment.file;
      }
      case 8 -> {
        move(fixture, segment, (tier, view) -> tier.promote(view.id(), 0, MoveControl.UNLIMITED));
        return "promote " + segment.file;
      }
      case 9 -> {
        if (segment.channel.isPresent()) {
          segment.channel.get().close();
          segment.channel = Optional.empty();
        } else {
          segment.channel = fixture.tier().open(segment.file, TierFixture.KAFKA);
        }
        return "open or close " + segment.file;
      }
      case 10 -> {
        return deleteOrMove(random);
      }
      default -> {
        return share(fixture, segment, store, random);
      }
    }
  }

  private interface Move {
    Object run(TieredSegments tier, SegmentView view) throws Exception;
  }

  private static void move(TierFixture fixture, Sealed segment, Move move) throws Exception {
    TieredSegments tier = fixture.tier().tieredSegments();
    Path directory = Directories.of(segment.file);
    Optional<SegmentView> view =
        tier.state().segments().stream()
            .filter(
                each ->
                    each.name().id().baseOffset() == 0
                        && directory.endsWith("topic-" + each.name().id().partition()))
            .findAny();
    if (view.isPresent()) {
      Object unused = move.run(tier, view.get());
    }
  }

  private void append(TierFixture fixture, Sealed segment, Random random) throws IOException {
    byte[] batches = Batches.of(1 + random.nextInt(200_000), random.nextLong());
    if (random.nextInt(4) == 0) {
      try (FileChannel channel =
          fixture
              .tier()
              .open(segment.file, Set.of(StandardOpenOption.APPEND, StandardOpenOption.CREATE))
              .orElseThrow()) {
        ByteBuffer source = ByteBuffer.wrap(batches);
        while (source.hasRemaining()) {
          int unused = channel.write(source);
        }
      }
    } else {
      fixture.append(segment.file, batches);
    }
    segment.bytes.writeBytes(batches);
    segment.ends.add(segment.bytes.size());
  }

  private String share(TierFixture fixture, Sealed segment, Path store, Random random)
      throws IOException {
    Path staging = Files.createDirectories(store.resolve("staging-" + ++objectNumber));
    Path place = store.resolve("place-" + objectNumber);
    String name = String.format("%020d.log", 0);
    Path published = place.resolve(name);
    Sharing sharing = fixture.tier().share(segment.file, staging.resolve(name), published);
    if (sharing == Sharing.NONE) {
      assertThat(staging).isEmptyDirectory();
      Files.delete(staging);
      return "share nothing of " + segment.file;
    }
    links++;
    byte[] content = segment.bytes.toByteArray();
    if (random.nextBoolean()) {
      Files.move(staging, place, StandardCopyOption.ATOMIC_MOVE);
      objects.put(published, content);
    } else {
      objects.put(staging.resolve(name), content);
    }
    return "share " + segment.file;
  }

  private String deleteOrMove(Random random) throws IOException {
    if (objects.isEmpty()) {
      return "nothing";
    }
    Path object = new ArrayList<>(objects.keySet()).get(random.nextInt(objects.size()));
    byte[] content = objects.remove(object);
    Path directory = Directories.of(object);
    if (directory.getFileName().toString().startsWith("staging-")) {
      Path place =
          directory.resolveSibling(directory.getFileName().toString().replace("staging", "place"));
      Files.move(directory, place, StandardCopyOption.ATOMIC_MOVE);
      objects.put(place.resolve(object.getFileName()), content);
      return "publish " + object;
    }
    Files.delete(object);
    return "delete " + object;
  }

  private void check(TierFixture fixture) throws IOException {
    for (Sealed segment : segments) {
      try (FileChannel channel =
          fixture.tier().open(segment.file, Set.of(StandardOpenOption.READ)).orElseThrow()) {
        assertThat(Arrays.equals(TierFixture.content(channel), segment.bytes.toByteArray()))
            .as("the bytes of " + segment.file)
            .isTrue();
      }
    }
    for (Map.Entry<Path, byte[]> object : objects.entrySet()) {
      assertThat(Arrays.equals(Files.readAllBytes(object.getKey()), object.getValue()))
          .as("the bytes of " + object.getKey())
          .isTrue();
      if ((Integer) Files.getAttribute(object.getKey(), "unix:nlink") == 1) {
        broken.add(object.getKey());
      }
    }
  }

  private void closeAll() throws IOException {
    for (Sealed segment : segments) {
      if (segment.channel.isPresent()) {
        segment.channel.get().close();
        segment.channel = Optional.empty();
      }
    }
  }
}
