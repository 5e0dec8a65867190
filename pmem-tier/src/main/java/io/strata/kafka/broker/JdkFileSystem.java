package io.strata.kafka.broker;

import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.spi.FileSystemProvider;
import org.jspecify.annotations.Nullable;

/**
 * The JDK's own default file system, also when Strata's provider has taken its place.
 *
 * <p>The tier works on the JDK's paths only, so that nothing it does with a file comes back to it
 * through the provider. Thread safety: noted once, while the JVM boots; read by any thread.
 */
public final class JdkFileSystem {

  private static volatile @Nullable FileSystemProvider noted;

  private JdkFileSystem() {}

  /** Called by our provider's constructor, while the JVM boots: it does nothing but note it. */
  public static void note(FileSystemProvider jdkProvider) {
    noted = jdkProvider;
  }

  /** Returns whether Strata's provider is the JVM's default provider. */
  public static boolean providerActive() {
    // The JVM makes its provider when it is first asked for one.
    FileSystem unused = FileSystems.getDefault();
    return noted != null;
  }

  /** The JDK's path of the same name. */
  static Path path(Path any) {
    FileSystemProvider provider = noted;
    FileSystem jdk =
        provider == null
            ? FileSystems.getDefault()
            : provider.getFileSystem(URI.create("file:///"));
    return jdk.getPath(any.toString());
  }
}
