package io.strata.kafka.tier;

import io.strata.kafka.segment.HomeHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Tells a home that lacks the bytes of its head from one that is whole.
 *
 * <p>Thread safety: stateless.
 */
public final class HollowHome {

  private HollowHome() {}

  /**
   * Whether the file has no bytes, or begins with a hole: what home looks like while its bytes, or
   * the head of them, are in a pool. Home of a segment that never had a record looks the same.
   */
  public static boolean test(Path home) throws IOException {
    ByteBuffer head = ByteBuffer.allocate(HomeHead.LENGTH);
    try (FileChannel channel = FileChannel.open(home, StandardOpenOption.READ)) {
      while (head.hasRemaining() && channel.read(head) >= 0) {
        // Short reads are allowed.
      }
    }
    return head.flip().equals(ByteBuffer.allocate(head.limit()));
  }
}
