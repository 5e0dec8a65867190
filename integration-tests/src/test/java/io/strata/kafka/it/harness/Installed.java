package io.strata.kafka.it.harness;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What a broker's JVM may have of ours; the lines in server.properties are another matter. */
public enum Installed {
  /** Stock. */
  NOTHING(false, false),
  /** The jar on the class path, without the flag. */
  JAR(true, false),
  /** The flag, without the jar. */
  FLAG(false, true),
  /** As it should be. */
  JAR_AND_FLAG(true, true);

  /** The flag that a user adds to KAFKA_OPTS. */
  public static final String PROVIDER_FLAG =
      "-Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider";

  private final boolean jar;
  private final boolean flag;

  Installed(boolean jar, boolean flag) {
    this.jar = jar;
    this.flag = flag;
  }

  /**
   * Flag and class path; the same for a broker and for the tools of its user.
   *
   * @param kafka the class path of the stock broker
   * @param further jars on the class path, before the others
   */
  List<String> jvmOptions(String kafka, List<Path> further) {
    List<String> options = new ArrayList<>();
    if (flag) {
      options.add(PROVIDER_FLAG);
    }
    List<String> classPath = new ArrayList<>();
    further.forEach(path -> classPath.add(path.toString()));
    classPath.add(kafka);
    if (jar) {
      classPath.add(Distribution.strataJar().toString());
    }
    options.addAll(List.of("-cp", String.join(File.pathSeparator, classPath)));
    return options;
  }
}
