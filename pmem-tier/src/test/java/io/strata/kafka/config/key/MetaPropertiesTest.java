package io.strata.kafka.config.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Kafka wrote about a log directory. */
class MetaPropertiesTest {

  @TempDir Path directory;

  @Test
  void readsWhatKafkaWrote() throws IOException {
    write(
        """
        version=1
        node.id=4
        cluster.id=MkU3OEVBNTcwNTJENDM2Qg
        directory.id=AAAAAAAAAAEAAAAAAAAAAg
        """);

    assertThat(MetaProperties.clusterId(directory)).contains("MkU3OEVBNTcwNTJENDM2Qg");
  }

  @Test
  void knowsNothingOfADirectoryThatIsNotFormatted() throws IOException {
    assertThat(MetaProperties.clusterId(directory)).isEmpty();
  }

  @Test
  void refusesWhatKafkaWouldNotWrite() throws IOException {
    write("cluster.id=\\u00zz\n");
    assertThatThrownBy(() -> MetaProperties.clusterId(directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("meta.properties: ")
        .hasMessageContaining("restore the file");
  }

  private void write(String text) throws IOException {
    Files.writeString(directory.resolve(MetaProperties.FILE_NAME), text);
  }
}
