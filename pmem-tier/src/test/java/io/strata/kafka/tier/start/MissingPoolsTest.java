package io.strata.kafka.tier.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.directory.KafkaLocks;
import io.strata.kafka.tier.directory.KafkaLocksTest;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.Marker;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When a pool that is missing is created, and when it must not be. */
class MissingPoolsTest {

  private static final long SIZE = 16 << 20;
  private static final byte[] RECORDS = "records".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path root;

  private final List<String> notes = new ArrayList<>();
  private final TierEvents events =
      new TierEvents() {
        @Override
        public void poolCreated(Path file, long bytes, PoolOwner owner) {
          notes.add("created " + file.getFileName() + " " + bytes);
        }

        @Override
        public void poolsNotCreated(List<Path> files, String reason) {
          assertThat(files).as(reason).isNotEmpty();
          notes.add("not created: " + reason);
        }

        @Override
        public void poolOfAnotherSize(Path file, long bytes, long configured) {
          notes.add(file.getFileName() + " has " + bytes + ", not " + configured);
        }
      };
  private TierFixture fixture;
  private Path pool;
  private Path logs;

  @BeforeEach
  void aBrokerThatHasNoPoolYet() throws IOException {
    fixture = new TierFixture(root);
    pool = fixture.root.resolve("hot.pool");
    fixture.pools.add(pool);
    fixture.extra = Map.of("strata.pool.create", String.valueOf(SIZE));
    logs = fixture.logDirectories.get(0);
    Files.writeString(
        logs.resolve(MetaProperties.FILE_NAME), "version=1\ncluster.id=c\nnode.id=1\n");
  }

  private void create() throws IOException {
    notes.clear();
    MissingPools.create(fixture.spec(), events, new ArrayList<>(), TierParts.STANDARD.pools());
  }

  /** As a broker does; then it ends. */
  private void start() throws IOException {
    HotTier.start(fixture.spec(), events, SegmentEvents.NONE).close();
  }

  private Path brokerThatRan() throws IOException {
    create();
    fixture.open();
    Path segment = fixture.segment("orders-0", 0);
    fixture.append(segment, RECORDS);
    fixture.close();
    return segment;
  }

  @Test
  void isCreatedAndBoundWhereNothingWasUsedBefore() throws IOException {
    create();

    assertThat(notes).containsExactly("created hot.pool " + SIZE);
    try (PoolReader created = Pool.openReadOnly(pool)) {
      assertThat(created.info().size()).isEqualTo(SIZE);
      assertThat(created.info().owner()).isEqualTo(fixture.spec().owner());
    }
    try (HotTier opened = fixture.open()) {
      assertThat(opened.recoveryReport().restored()).isEmpty();
    }
  }

  @Test
  void isNotCreatedWithoutTheKey() throws IOException {
    fixture.extra = Map.of();

    create();

    assertThat(notes).isEmpty();
    assertThat(pool).doesNotExist();
  }

  @Test
  void onePoolMoreIsCreatedBesideThoseThatAreThere() throws IOException {
    Path segment = brokerThatRan();
    fixture.pools.add(fixture.root.resolve("second.pool"));

    create();

    assertThat(notes).containsExactly("created second.pool " + SIZE);
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(RECORDS);
    fixture.close();
  }

  @Test
  void isRemovedAgainIfAnotherOneCannotBeCreated() throws IOException {
    fixture.pools.add(fixture.root.resolve("none/second.pool"));

    assertThatThrownBy(this::start).hasMessageContaining("found no directory");
    assertThat(pool).doesNotExist();

    fixture.pools.remove(1);
    start();
    assertThat(pool).exists();
  }

  @Test
  void onlyWhatThisStartHasCreatedIsRemoved() throws IOException {
    Path segment = brokerThatRan();
    fixture.pools.add(fixture.root.resolve("second.pool"));
    Path meta = logs.resolve(MetaProperties.FILE_NAME);
    String marked = Files.readString(meta);
    Files.writeString(meta, marked.replace("#strata-marker 1", "#strata-marker 2"));

    assertThatThrownBy(this::start).hasMessageContaining("version 2");
    assertThat(fixture.pools.get(1)).doesNotExist();

    Files.writeString(meta, marked);
    fixture.pools.remove(1);
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(RECORDS);
    fixture.close();
  }

  @Test
  void nothingIsCreatedWhileABrokerRunsOnALogDirectory() throws Exception {
    Path lock = Files.createFile(logs.resolve(KafkaLocks.FILE_NAME));
    Process broker = KafkaLocksTest.start(lock);
    try {
      assertThat(KafkaLocksTest.line(broker)).isEqualTo("locked");
      assertThatThrownBy(this::start)
          .hasMessageContainingAll(logs.toString(), "a broker runs on this log directory");
    } finally {
      broker.destroyForcibly().waitFor();
    }
    assertThat(notes).isEmpty();
    assertThat(pool).doesNotExist();
  }

  @Test
  void isNotCreatedInThePlaceOfALostOne() throws IOException {
    Path segment = brokerThatRan();
    Files.delete(pool);

    create();

    assertThat(notes).singleElement().asString().contains("was used with pool", "hot.pool");
    assertThat(pool).doesNotExist();
    assertThatThrownBy(() -> fixture.open()).hasMessageContaining("orders-0");
    assertThat(segment).exists();
  }

  /** The configuration names another file than the one with the records. */
  @Test
  void isNotCreatedUnderAnotherNameThanTheOneThatWasUsed() throws IOException {
    brokerThatRan();
    fixture.pools.set(0, fixture.root.resolve("renamed.pool"));

    create();

    assertThat(notes).singleElement().asString().contains("was used with pool", "hot.pool");
    assertThatThrownBy(() -> fixture.open())
        .hasMessageContainingAll("renamed.pool", "orders-0", pool.toString())
        .hasMessageNotContaining("pool create");
  }

  /** One that was moved is there: its partitions are not to be set aside. */
  @Test
  void aPoolThatWasMovedIsNotSaidToBeLost() throws IOException {
    fixture.pools.add(fixture.root.resolve("second.pool"));
    brokerThatRan();
    Path moved = fixture.root.resolve("moved.pool");
    Files.move(pool, moved);
    fixture.pools.set(0, moved);
    Files.delete(fixture.pools.get(1));

    assertThatThrownBy(() -> fixture.open())
        .hasMessageContaining("second.pool")
        .hasMessageNotContaining("orders-0");
  }

  /** A file in a directory of another broker, say: no attribute of the directory names it. */
  @Test
  void isNotCreatedWhereASegmentNamesALostOne() throws IOException {
    brokerThatRan();
    Files.delete(pool);
    LogDirectory.find(logs).orElseThrow().release();
    Marker.unmark(logs);

    create();

    assertThat(notes).singleElement().asString().contains("orders-0", "has bytes in pool");
    assertThat(pool).doesNotExist();
  }

  /** Attributes are lost in a copy that is made without them; the mark is in a file. */
  @Test
  void isNotCreatedWhereTheMarkAloneIsLeft() throws IOException {
    Marker.mark(logs);

    create();

    assertThat(notes).singleElement().asString().contains("is marked as used with a pool");
    assertThat(pool).doesNotExist();
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOfSatisfying(
            PoolException.class, e -> assertThat(e.kind()).isEqualTo(PoolException.Kind.MISSING));
  }

  @Test
  void isNotCreatedWhileALogDirectoryCannotBeLookedAt() throws IOException {
    fixture.logDirectories.add(fixture.root.resolve("not-mounted"));

    create();

    assertThat(notes)
        .singleElement()
        .asString()
        .contains("not-mounted is not there", "kafka-storage.sh format");
    assertThat(pool).doesNotExist();
  }

  /** Opening the pool says what is wrong with it; that nothing was created is no news. */
  @Test
  void saysNothingWhereNoPoolIsMissing() throws IOException {
    Files.write(pool, new byte[4096]);

    create();

    assertThat(notes).isEmpty();
  }

  @Test
  void aLinkIntoAFileSystemThatIsNotMountedIsLeftAlone() throws IOException {
    Files.createSymbolicLink(pool, fixture.root.resolve("not-mounted/hot.pool"));

    create();

    assertThat(Files.isSymbolicLink(pool)).isTrue();
    assertThat(notes)
        .containsExactly(
            "not created: %s is a link whose target is not there: mount its file system"
                .formatted(pool));
  }

  @Test
  void thatItsDirectoryIsMissingIsSaid() {
    fixture.pools.set(0, fixture.root.resolve("none/hot.pool"));

    assertThatThrownBy(this::create).hasMessageContaining("found no directory");
  }

  /** The file system is not mounted: the pool would fill the one below the mount point. */
  @Test
  void nothingIsLeftWhereThePoolMustBeOnDaxAndIsNot() throws IOException {
    fixture.extra =
        Map.of("strata.pool.create", String.valueOf(SIZE), "strata.require.dax", "true");

    assertThatThrownBy(this::start)
        .hasMessageContainingAll(
            pool.toString(), "strata.require.dax=true", "-o dax", "strata.require.dax=false");
    assertThat(pool).doesNotExist();
  }

  /** What is killed leaves a file of another name, which the next creation takes away. */
  @Test
  void aCreationThatDiedIsBegunAgain() throws IOException {
    Path unfinished = pool.resolveSibling("hot.pool.creating");
    Files.write(unfinished, new byte[4096]);

    create();

    assertThat(notes).containsExactly("created hot.pool " + SIZE);
    assertThat(unfinished).doesNotExist();
  }

  /** Killed after the creation: the pool is there, and nothing was ever in it. */
  @Test
  void aStartThatDiedAfterTheCreationGoesOn() throws IOException {
    create();
    LogDirectory unused = LogDirectory.claim(logs);
    Marker.mark(logs);

    create();

    assertThat(notes).isEmpty();
    try (HotTier opened = fixture.open()) {
      assertThat(opened.recoveryReport().freed()).isEmpty();
    }
  }

  @Test
  void anotherSizeIsNotedOnceAndKept() throws IOException {
    create();
    fixture.extra = Map.of("strata.pool.create", String.valueOf(2 * SIZE));

    create();

    assertThat(notes).containsExactly("hot.pool has " + SIZE + ", not " + 2 * SIZE);
    assertThat(pool).hasSize(SIZE);
  }
}
