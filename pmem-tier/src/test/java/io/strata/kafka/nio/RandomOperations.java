package io.strata.kafka.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.tier.directory.SegmentFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Random operations of {@code java.nio.file.Files} in one directory. Two that have one seed do the
 * same, and so may be compared step by step, whatever the providers are.
 */
final class RandomOperations {

  private static final List<String> NAMES =
      List.of(
          "a",
          "b.txt",
          "t-0",
          "t-1",
          "00000000000000000000.log",
          "00000000000000000001.log",
          "00000000000000000001.log.deleted",
          "t-0/00000000000000000000.log",
          "t-0/00000000000000000007.log",
          "t-0/00000000000000000000.log.swap",
          "t-1/00000000000000000000.log",
          "t-1/x",
          "t-0/t-1",
          "t-0/link",
          "link",
          "link/00000000000000000000.log");

  private static final List<OpenOption> OPEN_OPTIONS =
      List.of(
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          StandardOpenOption.APPEND,
          StandardOpenOption.CREATE,
          StandardOpenOption.CREATE_NEW,
          StandardOpenOption.TRUNCATE_EXISTING,
          LinkOption.NOFOLLOW_LINKS);

  /** How Kafka opens a segment that it will append to. */
  private static final List<OpenOption> KAFKA =
      List.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);

  private static final List<CopyOption> COPY_OPTIONS =
      List.of(
          StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.COPY_ATTRIBUTES,
          StandardCopyOption.ATOMIC_MOVE,
          LinkOption.NOFOLLOW_LINKS);

  /** Runs {@code operations} steps of both, which must agree throughout. */
  static void agree(RandomOperations expected, RandomOperations found, int operations)
      throws IOException {
    for (int i = 0; i < operations; i++) {
      String result = expected.step();
      assertThat(found.step())
          .as("operation %d, after%n%s", i, String.join("\n", expected.last()))
          .isEqualTo(result);
    }
    assertThat(found.tree()).isEqualTo(expected.tree());
  }

  /** Deletes the directory through its provider. */
  void deleteAll() throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> walk = Files.walk(root)) {
      walk.forEach(files::add);
    }
    for (int i = files.size() - 1; i >= 0; i--) {
      Files.delete(files.get(i));
    }
  }

  private interface Operation {
    Object run() throws Exception;
  }

  private final Path root;
  private final Random random;
  private final int longest;
  private final boolean cold;
  private final List<String> log = new ArrayList<>();

  /**
   * Operations below {@code root}.
   *
   * @param root an empty directory
   * @param longest most bytes to write at once
   * @param cold whether nothing is ever hot: then messages count too
   */
  RandomOperations(Path root, long seed, int longest, boolean cold) {
    this.longest = longest;
    this.cold = cold;
    this.root = root;
    this.random = new Random(seed);
  }

  List<String> last() {
    return log.subList(Math.max(0, log.size() - 25), log.size());
  }

  String step() {
    StringBuilder what = new StringBuilder();
    Operation operation = choose(what);
    String result;
    try {
      result = String.valueOf(operation.run());
    } catch (Exception e) {
      // What is not supported is told in other words by each JDK.
      boolean words = cold && !(e instanceof UnsupportedOperationException);
      result = e.getClass().getName() + (words ? ": " + e.getMessage() : "");
    }
    String line = (what + " -> " + result).replace(root.toString(), "<root>");
    log.add(line);
    return line;
  }

  private Path path(StringBuilder what) {
    Path path = root.resolve(NAMES.get(random.nextInt(NAMES.size())));
    what.append(' ').append(path);
    return path;
  }

  private <T> List<T> some(List<T> options, int most, StringBuilder what) {
    Set<T> chosen = new HashSet<>();
    int count = random.nextInt(most + 1);
    for (int i = 0; i < count; i++) {
      chosen.add(options.get(random.nextInt(options.size())));
    }
    List<T> sorted = new ArrayList<>(chosen);
    sorted.sort((x, y) -> x.toString().compareTo(y.toString()));
    what.append(' ').append(sorted);
    return sorted;
  }

  private LinkOption[] links(StringBuilder what) {
    return some(List.of(LinkOption.NOFOLLOW_LINKS), 1, what).toArray(new LinkOption[0]);
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(longest)];
    random.nextBytes(bytes);
    return bytes;
  }

  private Operation choose(StringBuilder what) {
    int kind = random.nextInt(28);
    what.append(kind);
    Path path = path(what);
    switch (kind) {
      case 0, 1 -> {
        byte[] bytes = bytes();
        return () -> relative(Files.write(path, bytes));
      }
      case 2 -> {
        return () -> relative(Files.createDirectory(path));
      }
      case 3 -> {
        return () -> {
          Files.delete(path);
          return "deleted";
        };
      }
      case 4 -> {
        return () -> Files.deleteIfExists(path);
      }
      case 5, 6 -> {
        Path target = path(what);
        CopyOption[] options = some(COPY_OPTIONS, 2, what).toArray(new CopyOption[0]);
        return () -> relative(Files.copy(path, target, options));
      }
      case 7, 8, 9 -> {
        Path target = path(what);
        List<CopyOption> chosen = some(COPY_OPTIONS, 2, what);
        if (!cold && !SegmentFiles.maybeSegment(target)) {
          // A hot segment refuses to be renamed to what is no segment's name; the JDK does not.
          chosen.remove(StandardCopyOption.ATOMIC_MOVE);
        }
        CopyOption[] options = chosen.toArray(new CopyOption[0]);
        return () -> relative(Files.move(path, target, options));
      }
      case 10 -> {
        return () -> Arrays.hashCode(Files.readAllBytes(path));
      }
      case 11 -> {
        return () -> Files.isRegularFile(path) ? Files.size(path) : -1;
      }
      case 12 -> {
        return () -> list(path);
      }
      case 13 -> {
        LinkOption[] options = links(what);
        return () -> attributes(Files.readAttributes(path, BasicFileAttributes.class, options));
      }
      case 14 -> {
        LinkOption[] options = links(what);
        return () -> {
          PosixFileAttributes attributes =
              Files.readAttributes(path, PosixFileAttributes.class, options);
          return attributes(attributes)
              + PosixFilePermissions.toString(attributes.permissions())
              + attributes.owner();
        };
      }
      case 15 -> {
        String names =
            some(List.of("*", "size,isDirectory", "unix:*", "posix:*", "unix:size", "bad"), 1, what)
                .toString()
                .replaceAll("[\\[\\]]", "");
        LinkOption[] options = links(what);
        return () -> attributes(Files.readAttributes(path, names, options));
      }
      case 16 -> {
        Path target = random.nextBoolean() ? path(what) : root.relativize(path(what)).getFileName();
        return () -> relative(Files.createSymbolicLink(path, target));
      }
      case 17 -> {
        Path other = path(what);
        return () -> Files.isSameFile(path, other);
      }
      case 18 -> {
        Path other = path(what);
        return () -> Files.mismatch(path, other);
      }
      case 19 -> {
        FileTime time = FileTime.fromMillis(random.nextInt() * 1_000L);
        LinkOption[] options = links(what);
        int how = random.nextInt(3);
        return () -> {
          switch (how) {
            case 0 -> Files.setLastModifiedTime(path, time);
            case 1 -> Files.setAttribute(path, "lastModifiedTime", time, options);
            default ->
                Files.getFileAttributeView(path, BasicFileAttributeView.class, options)
                    .setTimes(time, null, null);
          }
          return how == 0
              ? Files.getLastModifiedTime(path)
              : Files.getLastModifiedTime(path, options);
        };
      }
      case 20, 21, 22 -> {
        Set<OpenOption> options =
            new HashSet<>(random.nextBoolean() ? KAFKA : some(OPEN_OPTIONS, 4, what));
        byte[] bytes = bytes();
        long position = random.nextInt(longest + longest / 3);
        boolean fileChannel = random.nextBoolean();
        return () -> channel(path, options, bytes, position, fileChannel);
      }
      case 23 -> {
        OpenOption[] options = some(OPEN_OPTIONS, 2, what).toArray(new OpenOption[0]);
        return () -> {
          try (InputStream in = Files.newInputStream(path, options)) {
            long skipped = in.skip(10);
            return skipped + " " + Arrays.hashCode(in.readAllBytes());
          }
        };
      }
      case 24 -> {
        OpenOption[] options = some(OPEN_OPTIONS, 3, what).toArray(new OpenOption[0]);
        byte[] bytes = bytes();
        return () -> {
          try (OutputStream out = Files.newOutputStream(path, options)) {
            out.write(bytes);
          }
          return "written";
        };
      }
      case 25 -> {
        return () -> relative(path.toRealPath()) + " " + relative(Files.readSymbolicLink(path));
      }
      case 26 -> {
        return () ->
            Files.exists(path)
                + " "
                + Files.notExists(path)
                + " "
                + Files.isDirectory(path)
                + " "
                + Files.isSymbolicLink(path)
                + " "
                + Files.isReadable(path)
                + " "
                + Files.isExecutable(path)
                + " "
                + Files.isHidden(path)
                + " "
                + Files.getFileStore(path).name();
      }
      default -> {
        return this::tree;
      }
    }
  }

  private String channel(
      Path path, Set<OpenOption> options, byte[] bytes, long position, boolean fileChannel)
      throws IOException {
    try (SeekableByteChannel channel =
        fileChannel ? FileChannel.open(path, options) : Files.newByteChannel(path, options)) {
      StringBuilder result = new StringBuilder();
      result.append(channel.size());
      boolean writes =
          options.contains(StandardOpenOption.WRITE) || options.contains(StandardOpenOption.APPEND);
      if (writes) {
        channel.position(Math.min(position, channel.size()));
        result.append(' ').append(channel.write(ByteBuffer.wrap(bytes)));
        channel.truncate(position);
      } else {
        ByteBuffer buffer = ByteBuffer.allocate(2 * longest);
        result.append(' ').append(channel.position(position).read(buffer));
        result.append(' ').append(Arrays.hashCode(buffer.array()));
      }
      return result.append(' ').append(channel.size()).toString();
    }
  }

  private Object relative(Path path) {
    return path.startsWith(root) ? root.relativize(path) : path;
  }

  private Object list(Path path) throws IOException {
    Set<String> names = new TreeSet<>();
    try (Stream<Path> entries = Files.list(path)) {
      entries.forEach(entry -> names.add(relative(entry).toString()));
    }
    return names;
  }

  private String attributes(BasicFileAttributes attributes) {
    return (attributes.isRegularFile() ? "file " + attributes.size() : "")
        + attributes.isDirectory()
        + attributes.isSymbolicLink()
        + attributes.isOther();
  }

  /** Without what differs between any two files. */
  private Map<String, Object> attributes(Map<String, Object> attributes) {
    Map<String, Object> same = new TreeMap<>(attributes);
    same.keySet().removeIf(name -> name.endsWith("Time") || name.equals("fileKey"));
    same.keySet().removeAll(List.of("ino", "ctime", "nlink", "dev", "rdev"));
    if (!Boolean.TRUE.equals(attributes.get("isRegularFile"))) {
      same.remove("size"); // Of directories: the file system's own business.
    }
    return same;
  }

  Object tree() throws IOException {
    Map<String, String> tree = new TreeMap<>();
    try (Stream<Path> walk = Files.walk(root)) {
      for (Path path : (Iterable<Path>) walk::iterator) {
        String content = "";
        if (Files.isSymbolicLink(path)) {
          content = relative(Files.readSymbolicLink(path)).toString();
        } else if (Files.isRegularFile(path)) {
          content = new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1);
          content = content.length() + " " + content.hashCode();
        }
        tree.put(relative(path).toString(), content);
      }
    }
    return tree;
  }
}
