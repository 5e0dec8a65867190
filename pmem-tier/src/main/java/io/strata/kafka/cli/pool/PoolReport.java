package io.strata.kafka.cli.pool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/**
 * The identity and the use of a pool, read while a broker may be writing to it.
 *
 * @param segments slots that hold a segment
 * @param deleting of those, the ones whose deletion has been begun
 * @param usedBytes bytes in the segments' extents
 * @param committedBytes bytes of the segments: the extents' unused ends are not counted
 */
record PoolReport(PoolInfo info, int segments, int deleting, long usedBytes, long committedBytes) {

  static PoolReport of(Path file) throws IOException {
    try (PoolReader pool = Pool.openReadOnly(file)) {
      return of(pool);
    }
  }

  static PoolReport of(PoolReader pool) throws IOException {
    List<SlotSnapshot> slots = pool.readAll();
    int deleting = 0;
    long used = 0;
    long committed = 0;
    for (SlotSnapshot slot : slots) {
      deleting += slot.state() == SlotState.DELETING ? 1 : 0;
      used += slot.extents().length();
      committed += slot.committedLength() - slot.extents().start();
    }
    return new PoolReport(pool.info(), slots.size(), deleting, used, committed);
  }

  long freeBytes() {
    return info.dataSize() - usedBytes;
  }

  static void print(List<PoolReport> pools, StrataCommand command) {
    command.print(
        document -> {
          ArrayNode array = document.putArray("pools");
          pools.forEach(pool -> pool.describe(array.addObject()));
        },
        out -> {
          for (int i = 0; i < pools.size(); i++) {
            out.print(i > 0 ? System.lineSeparator() : "");
            pools.get(i).describe(out);
          }
        });
  }

  private void describe(ObjectNode node) {
    node.put("path", info.path().toString());
    node.put("id", info.id().toString());
    info.owner().brokerId().ifPresent(id -> node.put("brokerId", id));
    info.owner().clusterId().ifPresent(id -> node.put("clusterId", id));
    node.put("layoutVersion", info.layoutVersion());
    node.put("created", created().toString());
    node.put("durability", info.durability().name());
    node.put("sizeBytes", info.size());
    node.put("dataBytes", info.dataSize());
    node.put("usedBytes", usedBytes);
    node.put("freeBytes", freeBytes());
    node.put("committedBytes", committedBytes);
    node.put("slots", info.slotCount());
    node.put("segments", segments);
    node.put("deletingSegments", deleting);
  }

  private void describe(PrintWriter out) {
    out.println(info.path());
    line(out, "id", info.id().toString());
    line(out, "owner", info.owner().toString());
    line(out, "created", created() + ", layout version " + info.layoutVersion());
    line(out, "survives", survives(info.durability()));
    line(out, "type", MemoryOpener.fitting(info.path()).configName() + ", where it is set to auto");
    line(out, "size", ByteSize.format(info.size()));
    line(
        out,
        "used",
        "%s of %s (%s free)"
            .formatted(
                ByteSize.format(usedBytes),
                ByteSize.format(info.dataSize()),
                ByteSize.format(freeBytes())));
    line(
        out,
        "segments",
        "%s of %s, %s%s"
            .formatted(
                segments,
                info.slotCount(),
                ByteSize.format(committedBytes),
                deleting > 0 ? "; " + deleting + " of them being deleted" : ""));
  }

  private Instant created() {
    return Instant.ofEpochMilli(info.createdAtMillis());
  }

  private static void line(PrintWriter out, String label, String value) {
    out.println(String.format("  %-9s %s", label, value));
  }

  private static String survives(Durability durability) {
    return switch (durability) {
      case POWER -> "a power failure, with every append (DAX)";
      case FORCE -> "kill -9 with every append; a power failure with what Kafka has flushed";
      case PROCESS -> "kill -9 with every append; no power failure (file system in memory)";
    };
  }
}
