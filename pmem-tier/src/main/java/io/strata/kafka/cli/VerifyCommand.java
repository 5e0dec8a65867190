package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.cli.terminal.Progress;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.segment.ValidRecords;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "verify",
    description = {
      """
      Reads all record batches of the log files in a copy of log directories, and names each file \
      that does not consist of whole batches with the right checksums: one with a hole, or one that \
      ends within a batch. Reads only, and needs no configuration. Run it on a copy before you \
      delete the source; the broker of these directories must not run.\
      """,
      "",
      """
      Log files whose newest bytes are in a pool are counted, and not checked: run 'strata drain' \
      before the copy's last pass, or copy the pools too. A file that ends too early, between two \
      batches, is not found.\
      """,
      "",
      """
      Exit code 1 if a file has a hole, a damaged batch or a part of one, or cannot be read, or if \
      a directory has no log file: it is not the copy, perhaps, but a directory around it.\
      """,
      ""
    },
    footer = {"", "Example:", "  strata verify /mnt/copy/kafka-1 /mnt/copy/kafka-2"})
final class VerifyCommand extends StrataCommand {
  private static final Pattern LOG_FILE = Pattern.compile("\\d{20}\\.log");

  private static final String NOTHING =
      """
      %s: found no log file, expected a log directory, or a partition's directory: name these\
      """;

  /** A log directory has partitions' directories, and these have the files. */
  private static final int DEPTH = 2;

  @Parameters(
      paramLabel = "DIR",
      arity = "1..*",
      description = "A log directory, or a partition's directory.")
  private List<Path> directories = new ArrayList<>();

  private final Map<Path, String> problems = new TreeMap<>();
  private final List<Path> empty = new ArrayList<>();
  private int checked;
  private int inPools;
  private long bytes;

  @Override
  protected ExitCode run() throws Exception {
    for (Path directory : directories) {
      if (!Files.isDirectory(directory)) {
        throw CommandException.usage(
            "found no directory " + directory + ", expected a log directory");
      }
    }
    try (Progress progress = Progress.onTerminal("verifying")) {
      List<Path> files = new ArrayList<>();
      for (Path directory : directories) {
        List<Path> found = logFiles(directory);
        if (found.isEmpty()) {
          empty.add(directory);
        }
        files.addAll(found);
      }
      long total = 0;
      for (Path file : files) {
        total += file.toFile().length();
      }
      for (Path file : files) {
        check(file);
        progress.progress(bytes, total);
      }
    }
    print(this::describe, out -> out.println(text()));
    List<String> lines = new ArrayList<>();
    empty.forEach(each -> lines.add(NOTHING.formatted(each)));
    problems.forEach((file, problem) -> lines.add(file + ": " + problem));
    return end(lines);
  }

  private static List<Path> logFiles(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory, DEPTH, FileVisitOption.FOLLOW_LINKS)) {
      return files
          .filter(file -> LOG_FILE.matcher(String.valueOf(file.getFileName())).matches())
          .filter(Files::isRegularFile)
          .sorted()
          .toList();
    }
  }

  private void check(Path file) {
    try {
      long size = Files.size(file);
      if (hasTag(file) && !SegmentTag.wholeLength(file).equals(OptionalLong.of(size))) {
        inPools++;
        return;
      }
      checked++;
      bytes += size;
      Optional<String> problem = ValidRecords.problem(file);
      problem.ifPresent(found -> problems.put(file, found));
    } catch (IOException e) {
      problems.put(file, Failures.messageOf(e));
    }
  }

  /** A copy may be on a file system without attributes. */
  private static boolean hasTag(Path file) throws IOException {
    return Files.getFileStore(file).supportsFileAttributeView("user")
        && SegmentTag.read(file).isPresent();
  }

  private void describe(ObjectNode document) {
    document.put("files", checked);
    document.put("bytes", bytes);
    document.put("inPools", inPools);
    empty.stream().map(Path::toString).forEach(document.putArray("withoutLogFiles")::add);
    ArrayNode array = document.putArray("damaged");
    problems.forEach(
        (file, problem) -> {
          ObjectNode node = array.addObject();
          node.put("file", file.toString());
          node.put("problem", problem);
        });
  }

  private String text() {
    return "Read %d log files of %s: %d are damaged%s"
        .formatted(
            checked,
            ByteSize.format(bytes),
            problems.size(),
            inPools == 0
                ? ""
                : "; %d more have bytes in pools, and were not checked".formatted(inPools));
  }
}
