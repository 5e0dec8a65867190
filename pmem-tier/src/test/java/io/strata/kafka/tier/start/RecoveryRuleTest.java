package io.strata.kafka.tier.start;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.cli.MarkdownPage;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.spec.RecoveryReport;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.start.RecoveryRule.FoundFile;
import io.strata.kafka.tier.start.RecoveryRule.Words;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds the table of recovery in docs/design/tier.md against the decision, and against starts. */
final class RecoveryRuleTest {

  private static final long MIB = 1 << 20;
  private static final int COLUMNS = 5;
  private static final int LONGEST = 3;
  private static final byte[] BYTES = Batches.of(200_000, 1);
  private static final int FIRST_BATCH = ByteBuffer.wrap(BYTES).getInt(8) + 12;
  private static final List<Row> TABLE = table();

  /** A row of the table. */
  private record Row(String slot, String lengths, String file, String rule) {
    /** Rows about slots; the others are about tags. */
    boolean isOfSlots() {
      return slot.startsWith("LIVE") || slot.startsWith("DELETING");
    }

    String found() {
      return slot + " | " + lengths + " | " + file;
    }

    boolean fits(Case each) {
      return Stream.of(slot, lengths, file)
          .flatMap(cell -> Stream.of(cell.split(", ", -1)))
          .allMatch(condition -> condition.isEmpty() || each.is(condition));
    }

    @Override
    public String toString() {
      return found() + " | " + rule;
    }
  }

  /** What a start may find. */
  private record Case(Words slot, FoundFile file, long size, boolean elsewhere) {
    boolean is(String condition) {
      if (condition.startsWith("not ")) {
        return !is(condition.substring("not ".length()));
      }
      if (condition.contains(" or ")) {
        return Stream.of(condition.split(" or ", -1)).anyMatch(this::is);
      }
      if (condition.contains(" < ")) {
        String[] sides = condition.split(" < ", -1);
        return value(sides[0]) < value(sides[1]);
      }
      if (condition.contains(" = ")) {
        String[] sides = condition.split(" = ", -1);
        return value(sides[0]) == value(sides[1]);
      }
      if (condition.equals("elsewhere")) {
        return elsewhere;
      }
      Set<String> names = new HashSet<>(List.of(slot.state().name(), file.name()));
      slot.flags().forEach(flag -> names.add(flag.name()));
      return names.contains(known(condition));
    }

    private long value(String name) {
      return switch (name) {
        case "0" -> 0;
        case "start" -> slot.start();
        case "clean" -> slot.clean();
        case "end" -> slot.end();
        case "size" -> size;
        default -> throw new AssertionError("found a length " + name);
      };
    }

    private static String known(String name) {
      boolean known =
          Stream.of(SlotState.values(), SlotFlag.values(), FoundFile.values())
              .flatMap(Arrays::stream)
              .anyMatch(each -> each.name().equals(name));
      assertThat(known).as(name).isTrue();
      return name;
    }
  }

  private static List<Row> table() {
    Path page = MarkdownPage.root().resolve("docs/design/tier.md");
    List<Row> rows = new ArrayList<>();
    for (List<String> cells : MarkdownPage.read(page).rowsBelow("Recovery")) {
      assertThat(cells).hasSize(COLUMNS);
      rows.add(new Row(cells.get(0), cells.get(1), cells.get(2), cells.get(3)));
    }
    return rows;
  }

  private static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (SlotState state : List.of(SlotState.LIVE, SlotState.DELETING)) {
      SlotFlag[] all = SlotFlag.values();
      for (int bits = 0; bits < 1 << all.length; bits++) {
        Set<SlotFlag> flags = EnumSet.noneOf(SlotFlag.class);
        for (int i = 0; i < all.length; i++) {
          if ((bits >> i & 1) != 0) {
            flags.add(all[i]);
          }
        }
        for (int end = 0; end <= LONGEST; end++) {
          for (int clean = 0; clean <= end; clean++) {
            for (int start = 0; start <= clean; start++) {
              addCases(new Words(state, flags, start, clean, end), cases);
            }
          }
        }
      }
    }
    return cases;
  }

  private static void addCases(Words slot, List<Case> cases) {
    for (FoundFile file : FoundFile.values()) {
      for (boolean elsewhere : new boolean[] {false, true}) {
        int longest = file == FoundFile.TAGGED ? LONGEST + 1 : 0;
        // What is not there of all log directories is looked for in all of them.
        if (file != FoundFile.UNKNOWN || !elsewhere) {
          for (int size = 0; size <= longest; size++) {
            cases.add(new Case(slot, file, size, elsewhere));
          }
        }
      }
    }
  }

  @Test
  void eachCombinationIsDecidedAsTheTableSays() {
    Set<Row> used = new HashSet<>();
    for (Case each : cases()) {
      Row row =
          TABLE.stream().filter(Row::isOfSlots).filter(r -> r.fits(each)).findFirst().orElseThrow();
      used.add(row);
      assertThat(RecoveryRule.of(each.slot(), each.file(), each.size(), each.elsewhere()))
          .as("%s, by row %s", each, row)
          .hasToString(row.rule());
    }
    assertThat(used)
        .containsExactlyInAnyOrderElementsOf(TABLE.stream().filter(Row::isOfSlots).toList());
  }

  @TempDir private Path temp;
  private TierFixture fixture;
  private Path file;
  private SegmentTag tag;
  private final List<String> skipped = new ArrayList<>();

  @BeforeEach
  void oneSegment() throws IOException {
    fixture = new TierFixture(temp).pool("strata.pool", 16 * MIB);
    fixture.events =
        new TierEvents() {
          @Override
          public void logDirectorySkipped(Path directory, String reason) {
            skipped.add(reason);
          }
        };
    fixture.open();
    file = fixture.segment("orders-0", 0);
    fixture.append(file, BYTES);
    tag = SegmentTag.read(file).orElseThrow();
    Awaitility.await().until(() -> slot().has(SlotFlag.NAME_DURABLE));
    fixture.close();
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private Slot slot() {
    return fixture.tier().pools().get(0).slots().get(0);
  }

  /** Changes a slot as a crash would have left it. */
  private interface Change {
    void run(Slot slot, Pool pool) throws IOException;
  }

  private void change(Change change) throws IOException {
    try (Pool pool = Pool.open(fixture.pools.get(0), MemoryType.MAPPED, TierFixture.OWNER)) {
      change.run(pool.slots().get(0), pool);
    }
  }

  private void set(SlotFlag flag) throws IOException {
    change((slot, pool) -> slot.set(flag));
  }

  private void clean(int length) throws IOException {
    Files.write(file, BYTES);
    change((slot, pool) -> slot.setCleanLength(length));
  }

  private void write(int length) throws IOException {
    Files.write(file, Arrays.copyOf(BYTES, length));
  }

  private void orphaned() throws IOException {
    set(SlotFlag.ORPHANED);
    Files.delete(file);
  }

  private void unmount(Path logs) throws IOException {
    Path unused = Files.move(logs, fixture.root.resolve("unmounted"));
  }

  private void lacksADirectory() {
    fixture.logDirectories.add(fixture.root.resolve("not-mounted"));
  }

  /** Makes what a start finds. */
  private interface Scenario {
    void make(RecoveryRuleTest test) throws IOException;
  }

  private static final Map<String, Scenario> SCENARIOS = new LinkedHashMap<>();

  static {
    SCENARIOS.put(
        "of a pool and a log directory of different [moments](pool.md#moments) |  | ",
        test -> {
          Path pool = test.fixture.pools.get(0);
          Path backup = Files.copy(pool, test.fixture.root.resolve("backup"));
          test.fixture.open();
          test.fixture.close();
          Files.copy(backup, pool, StandardCopyOption.REPLACE_EXISTING);
        });
    SCENARIOS.put(
        "of a pool that is not open |  | TAGGED",
        test -> new SegmentTag(UUID.randomUUID(), 3, 9).write(test.file));
    SCENARIOS.put(
        "any |  | two files are TAGGED",
        test -> test.tag.write(Files.createFile(test.fixture.segment("orders-1", 0))));
    SCENARIOS.put(
        "of an earlier generation |  | TAGGED",
        test ->
            new SegmentTag(test.tag.pool(), test.tag.slot(), test.tag.generation() + 1)
                .write(test.file));
    SCENARIOS.put(
        "of a much later generation (2^23) |  | TAGGED",
        test -> test.change((slot, pool) -> slot.discard()));
    SCENARIOS.put(
        "FREE, or of a later generation |  | TAGGED, lacks bytes",
        test -> {
          test.write(1000);
          test.change((slot, pool) -> slot.free());
        });
    SCENARIOS.put(
        "FREE, or of a later generation |  | TAGGED",
        test -> {
          Files.write(test.file, BYTES);
          test.change((slot, pool) -> slot.free());
        });
    SCENARIOS.put(
        "in a log directory that has lost its [mark](provider.md#the-marker-of-a-log-directory) |"
            + "  | TAGGED, with bytes that are not the slot's",
        test -> {
          Files.writeString(test.fixture.logs().resolve("meta.properties"), "version=1\n");
          Files.write(test.file, TierFixture.bytes(1000, 2));
        });
    SCENARIOS.put(
        "spilled |  | TAGGED, with zeros at the end of the clean bytes",
        test -> {
          Files.write(test.file, new byte[1000]);
          test.change((slot, pool) -> slot.setCleanLength(1000));
          test.set(SlotFlag.SPILLED);
        });
    SCENARIOS.put(
        "DELETING |  | TAGGED or AHEAD", test -> test.change((slot, pool) -> slot.markDeleting()));
    SCENARIOS.put(
        "DELETING |  | AWAY or UNKNOWN",
        test -> {
          test.change((slot, pool) -> slot.markDeleting());
          test.unmount(test.fixture.logs());
        });
    SCENARIOS.put(
        "DELETING |  | ",
        test -> {
          test.change((slot, pool) -> slot.markDeleting());
          Files.delete(test.file);
          // Kafka has made another segment of this name, which stays.
          Files.write(test.file, BYTES);
          new SegmentTag(test.tag.pool(), test.tag.slot() + 1, 0).write(test.file);
        });
    SCENARIOS.put(
        "LIVE |  | AHEAD",
        test -> {
          test.change((slot, pool) -> pool.release(slot.truncate(BYTES.length - 1000)));
          Files.write(test.file, BYTES);
          Files.writeString(test.fixture.logs().resolve(".kafka_cleanshutdown"), "{}");
        });
    SCENARIOS.put(
        "LIVE, COPY, SPILLED | start = end | TAGGED",
        test -> {
          test.clean(BYTES.length);
          test.set(SlotFlag.SPILLED);
          test.change((slot, pool) -> pool.release(slot.beginAt(BYTES.length)));
          test.set(SlotFlag.COPY);
        });
    SCENARIOS.put(
        "LIVE | size < start | TAGGED",
        test -> {
          test.clean(BYTES.length);
          test.change((slot, pool) -> pool.release(slot.evict(BYTES.length)));
          test.write(1000);
        });
    SCENARIOS.put(
        "LIVE | size < clean | TAGGED",
        test -> {
          test.clean(BYTES.length);
          test.write(FIRST_BATCH);
        });
    SCENARIOS.put("LIVE, not SPILLED | clean < size | TAGGED", test -> test.write(1000));
    SCENARIOS.put("LIVE |  | TAGGED", test -> test.set(SlotFlag.ORPHANED));
    SCENARIOS.put(
        "LIVE, not ORPHANED | 0 < end | UNKNOWN",
        test ->
            test.fixture.logDirectories.set(0, Files.createDirectory(test.temp.resolve("new"))));
    SCENARIOS.put("LIVE |  | AWAY or UNKNOWN", test -> test.unmount(test.fixture.logs()));
    SCENARIOS.put(
        "LIVE, COPY |  | not elsewhere",
        test -> {
          test.set(SlotFlag.COPY);
          Files.write(test.file, BYTES);
          boolean unused = SegmentTag.remove(test.file);
        });
    SCENARIOS.put(
        "LIVE | end = 0 | ",
        test -> {
          test.change((slot, pool) -> pool.release(slot.truncate(0)));
          Files.delete(test.file);
        });
    SCENARIOS.put(
        "LIVE, not NAME_DURABLE |  | NONE or EMPTY",
        test -> {
          test.change((slot, pool) -> slot.clear(SlotFlag.NAME_DURABLE));
          Files.delete(test.file);
        });
    SCENARIOS.put(
        "LIVE, not NAME_DURABLE |  | ",
        test -> {
          test.change((slot, pool) -> slot.clear(SlotFlag.NAME_DURABLE));
          Files.delete(test.file);
          Files.write(test.file, new byte[5]);
        });
    SCENARIOS.put(
        "LIVE, MOVED |  | elsewhere",
        test -> {
          test.set(SlotFlag.MOVED);
          test.lacksADirectory();
          test.write(1000);
          boolean unused = SegmentTag.remove(test.file);
        });
    SCENARIOS.put(
        "LIVE |  | PART",
        test -> {
          test.write(1000);
          boolean unused = SegmentTag.remove(test.file);
        });
    SCENARIOS.put(
        "LIVE | clean = 0 | EMPTY",
        test -> {
          boolean unused = SegmentTag.remove(test.file);
        });
    SCENARIOS.put(
        "LIVE |  | elsewhere",
        test -> {
          test.lacksADirectory();
          test.orphaned();
        });
    SCENARIOS.put("LIVE, not ORPHANED |  | ", test -> Files.delete(test.file));
    SCENARIOS.put("LIVE | clean < end | ", RecoveryRuleTest::orphaned);
    SCENARIOS.put(
        "LIVE |  | ",
        test -> {
          test.clean(BYTES.length);
          test.orphaned();
        });
  }

  static Stream<Row> rows() {
    return TABLE.stream();
  }

  @Test
  void theTableHasTheRowsThatAreTried() {
    assertThat(TABLE.stream().map(Row::found)).containsExactlyElementsOf(SCENARIOS.keySet());
  }

  @ParameterizedTest
  @MethodSource("rows")
  void aStartDoesWhatTheRowSays(Row row) throws IOException {
    Objects.requireNonNull(SCENARIOS.get(row.found()), row.found()).make(this);
    long before = Files.exists(file) ? Files.size(file) : -1;
    assertThat(start(before)).isEqualTo(row.rule());
  }

  /** What a start has done, by its name in the table. */
  private String start(long sizeBefore) throws IOException {
    try {
      fixture.open();
    } catch (FileSystemException e) {
      assertThat(Files.exists(file) ? Files.size(file) : -1).isEqualTo(sizeBefore);
      return refusal(String.valueOf(e.getMessage()));
    }
    RecoveryReport report = fixture.tier().recoveryReport();
    if (report.hot() == 1) {
      assertThat(fixture.read(file)).isEqualTo(BYTES);
      assertThat(slot().has(SlotFlag.ORPHANED) || slot().has(SlotFlag.COPY)).isFalse();
      return used(report, sizeBefore);
    }
    if (report.deletionsFinished() == 1) {
      return Files.exists(file) ? "FREE_DELETED" : "UNLINK";
    }
    if (report.copiesDropped() == 1) {
      assertThat(fixture.read(file)).isEqualTo(BYTES);
      return report.tagsRemoved() == 1 ? "LEAVE" : "DROP";
    }
    // The report leaves out one without a record.
    boolean empty = report.kept().isEmpty() && report.tagsRemoved() == 0 && skipped.isEmpty();
    if (report.freed().size() == 1
        || (empty && fixture.tier().pools().get(0).usage().liveSlots() == 0)) {
      assertThat(fixture.tier().pools().get(0).usage().liveSlots()).isZero();
      return fixture.tier().pools().get(0).generation(tag.slot()) > tag.generation()
          ? "DISCARD"
          : "FREE";
    }
    if (report.tagsRemoved() == 1) {
      assertThat(fixture.read(file)).isEqualTo(BYTES);
      return "REMOVE_TAG";
    }
    if (report.orphaned().size() == 1) {
      return "ORPHAN";
    }
    if (skipped.stream().anyMatch(reason -> reason.contains(" 1000 bytes"))) {
      return "SKIP_DIRECTORY";
    }
    assertThat(report.kept()).hasSize(1);
    return "KEEP";
  }

  private String used(RecoveryReport report, long sizeBefore) throws IOException {
    if (report.restored().size() == 1) {
      return "RESTORE";
    }
    if (Files.size(file) < sizeBefore) {
      assertThat(Files.size(file)).isEqualTo(slot().cleanLength());
      return "TRUNCATE";
    }
    return slot().cleanLength() > 0 ? "LOWER_CLEAN" : "USE";
  }

  private static String refusal(String message) {
    return Map.of(
            "bytes in pools that are not open", "REFUSE_LOST",
            "both files carry the tag of", "REFUSE_COPIED",
            "the log directory was last used with this pool at", "REFUSE_MOMENT",
            "and the pool has that slot at generation", "REFUSE_OLDER",
            "which has been discarded", "REFUSE_DISCARDED",
            "ran here without Strata", "REFUSE_FOREIGN",
            "and none of log.dirs is that one", "REFUSE_DIRECTORY",
            "and another file, of", "REFUSE_OCCUPIED",
            "and no attribute of it says where they are", "REFUSE_UNTAGGED")
        .entrySet()
        .stream()
        .filter(each -> message.contains(each.getKey()))
        .map(Map.Entry::getValue)
        .findAny()
        .orElse(message);
  }
}
