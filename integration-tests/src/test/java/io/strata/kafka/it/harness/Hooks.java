package io.strata.kafka.it.harness;

import io.strata.kafka.tier.spec.TestHook;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The tests' {@link TestHook}, for the class path of a JVM that a test starts. */
public final class Hooks {

  private Hooks() {}

  /** What is done while a broker waits for its end. */
  public interface Deed {
    void run() throws Exception;
  }

  /**
   * Starts a stopped broker that has the hook, and waits until it has halted at the stage.
   *
   * @param as what a failure says of the run
   */
  public static void haltAt(StockBroker victim, String stage, String as, Deed meanwhile)
      throws InterruptedException {
    try {
      victim.systemProperty(TestHook.HALT, stage).startWithoutWaiting();
      meanwhile.run();
      int exitCode = victim.awaitExit(Waiting.LIMIT);
      if (exitCode != TestHook.HALTED) {
        throw new AssertionError("the broker ended with " + exitCode);
      }
    } catch (InterruptedException e) {
      throw e;
    } catch (Throwable t) {
      throw new AssertionError("at " + stage + ", " + as, t);
    } finally {
      victim.close();
      victim.withoutSystemProperty(TestHook.HALT);
    }
  }

  /** A folder with this class alone, to be put in front of the jar. */
  public static Path folder(Workspace work) throws IOException {
    return folder(work.folder("hook"));
  }

  /** The same in a folder of the caller's. */
  public static Path folder(Path folder) throws IOException {
    String name = TestHook.class.getName().replace('.', '/') + ".class";
    Path copy = folder.resolve(name);
    Files.createDirectories(copy.getParent());
    Files.copy(
        Distribution.classesOf(Hooks.class).resolve(name),
        copy,
        StandardCopyOption.REPLACE_EXISTING);
    return folder;
  }
}
