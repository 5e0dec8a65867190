package io.strata.kafka.tier;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.tests.mockfile.DisableFsyncFS;
import org.apache.lucene.tests.mockfile.ExtrasFS;
import org.apache.lucene.tests.mockfile.FilterFileSystemProvider;
import org.apache.lucene.tests.mockfile.HandleLimitFS;
import org.apache.lucene.tests.mockfile.LeakFS;
import org.apache.lucene.tests.mockfile.ShuffleFS;
import org.apache.lucene.tests.mockfile.WindowsFS;

/** The file system that log directories are on: the JDK's own, or one that is not. */
public enum FileSystemKind {
  /** The default one. */
  JDK {
    @Override
    FileSystem over(FileSystem jdk) {
      return jdk;
    }
  },
  /**
   * Lists a directory in an odd order, puts a file of its own into each new one, forces nothing,
   * and has few descriptors.
   */
  LUCENE {
    @Override
    FileSystem over(FileSystem jdk) {
      FileSystem noForce = rootOf(new DisableFsyncFS(jdk));
      FileSystem extras = rootOf(new ExtrasFS(noForce, true, false));
      FileSystem shuffled = rootOf(new ShuffleFS(extras, 7));
      return rootOf(new HandleLimitFS(shuffled, MOST_OPEN));
    }
  },
  /** Neither renames nor removes a file that is open. */
  WINDOWS {
    @Override
    FileSystem over(FileSystem jdk) {
      return rootOf(new WindowsFS(jdk));
    }
  },
  /** In memory, and opens no directory. */
  JIMFS {
    @Override
    FileSystem over(FileSystem jdk) {
      FileSystem memory =
          Jimfs.newFileSystem(Configuration.unix().toBuilder().setAttributeViews("unix").build());
      // Jimfs itself answers for its own URIs alone.
      return rootOf(new FilterFileSystemProvider("jimfs-root", memory) {});
    }
  };

  private static final int MOST_OPEN = 64;

  abstract FileSystem over(FileSystem jdk);

  /**
   * Returns a directory of the kind's file system, which has the same path.
   *
   * @param directory of the default one
   */
  public Path at(Path directory) throws IOException {
    FileSystem jdk = directory.getFileSystem();
    FileSystem kind = this == JDK ? jdk : rootOf(new Links(rootOf(new LeakFS(over(jdk)))));
    return Files.createDirectories(kind.getPath(directory.toString()));
  }

  /** Lucene's file systems tell where a link leads by a path of the one below. */
  private static final class Links extends FilterFileSystemProvider {
    Links(FileSystem below) {
      super("links", below);
    }

    @Override
    public Path readSymbolicLink(Path link) throws IOException {
      return fileSystem.getPath(super.readSymbolicLink(link).toString());
    }
  }

  /**
   * Requires that all files of a directory's file system are closed.
   *
   * @throws RuntimeException if some are open
   */
  public static void requireClosed(Path directory) throws IOException {
    if (directory.getFileSystem().provider() instanceof FilterFileSystemProvider) {
      directory.getFileSystem().close();
    }
  }

  private static FileSystem rootOf(FilterFileSystemProvider provider) {
    return provider.getFileSystem(URI.create("file:///"));
  }
}
