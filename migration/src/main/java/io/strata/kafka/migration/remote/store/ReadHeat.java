package io.strata.kafka.migration.remote.store;

import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** How much was read from each segment lately: each byte counts half after ten minutes. */
public final class ReadHeat {

  private static final double HALF_LIFE_MILLIS = 600_000;

  private final InstantSource clock;
  private final Map<String, Cell> cells = new ConcurrentHashMap<>();

  private record Cell(double bytes, long millis) {
    double at(long now) {
      return now <= millis
          ? bytes
          : bytes * Math.exp(-Math.log(2) * (now - millis) / HALF_LIFE_MILLIS);
    }
  }

  ReadHeat(InstantSource clock) {
    this.clock = clock;
  }

  /** Bytes of a segment were read for Kafka. */
  public void read(String id, long bytes) {
    long now = clock.millis();
    Cell unused =
        cells.merge(id, new Cell(bytes, now), (old, read) -> new Cell(old.at(now) + bytes, now));
  }

  public double recentBytes(String id, long now) {
    Cell cell = cells.get(id);
    return cell == null ? 0 : cell.at(now);
  }

  public long lastMillis(String id, long otherwise) {
    Cell cell = cells.get(id);
    return cell == null ? otherwise : cell.millis();
  }

  /** Forgets all others. */
  public void retain(Set<String> ids) {
    boolean unused = cells.keySet().retainAll(ids);
  }
}
