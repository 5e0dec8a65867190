package io.strata.kafka.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.strata.kafka.crash.Call;
import io.strata.kafka.crash.FailingFiles;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StrataFileSystemProviderTest {

  private static final String NAME = "00000000000000000000.log";
  private static final String OTHER_NAME = "00000000000000000042.log";
  private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2001-02-03T04:05:06Z"));
  private static final Path MEMORY_BACKED = Path.of("/dev/shm");

  private final byte[] content = content();
  private FakeTier tier = new FakeTier(Path.of(""), file -> false);
  private Path jdkDirectory = Path.of("");
  private Path directory = Path.of("");
  private Path segment = Path.of("");

  private static byte[] content() {
    byte[] content = new byte[700_001];
    new Random(1).nextBytes(content);
    return content;
  }

  @BeforeEach
  void createSegment(@TempDir Path temporary) throws IOException {
    tier = new FakeTier(Files.createDirectory(temporary.resolve("pool")), file -> true);
    jdkDirectory = Files.createDirectory(temporary.resolve("t-0"));
    directory = fileSystem(() -> tier).getPath(jdkDirectory.toString());
    segment = Files.write(directory.resolve(NAME), content);
    assertThat(Files.size(jdkDirectory.resolve(NAME))).as("bytes in the log file").isZero();
  }

  private static FileSystem fileSystem(StrataFileSystemProvider.Segments segments) {
    return new StrataFileSystemProvider(FileSystems.getDefault().provider(), segments)
        .getFileSystem(URI.create("file:///"));
  }

  private Path otherFileSystem() throws IOException {
    assumeTrue(Files.isDirectory(MEMORY_BACKED), "no /dev/shm");
    Path other = Files.createTempDirectory(MEMORY_BACKED, "strata-nio-");
    assumeTrue(
        !Files.getFileStore(other).equals(Files.getFileStore(jdkDirectory)), "one file system");
    return directory.getFileSystem().getPath(other.toString());
  }

  @Test
  void sizeIsTheLogicalOneInEveryKindOfAttributes() throws IOException {
    long size = content.length;
    assertThat(Files.size(segment)).isEqualTo(size);
    assertThat(Files.readAttributes(segment, BasicFileAttributes.class).size()).isEqualTo(size);
    assertThat(Files.readAttributes(segment, PosixFileAttributes.class).size()).isEqualTo(size);
    assertThat(Files.readAttributes(segment, "size,lastModifiedTime"))
        .containsEntry("size", size)
        .containsEntry("lastModifiedTime", Files.getLastModifiedTime(segment))
        .hasSize(2);
    assertThat(Files.readAttributes(segment, "unix:*")).containsEntry("size", size);
    assertThat(Files.readAttributes(segment, "posix:size")).isEqualTo(Map.of("size", size));
    assertThat(Files.readAttributes(segment, "isDirectory"))
        .isEqualTo(Map.of("isDirectory", false));
    assertThat(Files.getAttribute(segment, "basic:size")).isEqualTo(size);
    assertThat(
            Files.getFileAttributeView(segment, BasicFileAttributeView.class)
                .readAttributes()
                .size())
        .isEqualTo(size);
    assertThat(
            Files.getFileAttributeView(segment, PosixFileAttributeView.class)
                .readAttributes()
                .size())
        .isEqualTo(size);
  }

  @Test
  void sizeIsTheLogicalOneInWalks() throws IOException {
    List<Long> sizes = new ArrayList<>();
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            sizes.add(attributes.size());
            return FileVisitResult.CONTINUE;
          }
        });
    assertThat(sizes).containsExactly((long) content.length);
    try (Stream<Path> found = Files.find(directory, 1, (p, a) -> a.size() == content.length)) {
      assertThat(found).contains(segment);
    }
  }

  @Test
  void linksAndRelativePathsLeadToTheSegment() throws IOException {
    Path byFile =
        Files.createSymbolicLink(directory.resolve("newest"), directory.relativize(segment));
    Path byTwo = Files.createSymbolicLink(directory.resolve("link"), byFile);
    Path byDirectory =
        Files.createSymbolicLink(directory.resolveSibling("link-0"), directory).resolve(NAME);
    Path relative = directory.getFileSystem().getPath("").toAbsolutePath().relativize(segment);
    for (Path path : List.of(byFile, byTwo, byDirectory, relative, relative.toRealPath())) {
      assertThat(Files.size(path)).as("%s", path).isEqualTo(content.length);
      assertThat(Files.readAllBytes(path)).as("%s", path).isEqualTo(content);
      assertThat(Files.isSameFile(path, segment)).as("%s", path).isTrue();
    }
    assertThat(Files.readAttributes(byFile, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS))
        .matches(BasicFileAttributes::isSymbolicLink)
        .matches(attributes -> attributes.size() == NAME.length());
    Files.delete(byFile);
    assertThat(Files.exists(byTwo)).isFalse();
    assertThat(Files.readAllBytes(segment)).isEqualTo(content);
    assertThat(tier.hotFiles()).isEqualTo(1);
  }

  @Test
  void aLinkWithASegmentsNameToAnOrdinaryFileIsOrdinary() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "ordinary");
    Path link = Files.createSymbolicLink(directory.resolve(OTHER_NAME), file);
    assertThat(tier.placed()).isEqualTo(1);
    Files.writeString(link, "written");
    assertThat(Files.readString(file)).isEqualTo("written");
    assertThat(tier.placed()).isEqualTo(1);
  }

  @Test
  void loopsOfLinksFailAsTheyDo() throws IOException {
    Path loop = directory.resolve(OTHER_NAME);
    Files.createSymbolicLink(loop, loop);
    assertThatThrownBy(() -> Files.size(loop)).isExactlyInstanceOf(FileSystemException.class);
  }

  @Test
  void channelsAndStreamsReachThePool() throws IOException {
    try (FileChannel channel =
        FileChannel.open(segment, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.truncate(3);
      assertThat(channel.write(ByteBuffer.wrap("456".getBytes(StandardCharsets.US_ASCII)), 3))
          .isEqualTo(3);
    }
    try (OutputStream out = Files.newOutputStream(segment, StandardOpenOption.APPEND)) {
      out.write("789".getBytes(StandardCharsets.US_ASCII));
    }
    try (InputStream in = Files.newInputStream(segment)) {
      assertThat(in.skip(3)).isEqualTo(3);
      assertThat(new String(in.readAllBytes(), StandardCharsets.US_ASCII)).isEqualTo("456789");
    }
    try (var channel = Files.newByteChannel(segment)) {
      assertThat(channel.size()).isEqualTo(9);
    }
    Files.newOutputStream(segment).close();
    assertThat(Files.size(segment)).isZero();
    assertThat(tier.hotFiles()).isEqualTo(1);
  }

  @Test
  void whatASegmentCannotIsRefusedWithAReason() {
    assertThatThrownBy(() -> AsynchronousFileChannel.open(segment))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining(segment.toString())
        .hasMessageContaining("hot segment");
    assertThatThrownBy(() -> Files.newByteChannel(segment, StandardOpenOption.DELETE_ON_CLOSE))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("hot segment");
    assertThatThrownBy(() -> Files.createLink(directory.resolve("link"), segment))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("hot segment");
    assertThat(segment).exists();
  }

  @Test
  void aCopyHasAllBytesAndIsOrdinary() throws IOException {
    Path copy = Files.copy(segment, directory.resolve(OTHER_NAME));
    assertThat(jdk(copy)).hasBinaryContent(content);
    assertThat(Files.mismatch(segment, copy)).isEqualTo(-1);
    assertThatThrownBy(() -> Files.copy(segment, copy))
        .isExactlyInstanceOf(FileAlreadyExistsException.class);
    Files.writeString(copy, "another");
    Files.copy(segment, copy, StandardCopyOption.REPLACE_EXISTING);
    assertThat(jdk(copy)).hasBinaryContent(content);
    Files.copy(segment, segment, StandardCopyOption.REPLACE_EXISTING);
    assertThat(Files.readAllBytes(segment)).isEqualTo(content);
    assertThat(tier.placed()).isEqualTo(1);
  }

  @Test
  void aCopyWithAttributesLeavesTheTag() throws IOException {
    Files.setPosixFilePermissions(segment, PosixFilePermissions.fromString("rw-r-x---"));
    Files.setLastModifiedTime(segment, LONG_AGO);
    Files.setAttribute(segment, "user:colour", ByteBuffer.wrap(new byte[] {7}));
    Files.setAttribute(
        segment, SegmentTag.ATTRIBUTE.replace("user.", "user:"), ByteBuffer.wrap(new byte[] {8}));
    Path copy = Files.copy(segment, directory.resolve("copy"), StandardCopyOption.COPY_ATTRIBUTES);
    assertThat(jdk(copy)).hasBinaryContent(content);
    assertThat(Files.getLastModifiedTime(copy)).isEqualTo(LONG_AGO);
    assertThat(Files.getPosixFilePermissions(copy))
        .isEqualTo(PosixFilePermissions.fromString("rw-r-x---"));
    assertThat(Files.getAttribute(copy, "user:colour")).isEqualTo(new byte[] {7});
    assertThat(SegmentTag.read(jdk(segment).resolveSibling("copy"))).isEmpty();
  }

  @Test
  void aCopyGoesToOtherProviders(@TempDir Path temporary) throws IOException {
    Path zip = temporary.resolve("a.zip");
    try (FileSystem zipped = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
      Files.copy(segment, zipped.getPath(NAME));
      assertThat(Files.readAllBytes(zipped.getPath(NAME))).isEqualTo(content);
      Files.move(segment, zipped.getPath(OTHER_NAME));
      assertThat(Files.readAllBytes(zipped.getPath(OTHER_NAME))).isEqualTo(content);
    }
    assertThat(segment).doesNotExist();
    assertThat(tier.hotFiles()).isZero();
  }

  @Test
  void aHotTargetIsFreedWhenItIsReplaced() throws IOException {
    Path ordinary = jdkDirectory.resolve("file");
    Files.writeString(ordinary, "ordinary");
    Files.copy(directory.resolve("file"), segment, StandardCopyOption.REPLACE_EXISTING);
    assertThat(Files.readString(segment)).isEqualTo("ordinary");
    assertThat(tier.hotFiles()).isZero();
  }

  @Test
  void aFailedCopyKeepsAHotTarget() {
    assertThatThrownBy(
            () ->
                Files.copy(
                    directory.resolve("missing"), segment, StandardCopyOption.REPLACE_EXISTING))
        .isExactlyInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(
            () ->
                Files.move(
                    directory.resolve("missing"), segment, StandardCopyOption.REPLACE_EXISTING))
        .isExactlyInstanceOf(NoSuchFileException.class);
    assertThat(segment).hasSize(content.length);
  }

  @Test
  void aRenamedSegmentStaysHot() throws IOException {
    Path renamed = Files.move(segment, directory.resolve(NAME + ".deleted"));
    assertThat(Files.readAllBytes(renamed)).isEqualTo(content);
    Path other = Files.write(directory.resolve(OTHER_NAME), new byte[10]);
    assertThat(tier.hotFiles()).isEqualTo(2);
    Files.move(renamed, other, StandardCopyOption.ATOMIC_MOVE);
    assertThat(Files.readAllBytes(other)).isEqualTo(content);
    assertThat(jdk(other)).isEmptyFile();
    assertThat(tier.hotFiles()).isEqualTo(1);
    Path moved = Files.move(directory, directory.resolveSibling("t-0.deleted"));
    assertThat(Files.readAllBytes(moved.resolve(OTHER_NAME))).isEqualTo(content);
    Files.delete(moved.resolve(OTHER_NAME));
    assertThat(tier.hotFiles()).isZero();
    Files.delete(moved);
  }

  @Test
  void anOpenChannelFollowsARename() throws IOException {
    try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
      Path renamed = Files.move(segment, directory.resolve(NAME + ".deleted"));
      channel.truncate(5);
      assertThat(Files.size(renamed)).isEqualTo(5);
    }
  }

  @Test
  void aSegmentThatLosesItsNameIsCopied() throws IOException {
    Path target = directory.resolve("backup.bin");
    assertThatThrownBy(() -> Files.move(segment, target, StandardCopyOption.ATOMIC_MOVE))
        .isExactlyInstanceOf(AtomicMoveNotSupportedException.class)
        .hasMessageContaining("hot segment");
    Files.setLastModifiedTime(segment, LONG_AGO);
    Files.move(segment, target);
    assertThat(jdk(target)).hasBinaryContent(content);
    assertThat(Files.getLastModifiedTime(target)).isEqualTo(LONG_AGO);
    assertThat(segment).doesNotExist();
    assertThat(tier.hotFiles()).isZero();
  }

  @Test
  void aMoveToAnotherFileSystemCopiesAllBytes() throws IOException {
    Path other = otherFileSystem();
    Path target = other.resolve(NAME);
    try {
      assertThatThrownBy(() -> Files.move(segment, target, StandardCopyOption.ATOMIC_MOVE))
          .isExactlyInstanceOf(AtomicMoveNotSupportedException.class);
      Files.writeString(jdk(target), "in the way");
      assertThatThrownBy(() -> Files.move(segment, target))
          .isExactlyInstanceOf(FileAlreadyExistsException.class);
      assertThat(Files.size(segment)).isEqualTo(content.length);
      Files.move(segment, target, StandardCopyOption.REPLACE_EXISTING);
      assertThat(jdk(target)).hasBinaryContent(content);
      assertThat(segment).doesNotExist();
      assertThat(tier.hotFiles()).isZero();
    } finally {
      Files.deleteIfExists(target);
      Files.delete(other);
    }
  }

  @Test
  void deletingFrees() throws IOException {
    Files.delete(segment);
    assertThat(jdk(segment)).doesNotExist();
    assertThat(tier.hotFiles()).isZero();
    assertThatThrownBy(() -> Files.delete(segment)).isExactlyInstanceOf(NoSuchFileException.class);
    assertThat(Files.deleteIfExists(segment)).isFalse();
    Files.write(segment, content);
    assertThat(Files.deleteIfExists(segment)).isTrue();
    assertThat(tier.hotFiles()).isZero();
  }

  private interface SetTime {
    void set(Path file, FileTime time) throws IOException;
  }

  static Stream<SetTime> waysToSetATime() {
    return Stream.of(
        (file, time) -> Files.setLastModifiedTime(file, time),
        (file, time) -> Files.setAttribute(file, "lastModifiedTime", time),
        (file, time) -> Files.setAttribute(file, "unix:lastModifiedTime", time),
        (file, time) ->
            Files.getFileAttributeView(file, BasicFileAttributeView.class)
                .setTimes(time, null, null),
        (file, time) ->
            Files.getFileAttributeView(file, PosixFileAttributeView.class)
                .setTimes(time, time, null));
  }

  @ParameterizedTest
  @MethodSource("waysToSetATime")
  void aTimeThatIsSetComesBack(SetTime way) throws IOException {
    way.set(segment, LONG_AGO);
    assertThat(Files.getLastModifiedTime(segment)).isEqualTo(LONG_AGO);
    assertThat(Files.getLastModifiedTime(jdk(segment))).as("the log file's").isEqualTo(LONG_AGO);
  }

  /** As Kafka does first when it has loaded the logs; each partition's own file says nothing. */
  @Test
  void theTierKnowsThatTheLogsAreLoadedWhenKafkaReplacesACheckpoint() throws IOException {
    replace(directory.resolve("leader-epoch-checkpoint"));
    assertThat(tier.hasLoadedLogs()).isFalse();
    replace(directory.resolve("replication-offset-checkpoint"));
    assertThat(tier.hasLoadedLogs()).isTrue();
  }

  private static void replace(Path checkpoint) throws IOException {
    Path next = Files.writeString(Path.of(checkpoint + ".tmp"), "0");
    Files.move(
        checkpoint.resolveSibling(next.getFileName().toString()),
        checkpoint,
        StandardCopyOption.ATOMIC_MOVE);
  }

  /** Else Kafka would read, and append to, the log file, which lacks what the pool has. */
  @Test
  void aDiskThatCannotSayWhatAFileIsIsNoReasonToTakeTheLogFileForTheSegment() throws IOException {
    FailingFiles failing =
        new FailingFiles(
            FileSystems.getDefault(),
            (call, on, bytes) -> {
              if (call == Call.STATUS) {
                throw new IOException("Input/output error");
              }
              return bytes;
            });
    Path there =
        new StrataFileSystemProvider(failing, () -> tier)
            .getFileSystem(URI.create("file:///"))
            .getPath(segment.toString());
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> Files.readAllBytes(there),
            () -> Files.newByteChannel(there, StandardOpenOption.WRITE).close(),
            () -> Files.newOutputStream(there, StandardOpenOption.APPEND).close(),
            () -> Files.delete(there),
            () -> Files.move(there.getParent(), there.resolveSibling("elsewhere")))) {
      assertThatThrownBy(call)
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining("Input/output error");
    }
    assertThat(Files.readAllBytes(segment)).isEqualTo(content);
  }

  @Test
  void nothingButASegmentAsksForTheTier() throws IOException {
    Path there =
        fileSystem(
                () -> {
                  throw new IOException("no tier");
                })
            .getPath(jdkDirectory.toString());
    Path file = Files.writeString(there.resolve("00000000000000000000.index"), "1");
    assertThat(Files.size(file)).isEqualTo(1);
    Path copy = Files.copy(file, there.resolve("copy"));
    Files.move(copy, there.resolve("moved"));
    Files.move(there.resolve("moved"), there.resolve("replication-offset-checkpoint"));
    Files.delete(there.resolve("replication-offset-checkpoint"));
    try (FileChannel channel = FileChannel.open(there, StandardOpenOption.READ)) {
      channel.force(true);
    }
    assertThatThrownBy(() -> Files.size(there.resolve(NAME))).hasMessage("no tier");
    assertThatThrownBy(() -> Files.readAllBytes(there.resolve(NAME))).hasMessage("no tier");
    assertThatThrownBy(() -> Files.delete(there.resolve(NAME))).hasMessage("no tier");
  }

  /** The JDK's own path behind one of ours: what the file system really holds. */
  private static Path jdk(Path path) {
    return Path.of(path.toString());
  }
}
