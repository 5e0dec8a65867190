package io.strata.kafka.crash;

import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A file or directory of the simulated log directory: what it is now, what of that is durable, and
 * what it was in between.
 *
 * <p>A file's pages, its size and each of its attributes reach the medium independently of each
 * other, at any value that they have had since the file was last forced. A page may be torn at
 * sectors. A directory's entries are {@link SimJournal}'s business.
 *
 * <p>Thread safety: none; a simulation has one thread.
 */
final class SimInode {

  static final int PAGE = 4096;
  private static final int SECTOR = 512;
  private static final int VERSIONS_KEPT = 3;
  private static final byte[] HOLE = new byte[PAGE];

  final long id;
  final boolean directory;

  /** Of a directory: what is in it now. */
  final TreeMap<String, SimInode> entries = new TreeMap<>();

  /** Of a directory: what is in it for certain. */
  final TreeMap<String, SimInode> durableEntries = new TreeMap<>();

  FileTime modified = FileTime.fromMillis(0);

  /** Pages are never changed: a write puts another one in its place. Missing ones are holes. */
  private final Map<Integer, byte[]> pages = new HashMap<>();

  private long size;

  /** What pages held since the file was forced, by number; the certain version is first. */
  private final TreeMap<Integer, List<byte[]>> pagesBefore = new TreeMap<>();

  private final List<Long> sizesBefore = new ArrayList<>();

  private final TreeMap<String, byte[]> attributes = new TreeMap<>();
  private final TreeMap<String, List<Optional<byte[]>>> attributesBefore = new TreeMap<>();

  SimInode(long id, boolean directory) {
    this.id = id;
    this.directory = directory;
  }

  long size() {
    return size;
  }

  private byte[] page(int number) {
    return pages.getOrDefault(number, HOLE);
  }

  private void page(int number, byte[] bytes) {
    remember(pagesBefore.computeIfAbsent(number, n -> new ArrayList<>()), page(number));
    if (bytes == HOLE) {
      pages.remove(number);
    } else {
      pages.put(number, bytes);
    }
  }

  /** Keeps the first version, which is the certain one, and the newest few. */
  private static <T> void remember(List<T> before, T version) {
    if (before.size() == VERSIONS_KEPT) {
      before.remove(1);
    }
    before.add(version);
  }

  private void resize(long newSize) {
    if (newSize != size) {
      remember(sizesBefore, size);
      size = newSize;
    }
  }

  int read(long position, byte[] target, int offset, int length) {
    int count = (int) Math.min(length, size - position);
    for (int done = 0; done < count; ) {
      int within = (int) ((position + done) % PAGE);
      int piece = Math.min(PAGE - within, count - done);
      byte[] from = page((int) ((position + done) / PAGE));
      System.arraycopy(from, within, target, offset + done, piece);
      done += piece;
    }
    return count;
  }

  void write(long position, byte[] source) {
    for (int done = 0; done < source.length; ) {
      int number = (int) ((position + done) / PAGE);
      int within = (int) ((position + done) % PAGE);
      int piece = Math.min(PAGE - within, source.length - done);
      byte[] changed = page(number).clone();
      System.arraycopy(source, done, changed, within, piece);
      page(number, changed);
      done += piece;
    }
    resize(Math.max(size, position + source.length));
  }

  void truncate(long newSize) {
    if (newSize >= size) {
      return;
    }
    int kept = (int) ((newSize + PAGE - 1) / PAGE);
    for (int number : List.copyOf(pages.keySet())) {
      if (number >= kept) {
        page(number, HOLE);
      }
    }
    int within = (int) (newSize % PAGE);
    if (within > 0 && pages.containsKey(kept - 1)) {
      byte[] cut = page(kept - 1).clone();
      Arrays.fill(cut, within, PAGE, (byte) 0);
      page(kept - 1, cut);
    }
    resize(newSize);
  }

  Optional<byte[]> attribute(String name) {
    return Optional.ofNullable(attributes.get(name));
  }

  List<String> attributeNames() {
    return List.copyOf(attributes.keySet());
  }

  void attribute(String name, Optional<byte[]> value) {
    remember(attributesBefore.computeIfAbsent(name, n -> new ArrayList<>()), attribute(name));
    if (value.isPresent()) {
      attributes.put(name, value.get());
    } else {
      attributes.remove(name);
    }
  }

  /** Makes bytes and size durable, and attributes if asked for. */
  void force(boolean metaData) {
    pagesBefore.clear();
    sizesBefore.clear();
    if (metaData) {
      attributesBefore.clear();
    }
  }

  /** All but the entries, with what is not certain. */
  SimInode copy() {
    SimInode copy = new SimInode(id, directory);
    copy.modified = modified;
    copy.pages.putAll(pages);
    copy.size = size;
    pagesBefore.forEach((number, before) -> copy.pagesBefore.put(number, new ArrayList<>(before)));
    copy.sizesBefore.addAll(sizesBefore);
    copy.attributes.putAll(attributes);
    attributesBefore.forEach(
        (name, before) -> copy.attributesBefore.put(name, new ArrayList<>(before)));
    return copy;
  }

  /** All but the entries, as a power cut leaves it. */
  SimInode powerCut(Loss loss) {
    SimInode left = new SimInode(id, directory);
    left.modified = modified;
    left.pages.putAll(pages);
    long inode = id << 32;
    Loss.Fate fate = loss.fate(id);
    left.size =
        switch (fate) {
          case BY_PAGE -> version(sizesBefore, size, loss, Loss.Sort.SIZE, inode);
          case CUT -> cutSize(loss);
          case WHOLE, ZEROED, FLIPPED -> size;
        };
    pagesBefore.forEach(
        (number, before) ->
            left.pages.put(number, page(number, before.get(0), fate, loss, inode + number)));
    left.pages.keySet().removeIf(number -> (long) number * PAGE >= left.size);
    int within = (int) (left.size % PAGE);
    int last = (int) (left.size / PAGE);
    if (within > 0 && left.pages.containsKey(last)) {
      byte[] cut = left.page(last).clone();
      Arrays.fill(cut, within, PAGE, (byte) 0);
      left.pages.put(last, cut);
    }
    left.attributes.putAll(attributes);
    attributesBefore.forEach(
        (name, before) -> {
          Optional<byte[]> chosen =
              version(before, attribute(name), loss, Loss.Sort.ATTRIBUTE, inode + name.hashCode());
          left.attributes.remove(name);
          chosen.ifPresent(value -> left.attributes.put(name, value));
        });
    return left;
  }

  /** Between what is certain, where that is less, and what is. */
  private long cutSize(Loss loss) {
    long certain = sizesBefore.isEmpty() ? size : sizesBefore.get(0);
    return certain + loss.choose((int) Math.max(0, size - certain) + 1, Loss.Sort.SIZE, id);
  }

  private byte[] page(int number, byte[] certain, Loss.Fate fate, Loss loss, long item) {
    List<byte[]> before = pagesBefore.getOrDefault(number, List.of());
    return switch (fate) {
      case BY_PAGE ->
          torn(version(before, page(number), loss, Loss.Sort.PAGE, item), certain, loss, item);
      case WHOLE, CUT -> page(number);
      case ZEROED -> certain;
      case FLIPPED -> flipped(page(number), certain, loss, item);
    };
  }

  private static byte[] flipped(byte[] page, byte[] certain, Loss loss, long item) {
    int first = Arrays.mismatch(page, certain);
    if (first < 0) {
      return page;
    }
    byte[] flipped = page.clone();
    int at = first + loss.choose(PAGE - first, Loss.Sort.PAGE, item);
    if (page[at] != certain[at]) {
      flipped[at] ^= (byte) (1 << loss.choose(Byte.SIZE, Loss.Sort.SECTOR, item));
    }
    return flipped;
  }

  private static <T> T version(List<T> before, T now, Loss loss, Loss.Sort sort, long item) {
    if (before.isEmpty() || loss.keeps(sort, item)) {
      return now;
    }
    return loss.oneIn(3, sort, item)
        ? before.get(loss.choose(before.size(), sort, item))
        : before.get(0);
  }

  private static byte[] torn(byte[] chosen, byte[] certain, Loss loss, long item) {
    if (chosen == certain || !loss.oneIn(6, Loss.Sort.PAGE, item)) {
      return chosen;
    }
    byte[] torn = chosen.clone();
    for (int sector = 0; sector < PAGE / SECTOR; sector++) {
      if (!loss.keeps(Loss.Sort.SECTOR, item * (PAGE / SECTOR) + sector)) {
        System.arraycopy(certain, sector * SECTOR, torn, sector * SECTOR, SECTOR);
      }
    }
    return torn;
  }
}
