package io.strata.kafka.memory;

import java.io.IOException;
import net.bytebuddy.asm.Advice;

/** What {@link ShadowPatch} appends to {@link MemoryOpener#open}: the body is copied into it. */
@SuppressWarnings("UnusedVariable") // the method that the body is copied into uses it
final class ShadowAdvice {
  private ShadowAdvice() {}

  @Advice.OnMethodExit
  static void exit(@Advice.Return(readOnly = false) PersistentMemory returned) throws IOException {
    returned = ShadowMemory.over(returned);
  }
}
