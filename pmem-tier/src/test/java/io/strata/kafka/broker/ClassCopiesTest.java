package io.strata.kafka.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.migration.remote.StrataRemoteStorageManager;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether a second copy of our classes is noticed. */
class ClassCopiesTest {

  private static final ClassLoader SYSTEM = ClassLoader.getSystemClassLoader();

  @Test
  void theBrokersClassPathIsRight() {
    assertThat(ClassCopies.problem(SYSTEM, SYSTEM, SYSTEM, SYSTEM, ClassCopies.class)).isEmpty();
  }

  /** An upgrade that leaves the old jar in Kafka's libs may run the old version. */
  @Test
  void severalJarsOnTheClassPathAreNamed() {
    String one = "/opt/kafka/libs/kafka-clients-4.3.1.jar:/opt/kafka/libs/strata-kafka-0.1.0.jar";

    assertThat(ClassCopies.severalJars(one + ":/opt/kafka/libs/strata-kafka-0.1.0.jar")).isEmpty();
    assertThat(ClassCopies.severalJars("/opt/kafka/bin/../libs/strata-kafka-0.1.0.jar:" + one))
        .isEmpty();
    assertThat(ClassCopies.severalJars("/opt/kafka/libs/strata-kafka-0.1.0-sources.jar:" + one))
        .isEmpty();
    assertThat(ClassCopies.severalJars("/opt/kafka/libs/mystrata-kafka-0.1.0.jar:" + one))
        .isEmpty();
    assertThat(ClassCopies.severalJars("/opt/kafka/libs/strata-kafka-0.0.9.jar:" + one))
        .get()
        .asString()
        .contains("2 jars of Strata")
        .contains(
            "(/opt/kafka/libs/strata-kafka-0.0.9.jar, /opt/kafka/libs/strata-kafka-0.1.0.jar)");
  }

  @Test
  void aWildcardIsEachJarOfItsDirectory(@TempDir Path libs) throws IOException {
    Path jar = Files.createFile(libs.toRealPath().resolve("strata-kafka-0.1.0.jar"));
    Path unused = Files.createFile(libs.resolve("kafka-clients-4.3.1.jar"));

    assertThat(ClassCopies.jars(libs + "/*:/nowhere/*")).containsExactly(jar.toString());
    assertThat(ClassCopies.jars(libs.toString())).isEmpty();
  }

  /** Kafka's loader of a class path is a child of the one that has Kafka's classes. */
  @Test
  void kafkasLoaderOfAnotherClassPathIsRefused() throws IOException {
    try (URLClassLoader kafkas = new URLClassLoader(new URL[0], SYSTEM)) {
      ClassLoader none = ClassLoader.getPlatformClassLoader();
      assertThat(ClassCopies.problem(kafkas, kafkas, SYSTEM, none, ClassCopies.class))
          .get()
          .extracting(ConfigProblem::message)
          .asString()
          .startsWith("remote.log.storage.manager.class.path: found Strata's manager loaded by")
          .contains("take it off that path");
    }
  }

  /** Strimzi always writes a class path, the text null where there is none. */
  @Test
  void kafkasLoaderOfAPathWithoutOurClassesGivesTheBrokers() throws Exception {
    try (URLClassLoader kafkas = new URLClassLoader(new URL[0], SYSTEM)) {
      Class<?> manager = kafkas.loadClass(StrataRemoteStorageManager.class.getName());
      assertThat(manager).isSameAs(StrataRemoteStorageManager.class);
      ClassLoader loader = manager.getClassLoader();
      assertThat(ClassCopies.problem(loader, SYSTEM, SYSTEM, SYSTEM, ClassCopies.class)).isEmpty();
    }
  }

  @Test
  void aSecondCopyIsRefused() throws IOException, ClassNotFoundException {
    try (OwnCopies loader = new OwnCopies()) {
      Class<?> second = loader.loadClass(ClassCopies.class.getName());
      assertThat(second).isNotSameAs(ClassCopies.class);

      assertThat(ClassCopies.problem(loader, loader, loader, SYSTEM, second)).isPresent();
      assertThat(ClassCopies.problem(loader, SYSTEM, SYSTEM, SYSTEM, ClassCopies.class))
          .isPresent();
    }
  }

  @Test
  void aProgramsOwnLoaderIsRightIfThereIsNoOther() throws IOException, ClassNotFoundException {
    try (OwnCopies loader = new OwnCopies()) {
      Class<?> only = loader.loadClass(ClassCopies.class.getName());

      assertThat(
              ClassCopies.problem(
                  loader, loader, loader, ClassLoader.getPlatformClassLoader(), only))
          .isEmpty();
    }
  }

  /** Loads a class of its own where the parent has one. */
  private static final class OwnCopies extends URLClassLoader {
    OwnCopies() {
      super(new URL[0], SYSTEM);
    }

    @Override
    public Class<?> loadClass(String name) throws ClassNotFoundException {
      if (!name.equals(ClassCopies.class.getName())) {
        return super.loadClass(name);
      }
      try (InputStream in = SYSTEM.getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] bytes = in == null ? new byte[0] : in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }
}
