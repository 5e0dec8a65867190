package io.strata.kafka.migration.remote.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Questions that a directory does not answer. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DirectoryAccessTest {

  private static final Duration PATIENCE = Duration.ofMillis(200);

  /** A minute, of a patience of five seconds. */
  private static final long MINUTE = PATIENCE.toNanos() * 12;

  private enum Mount {
    ANSWERS,
    HANGS,
    IS_GONE
  }

  private final CountDownLatch over = new CountDownLatch(1);
  private final AtomicLong now = new AtomicLong();
  private volatile Mount mount = Mount.ANSWERS;

  private final DirectoryAccess directory =
      new DirectoryAccess(
          "ssd:/a",
          new DirectoryAccess.Threads(
              Optional.of(DirectoryAccessTest::daemon), PATIENCE, now::get)) {
        @Override
        protected void probe() throws StoreUnavailableException {
          if (mount == Mount.IS_GONE) {
            throw new StoreUnavailableException("it is not mounted");
          }
          boolean hangs = mount == Mount.HANGS;
          while (hangs && over.getCount() > 0) {
            try {
              over.await();
            } catch (InterruptedException e) {
              // As in the kernel.
            }
          }
        }
      };

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  @AfterEach
  void end() {
    over.countDown();
    directory.close();
  }

  private void hang(int minutes) {
    mount = Mount.HANGS;
    for (int i = 0; i < minutes; i++) {
      assertThatThrownBy(directory::ask).isInstanceOf(StoreUnavailableException.class);
      long unused = now.addAndGet(MINUTE);
    }
  }

  /** The questions hang for ever in the old mount, and another one takes its place a day later. */
  @Test
  void aDirectoryThatIsBackAfterADayIsFound() throws Exception {
    hang(4 + 24 * 60);
    assertThat(directory.stuck()).isBetween(20, 31);
    mount = Mount.ANSWERS;
    long unused = now.addAndGet(64 * MINUTE);
    directory.ask();
    assertThat(directory.isSuspended()).isFalse();
  }

  /** What hung in an outage before does not make the next one longer. */
  @Test
  void aDirectoryIsFoundWithinAMinuteThoughQuestionsHangFromAnOutageBefore() throws Exception {
    hang(4 + 60);
    mount = Mount.ANSWERS;
    long unused = now.addAndGet(64 * MINUTE);
    directory.ask();
    mount = Mount.IS_GONE;
    assertThatThrownBy(directory::ask).hasMessage("it is not mounted");
    mount = Mount.ANSWERS;
    long unusedToo = now.addAndGet(MINUTE);
    directory.ask();
    assertThat(directory.isSuspended()).isFalse();
  }
}
