package io.strata.kafka.it.starts;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * All files below some folders: names, sizes, contents, times of last modification and extended
 * attributes. Two of them are equal when nothing has changed in between. Immutable.
 *
 * @param files each file's or folder's line by its path
 */
record Fingerprint(Map<String, String> files) {

  static Fingerprint of(List<Path> trees) throws IOException {
    Map<String, String> files = new TreeMap<>();
    for (Path tree : trees) {
      try (Stream<Path> all = Files.walk(tree)) {
        for (Path file : all.toList()) {
          files.put(file.toString(), line(file));
        }
      }
    }
    return new Fingerprint(files);
  }

  private static String line(Path file) throws IOException {
    Map<String, String> attributes = new TreeMap<>();
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    for (String name : view.list()) {
      ByteBuffer value = ByteBuffer.allocate(view.size(name));
      view.read(name, value);
      attributes.put(name, StandardCharsets.UTF_8.decode(value.flip()).toString());
    }
    String content = "";
    if (Files.isRegularFile(file)) {
      CRC32C checksum = new CRC32C();
      byte[] bytes = Files.readAllBytes(file);
      checksum.update(bytes);
      content = bytes.length + " bytes " + HexFormat.of().toHexDigits((int) checksum.getValue());
    }
    return content + " " + Files.getLastModifiedTime(file) + " " + attributes;
  }
}
