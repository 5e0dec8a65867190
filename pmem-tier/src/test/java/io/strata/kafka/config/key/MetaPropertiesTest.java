package io.strata.kafka.config.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
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

    MetaProperties meta = MetaProperties.read(directory);

    assertThat(meta.nodeId()).hasValue(4);
    assertThat(meta.clusterId()).contains("MkU3OEVBNTcwNTJENDM2Qg");
    assertThat(meta.directoryId()).contains(new UUID(1, 2));
  }

  @Test
  void knowsNothingOfADirectoryThatIsNotFormatted() throws IOException {
    MetaProperties meta = MetaProperties.read(directory);

    assertThat(meta.nodeId()).isEmpty();
    assertThat(meta.clusterId()).isEmpty();
    assertThat(meta.directoryId()).isEmpty();
  }

  @Test
  void refusesWhatKafkaWouldNotWrite() throws IOException {
    write("node.id=x\n");
    assertThatThrownBy(() -> MetaProperties.read(directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("meta.properties: found node.id=x");
    write("node.id=1\ndirectory.id=AAAA\n");
    assertThatThrownBy(() -> MetaProperties.read(directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("directory.id=AAAA");
  }

  private void write(String text) throws IOException {
    Files.writeString(directory.resolve(MetaProperties.FILE_NAME), text);
  }
}
