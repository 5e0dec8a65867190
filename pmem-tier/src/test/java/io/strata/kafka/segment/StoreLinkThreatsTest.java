package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What somebody plants where a home's second name is given a file of its own. */
class StoreLinkThreatsTest {

  @TempDir private Path folder = Path.of("");

  @Test
  void aLinkAtTheTemporaryNameIsNotFollowed() throws IOException {
    Path victim = Files.writeString(folder.resolve("victim"), "somebody's bytes");
    Path home = Files.writeString(folder.resolve("0.log"), "a segment's bytes");
    Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rw-r-----"));
    Path object = folder.resolve("object");
    StoreLink link = StoreLink.record(home, object, object);
    Files.createLink(object, home);
    Files.createSymbolicLink(folder.resolve("object.unshared"), victim);

    assertThat(link.unshare()).isTrue();

    assertThat(victim).hasContent("somebody's bytes");
    assertThat(object).hasContent("a segment's bytes");
    assertThat(Files.isSameFile(object, home)).isFalse();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(object)))
        .isEqualTo("rw-r-----");
    assertThat(StoreLink.names(home)).isEqualTo(1);
  }

  /** The attribute names a file that is none of the store's: it is only ever compared. */
  @Test
  void anAttributeThatNamesAnotherFileDoesNothingToIt() throws IOException {
    Path victim = Files.writeString(folder.resolve("victim"), "somebody's bytes");
    Path home = Files.writeString(folder.resolve("0.log"), "a segment's bytes");
    Files.createLink(folder.resolve("second"), home);
    UserDefinedFileAttributeView attributes =
        Files.getFileAttributeView(home, UserDefinedFileAttributeView.class);
    for (String named : new String[] {victim.toString(), "/etc/passwd", "/nowhere/at/all"}) {
      attributes.write("strata.link", StandardCharsets.UTF_8.encode(named));
      assertThat(StoreLink.unshareIfThere(home)).as(named).isFalse();
    }
    assertThat(victim).hasContent("somebody's bytes");
    for (String malformed : new String[] {"relative", "", "a\u0000b", "\u001b[2J"}) {
      attributes.write("strata.link", ByteBuffer.wrap(malformed.getBytes(StandardCharsets.UTF_8)));
      assertThatThrownBy(() -> StoreLink.of(home))
          .as(malformed)
          .isInstanceOf(IOException.class)
          .satisfies(e -> assertThat(String.valueOf(e.getMessage())).doesNotContain("\u001b"));
    }
  }
}
