package io.strata.kafka.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Our paths among themselves, and together with the JDK's. */
class DelegatingPathTest {

  private final FileSystem ours =
      new StrataFileSystemProvider(
              FileSystems.getDefault().provider(),
              () -> {
                throw new IOException("no tier");
              })
          .getFileSystem(URI.create("file:///"));

  private Path our(String path) {
    return ours.getPath(path);
  }

  @ParameterizedTest
  @CsvSource({
    "/a/b/../c.txt,/a",
    "a/./b,b",
    "'',a",
    "/,a/b",
    "/a,/a",
    "a/b/c,a/b",
    "../x,..",
    "/a/b,/c/d"
  })
  void behavesAsTheJdks(String first, String second) {
    Path jdk = Path.of(first);
    Path our = our(first);
    assertThat(our).hasToString(jdk.toString());
    assertThat(our.isAbsolute()).isEqualTo(jdk.isAbsolute());
    assertThat(String.valueOf(our.getRoot())).isEqualTo(String.valueOf(jdk.getRoot()));
    assertThat(String.valueOf(our.getFileName())).isEqualTo(String.valueOf(jdk.getFileName()));
    assertThat(String.valueOf(our.getParent())).isEqualTo(String.valueOf(jdk.getParent()));
    assertThat(our.getNameCount()).isEqualTo(jdk.getNameCount());
    assertThat(our.normalize()).hasToString(jdk.normalize().toString());
    assertThat(our.toAbsolutePath()).hasToString(jdk.toAbsolutePath().toString());
    assertThat(our.toUri()).isEqualTo(jdk.toUri());
    assertThat(our.toFile()).isEqualTo(jdk.toFile());
    assertThat(our.hashCode()).isEqualTo(our(first).hashCode());
    assertThat(names(our)).isEqualTo(names(jdk));
    for (Path other : List.of(our(second), Path.of(second))) {
      Path jdkOther = Path.of(second);
      assertThat(our.resolve(other)).isEqualTo(our(jdk.resolve(jdkOther).toString()));
      assertThat(our.resolveSibling(other)).isEqualTo(our(jdk.resolveSibling(jdkOther).toString()));
      assertThat(our.startsWith(other)).isEqualTo(jdk.startsWith(jdkOther));
      assertThat(our.endsWith(other)).isEqualTo(jdk.endsWith(jdkOther));
      assertThat(Integer.signum(our.compareTo(other)))
          .isEqualTo(Integer.signum(jdk.compareTo(jdkOther)));
      if (jdk.isAbsolute() == jdkOther.isAbsolute()) {
        assertThat(our.relativize(other)).isEqualTo(our(jdk.relativize(jdkOther).toString()));
      }
    }
    assertThat(our.resolve(second)).isEqualTo(our(jdk.resolve(second).toString()));
    assertThat(our.resolveSibling(second)).isEqualTo(our(jdk.resolveSibling(second).toString()));
    assertThat(our.startsWith(second)).isEqualTo(jdk.startsWith(second));
    assertThat(our.endsWith(second)).isEqualTo(jdk.endsWith(second));
  }

  private static List<String> names(Path path) {
    return StreamSupport.stream(path.spliterator(), false).map(Path::toString).toList();
  }

  @Test
  void partsAreOurs() throws IOException {
    Path path = our("/a/b/c");
    Path relative = path.relativize(our("/a/x"));
    for (Path part :
        List.of(
            path.getName(0),
            path.subpath(0, 2),
            path.getRoot(),
            path.getParent(),
            path.iterator().next(),
            path.normalize(),
            relative,
            our("").toRealPath(),
            ours.getRootDirectories().iterator().next())) {
      assertThat(part.getFileSystem()).isSameAs(ours);
    }
    assertThat(path.normalize()).isSameAs(path);
  }

  /** The JDK's path is never equal to ours, so ours must not be to the JDK's. */
  @Test
  void equalityKeepsTheKindsApart() {
    assertThat(our("/a")).isEqualTo(our("/a")).isNotEqualTo(our("/b")).isNotEqualTo(null);
    assertThat(our("/a").equals(Path.of("/a"))).isFalse();
    assertThat(Path.of("/a").equals(our("/a"))).isFalse();
    assertThat(Set.of(our("/a"), Path.of("/a"))).hasSize(2);
    assertThat(new TreeSet<>(List.of(our("b"), our("a"))).first()).isEqualTo(our("a"));
  }

  @Test
  void aThirdKindIsAMismatch(@TempDir Path directory) throws IOException {
    try (FileSystem zip =
        FileSystems.newFileSystem(directory.resolve("a.zip"), Map.of("create", "true"))) {
      Path zipped = zip.getPath("a");
      assertThatThrownBy(() -> our("/a").resolve(zipped))
          .isInstanceOf(ProviderMismatchException.class);
      assertThat(our("a").startsWith(zipped)).isFalse();
      assertThat(Files.isSameFile(our("/"), zipped)).isFalse();
    }
  }

  @Test
  void mixedKindsMeetInFiles(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("a"), "1");
    assertThat(Files.isSameFile(our(file.toString()), file)).isTrue();
    assertThat(Files.mismatch(our(file.toString()), file)).isEqualTo(-1);
    ours.provider().copy(our(file.toString()), directory.resolve("b"));
    assertThat(directory.resolve("b")).hasContent("1");
    Files.copy(our(file.toString()), directory.resolve("c"));
    assertThat(directory.resolve("c")).hasContent("1");
  }

  @Test
  void urisComeBack() {
    Path path = our("/a/ü b");
    assertThat(ours.provider().getPath(path.toUri())).isEqualTo(path);
    assertThatThrownBy(() -> ours.provider().getPath(URI.create("http://x/")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ours.provider().getFileSystem(URI.create("file:///a")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void watchesOnlyWithItsOwnService(@TempDir Path directory) throws IOException {
    try (WatchService own = ours.newWatchService();
        WatchService jdk = FileSystems.getDefault().newWatchService()) {
      Path watched = our(directory.toString());
      assertThat(watched.register(own, StandardWatchEventKinds.ENTRY_CREATE).watchable())
          .isEqualTo(watched);
      assertThat(own.poll()).isNull();
      assertThat(watched.register(jdk, StandardWatchEventKinds.ENTRY_CREATE).isValid()).isTrue();
      assertThatThrownBy(() -> directory.register(own, StandardWatchEventKinds.ENTRY_CREATE))
          .isInstanceOf(ProviderMismatchException.class);
    }
  }
}
