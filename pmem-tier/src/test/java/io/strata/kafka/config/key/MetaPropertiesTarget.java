package io.strata.kafka.config.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.fuzz.FuzzTarget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A log directory's {@code meta.properties}. */
public final class MetaPropertiesTarget implements FuzzTarget {

  private final Path directory;

  public MetaPropertiesTarget() throws IOException {
    this.directory = Files.createTempDirectory("strata-fuzz");
    directory.toFile().deleteOnExit();
    directory.resolve(MetaProperties.FILE_NAME).toFile().deleteOnExit();
  }

  @Override
  public String name() {
    return "meta-properties";
  }

  @Override
  public void run(byte[] input) throws IOException {
    Path file = Files.write(directory.resolve(MetaProperties.FILE_NAME), input);
    try {
      assertThat(MetaProperties.clusterId(directory).map(String::isBlank))
          .isNotEqualTo(java.util.Optional.of(true));
    } catch (IOException e) {
      assertThat(e).hasMessageContaining(file.toString());
    }
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        FuzzTarget.text(
            "version=1\nnode.id=1\ncluster.id=abc\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ\n"),
        FuzzTarget.text("broker.id=99999999999\n"),
        FuzzTarget.text("directory.id=AAA\n"),
        FuzzTarget.text("directory.id=\\u00zz\n"));
  }
}
