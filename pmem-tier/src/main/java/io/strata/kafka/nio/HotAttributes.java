package io.strata.kafka.nio;

import java.lang.reflect.Proxy;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.DosFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The attributes of a hot segment: the log file's, with the size and the time of last modification
 * that the segment has.
 *
 * @param size the logical size in bytes
 * @param lastModified when the segment was last written to
 */
record HotAttributes(long size, FileTime lastModified) {

  private static final String SIZE = "size";
  private static final String LAST_MODIFIED = "lastModifiedTime";

  private static final Set<Class<?>> OVERLAID =
      Set.of(BasicFileAttributes.class, PosixFileAttributes.class, DosFileAttributes.class);

  /** Whether the overlay would change any of {@code attributes}. */
  static boolean concerns(Map<String, Object> attributes) {
    return attributes.containsKey(SIZE) || attributes.containsKey(LAST_MODIFIED);
  }

  /** The log file's attributes by name, with ours in place of those that were asked for. */
  Map<String, Object> over(Map<String, Object> file) {
    Map<String, Object> attributes = new HashMap<>(file);
    attributes.replace(SIZE, size);
    attributes.replace(LAST_MODIFIED, lastModified);
    return attributes;
  }

  /** The log file's attributes, overlaid; those of an unknown type as they are. */
  <A extends BasicFileAttributes> A over(Class<A> type, A file) {
    if (!OVERLAID.contains(type)) {
      return file;
    }
    return type.cast(
        Proxy.newProxyInstance(
            HotAttributes.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case SIZE -> size;
                  case LAST_MODIFIED -> lastModified;
                  default -> method.invoke(file, arguments); // None throws a checked exception.
                }));
  }
}
