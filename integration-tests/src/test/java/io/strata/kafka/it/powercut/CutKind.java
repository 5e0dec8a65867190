package io.strata.kafka.it.powercut;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What runs in the machine whose power is cut, and what a cut may cost. */
enum CutKind {
  /** Strata with the default pool type on DAX: loses nothing. */
  STRATA("strata", Loss.NONE, Pool.MAPPED, Shadow.NONE),
  /** Strata with libpmem on DAX: loses nothing. */
  STRATA_PMEM("strata-pmem", Loss.NONE, Pool.PMEM, Shadow.NONE),
  /** Strata with a pool on a disk and {@code strata.durability=ack}: loses nothing. */
  STRATA_ACK("strata-ack", Loss.NONE, Pool.FILE, Shadow.NONE),
  /** As strata, and only what is flushed reaches the pool: loses nothing. */
  SHADOW("shadow", Loss.NONE, Pool.MAPPED, Shadow.COMPLETE),
  /** As shadow, and one flush in so many is forgotten: shows that the shadow would notice. */
  SHADOW_FORGETS("shadow-forgets", Loss.SOME, Pool.MAPPED, Shadow.FORGETFUL),
  /** Stock Kafka with its default flush settings: loses records, so the cut is real. */
  STOCK("stock", Loss.SOME, Pool.NONE, Shadow.NONE),
  /** Stock Kafka that forces each append: loses nothing. */
  STOCK_FLUSH("stock-flush", Loss.NONE, Pool.NONE, Shadow.NONE);

  /** What of the acknowledged records is lost. */
  enum Loss {
    NONE,
    SOME
  }

  private enum Shadow {
    NONE,
    COMPLETE,
    FORGETFUL
  }

  private enum Pool {
    NONE,
    MAPPED,
    PMEM,
    FILE
  }

  private static final String WRITE_BACK = "-Dstrata.test.shadow.writeback=0.2";
  private static final String FORGOTTEN = "-Dstrata.test.shadow.forgotten=0.02";

  private final String label;
  private final Loss loss;
  private final Pool pool;
  private final Shadow shadow;

  CutKind(String label, Loss loss, Pool pool, Shadow shadow) {
    this.label = label;
    this.loss = loss;
    this.pool = pool;
    this.shadow = shadow;
  }

  /** The kind with the label. */
  static CutKind of(String label) {
    return Arrays.stream(values())
        .filter(kind -> kind.label.equals(label))
        .findAny()
        .orElseThrow(
            () -> new IllegalArgumentException("no kind " + label + "; there are " + labels()));
  }

  /** All labels. */
  static String labels() {
    return Arrays.stream(values()).map(kind -> kind.label).collect(Collectors.joining(","));
  }

  String label() {
    return label;
  }

  /** What a cut is expected to cost. */
  Loss loss() {
    return loss;
  }

  boolean hasStrata() {
    return pool != Pool.NONE;
  }

  boolean hasShadow() {
    return shadow != Shadow.NONE;
  }

  /** System properties of the broker. */
  List<String> jvmOptions(long seed) {
    return switch (shadow) {
      case NONE -> List.of();
      case COMPLETE -> List.of(seed(seed), WRITE_BACK);
      case FORGETFUL -> List.of(seed(seed), WRITE_BACK, FORGOTTEN);
    };
  }

  private static String seed(long seed) {
    return "-Dstrata.test.shadow.seed=" + seed;
  }

  /** How a broker's pool and segments are laid out in a chain of cuts. */
  enum Layout {
    /** Kafka's default segment size, space for everything. */
    PLAIN("large", Optional.empty(), "0.5"),
    /** Small segments, space for everything, default migration. */
    ROLLING("large", Optional.of("1048576"), "0.5"),
    /** Active segments go to the log file in pieces, are evicted and come back. */
    MOVING("small", Optional.of("1048576"), "0"),
    /** So little space that appends spill; nothing goes to the log file before. */
    SPILLING("tiny", Optional.of("4194304"), "0.9");

    private final String pool;
    private final Optional<String> segmentBytes;
    private final String threshold;

    Layout(String pool, Optional<String> segmentBytes, String threshold) {
      this.pool = pool;
      this.segmentBytes = segmentBytes;
      this.threshold = threshold;
    }

    Map<String, String> topicConfig() {
      return segmentBytes.map(bytes -> Map.of("segment.bytes", bytes)).orElse(Map.of());
    }
  }

  /** A layout that suits the kind: another one for each of four seeds in a row. */
  Layout layout(long seed) {
    if (this == STOCK || this == STOCK_FLUSH) {
      return Layout.PLAIN;
    }
    List<Layout> all = List.of(Layout.MOVING, Layout.PLAIN, Layout.SPILLING, Layout.ROLLING);
    // Not by Random: its first number is the same for all of them.
    Layout any = all.get(Math.floorMod(seed, all.size()));
    return pool == Pool.PMEM && any != Layout.ROLLING ? Layout.PLAIN : any;
  }

  /** The kind's lines of {@code server.properties}. */
  Map<String, String> properties(Layout layout) {
    Map<String, String> lines = new TreeMap<>();
    if (this == STOCK_FLUSH) {
      lines.put("log.flush.interval.messages", "1");
    }
    if (hasStrata()) {
      lines.put(
          "metric.reporters",
          "org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter");
      lines.put("strata.migration.threshold", layout.threshold);
      lines.putAll(pool == Pool.FILE ? onDisk() : onDax(layout));
    }
    return lines;
  }

  private static Map<String, String> onDisk() {
    return Map.of(
        "strata.pool.type", "file",
        "strata.pools", "/data/ack.pool",
        "strata.pool.create", "64MiB",
        "strata.durability", "ack");
  }

  private Map<String, String> onDax(Layout layout) {
    return Map.of(
        "strata.require.dax",
        "true",
        "strata.pool.type",
        pool == Pool.PMEM ? "pmem" : "mapped",
        "strata.pools",
        "/pmem/" + (pool == Pool.PMEM ? "llpl" : layout.pool) + ".pool");
  }

  /** What the broker says of its pool: a power failure takes nothing that was acknowledged. */
  String durability() {
    return pool == Pool.FILE ? "durability FORCE" : "durability POWER";
  }
}
