package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Optional;

/**
 * Text in a file's extended attributes, in UTF-8. Names are those below {@code user.}, which is all
 * that the JDK's attribute view reaches.
 *
 * <p>Thread safety: stateless.
 */
final class UserAttributes {

  /** How often an attribute that comes and goes is looked for. */
  private static final int ATTEMPTS = 5;

  private UserAttributes() {}

  /**
   * The value of an attribute.
   *
   * @param limit more bytes than a value has
   * @return empty when the file has no such attribute
   */
  static Optional<String> read(Path file, String name, int limit) throws IOException {
    UserDefinedFileAttributeView view = view(file);
    for (int attempt = 1; ; attempt++) {
      ByteBuffer value = ByteBuffer.allocate(limit);
      try {
        view.read(name, value);
        return Optional.of(StandardCharsets.UTF_8.decode(value.flip()).toString());
      } catch (FileSystemException e) {
        // The JDK has no type for "no such attribute": ask for the names, off the usual path.
        if (!view.list().contains(name)) {
          return Optional.empty();
        }
        // A broker in another process may have written it since: try again.
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** Sets an attribute, in place of any value that it has. */
  static void write(Path file, String name, String value) throws IOException {
    int unused = view(file).write(name, StandardCharsets.UTF_8.encode(value));
  }

  /**
   * Removes an attribute.
   *
   * @return whether there was one
   */
  static boolean remove(Path file, String name) throws IOException {
    UserDefinedFileAttributeView view = view(file);
    try {
      view.delete(name);
      return true;
    } catch (FileSystemException e) {
      if (!view.list().contains(name)) {
        return false;
      }
      throw e;
    }
  }

  private static UserDefinedFileAttributeView view(Path file) throws IOException {
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    if (view == null) {
      throw new IOException(
          file
              + ": its file system offers no user attributes, which tie a segment to its slot in"
              + " the pool; put the log directory on one that does (ext4, XFS, or tmpfs from Linux"
              + " 6.6 on)");
    }
    return view;
  }
}
