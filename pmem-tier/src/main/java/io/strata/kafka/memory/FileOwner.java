package io.strata.kafka.memory;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;

/** The owner of what a command creates that root runs. Stateless. */
public final class FileOwner {

  private FileOwner() {}

  /**
   * Gives a file or directory that root has created to the owner of another one: the broker, which
   * runs as that user, could not open it. Does nothing where this process may not.
   *
   * @param created is changed itself, and not what it points to if it is a link by now
   */
  public static void share(Path created, Path with) throws IOException {
    PosixFileAttributeView view =
        Files.getFileAttributeView(created, PosixFileAttributeView.class, NOFOLLOW_LINKS);
    if (view == null) {
      return;
    }
    PosixFileAttributes wanted = Files.readAttributes(with, PosixFileAttributes.class);
    if (view.readAttributes().owner().equals(wanted.owner())) {
      return;
    }
    try {
      // The owner first: of their own files others than root may change the group.
      view.setOwner(wanted.owner());
      view.setGroup(wanted.group());
    } catch (FileSystemException notRoot) {
      return; // It stays this user's, as every file that a user creates.
    }
  }
}
