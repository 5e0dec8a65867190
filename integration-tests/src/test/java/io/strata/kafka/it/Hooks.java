package io.strata.kafka.it;

import io.strata.kafka.tier.spec.TestHook;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The tests' {@link TestHook}, for the class path of a JVM that a test starts. */
final class Hooks {

  private Hooks() {}

  /** A folder with this class alone, to be put in front of the jar. */
  static Path folder(Workspace work) throws IOException {
    return folder(work.folder("hook"));
  }

  /** The same in a folder of the caller's. */
  static Path folder(Path folder) throws IOException {
    String name = TestHook.class.getName().replace('.', '/') + ".class";
    Path copy = folder.resolve(name);
    Files.createDirectories(copy.getParent());
    Files.copy(
        KafkaOwnTests.classesOf(Hooks.class).resolve(name),
        copy,
        StandardCopyOption.REPLACE_EXISTING);
    return folder;
  }
}
