package io.strata.kafka.cli.remote;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.remote.StorePlaces.Place;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.Progress;
import io.strata.kafka.migration.ByteRateLimiter;
import io.strata.kafka.migration.remote.store.keep.Scrubber;
import io.strata.kafka.migration.remote.store.keep.Scrubber.Finding;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Checks the directories of a store and keeps what was found. */
final class StoreCheck {

  private final ByteRateLimiter rate;
  private final Progress progress;
  private final long expectedBytes;
  private final List<Result> results = new ArrayList<>();
  private long readBytes;

  private StoreCheck(ByteRateLimiter rate, Progress progress, long expectedBytes) {
    this.rate = rate;
    this.progress = progress;
    this.expectedBytes = expectedBytes;
  }

  /** Collects the findings of one directory. */
  private final class Result implements Scrubber.Listener {
    private final Place place;
    private final List<Finding> findings = new ArrayList<>();
    private final List<Path> removed = new ArrayList<>();
    private long segments;
    private long objects;
    private long bytes;

    Result(Place place) {
      this.place = place;
    }

    @Override
    public void before(int bytes) throws InterruptedException {
      rate.acquire(bytes, () -> false);
      readBytes += bytes;
      progress.progress(readBytes, Math.max(expectedBytes, readBytes));
    }

    @Override
    public void checked(SegmentKey key, Path directory, int objects, long bytes) {
      this.segments++;
      this.objects += objects;
      this.bytes += bytes;
    }

    @Override
    public void found(Finding finding) {
      findings.add(finding);
    }

    @Override
    public void removed(Path orphan) {
      removed.add(orphan);
    }
  }

  /**
   * Checks them.
   *
   * @param task what the progress is called
   * @param bytesPerSecond what may be read in a second; 0 for no limit
   * @param expectedBytes how many will be read, for the progress
   */
  static StoreCheck of(
      String task,
      List<Place> places,
      Scrubber.Options options,
      long bytesPerSecond,
      long expectedBytes)
      throws IOException, InterruptedException {
    ByteRateLimiter rate = new ByteRateLimiter(System::nanoTime);
    rate.setRate(bytesPerSecond);
    try (Progress progress = Progress.onTerminal(task)) {
      StoreCheck check = new StoreCheck(rate, progress, expectedBytes);
      for (Place place : places) {
        check.run(place, options);
      }
      return check;
    }
  }

  private void run(Place place, Scrubber.Options options) throws IOException, InterruptedException {
    Result result = new Result(place);
    results.add(result);
    try {
      boolean unused =
          place.whileItAnswers(
              "checking",
              control -> {
                Scrubber.scrub(place.directory(), options, InstantSource.system(), "", result);
                return true;
              });
    } catch (NoSuchFileException e) {
      if (result.findings.isEmpty()) {
        result.findings.add(
            new Finding(
                Finding.Kind.MISSING,
                place.directory(),
                place.directory() + ": found no " + e.getFile() + ", expected it in a store"));
      }
    }
  }

  /** Returns whether anything was found by which data is at risk, or of another store. */
  boolean damaged() {
    return results.stream()
        .flatMap(result -> result.findings.stream())
        .anyMatch(finding -> finding.kind().damage() || finding.kind() == Finding.Kind.FOREIGN);
  }

  /** Returns whether leftovers are still there; after a removal, those that it could not remove. */
  boolean leavesOrphans() {
    return results.stream()
        .flatMap(result -> result.findings.stream())
        .anyMatch(finding -> finding.kind() == Finding.Kind.ORPHAN);
  }

  void print(PrintWriter out) {
    for (Result result : results) {
      String directory = result.place.level().isPresent() ? " " + result.place.directory() : "";
      int findings = result.findings.size();
      int removed = result.removed.size();
      out.printf(
          "%s%s: %s segments, %s files checked%s%s%s%n",
          result.place.shown(),
          directory,
          result.segments,
          result.objects,
          result.bytes > 0 ? ", " + ByteSize.format(result.bytes) + " read" : "",
          findings == 0 ? "; nothing found" : "; " + findings + " findings",
          removed == 0 ? "" : ", " + removed + " orphans removed");
      result.findings.forEach(
          finding -> out.println("  " + kind(finding) + ": " + finding.message()));
      result.removed.forEach(orphan -> out.println("  removed: " + orphan));
    }
  }

  void describe(ObjectNode document) {
    ArrayNode directories = document.putArray("directories");
    for (Result result : results) {
      ObjectNode node = directories.addObject();
      result.place.level().ifPresent(level -> node.put("level", level));
      node.put("path", result.place.directory().toString());
      node.put("segments", result.segments);
      node.put("files", result.objects);
      node.put("readBytes", result.bytes);
      ArrayNode findings = node.putArray("findings");
      for (Finding finding : result.findings) {
        ObjectNode found = findings.addObject();
        found.put("kind", kind(finding));
        found.put("path", finding.path().toString());
        found.put("message", finding.message());
      }
      result.removed.stream().map(Path::toString).forEach(node.putArray("removed")::add);
    }
  }

  private static String kind(Finding finding) {
    return finding.kind().name().toLowerCase(Locale.ROOT);
  }
}
