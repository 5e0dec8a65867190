package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Files of what was read from the cold manager, a piece of a segment each: in the first directory
 * of the fastest level, below {@code cache/<broker>}. A file appears by a rename. Nothing is
 * forced, since every byte is checked when it is read.
 */
public final class PieceFiles {

  private static final Pattern NAME = Pattern.compile("([A-Za-z0-9_-]{22})-(\\d{1,9})");

  private final LogReads reads = new LogReads();
  private final SegmentStore store;
  private final StoreDirectory directory;
  private final Path place;

  /** Which piece: the remote segment's id, which is never used twice, and a number from 0. */
  public record Piece(String id, int number) {}

  public PieceFiles(SegmentStore store) {
    this.store = store;
    directory = store.directories().get(0);
    place = place(directory);
  }

  private Path place(StoreDirectory in) {
    return in.path().resolve(StoreNames.CACHE).resolve(Integer.toString(store.brokerId()));
  }

  private Path file(Piece piece) {
    return place.resolve(piece.id() + "-" + piece.number());
  }

  /**
   * Removes what this broker's earlier processes have not written whole, and all files that are not
   * where they would be now. A directory that cannot be used keeps what it has.
   *
   * @param used whether pieces are kept now
   */
  public void removeLeftovers(boolean used) throws InterruptedException {
    for (StoreDirectory each : store.directories()) {
      Path there = place(each);
      boolean partsAlone = used && each.equals(directory);
      try {
        each.write("removing leftovers in " + there, c -> removeLeftovers(there, partsAlone));
      } catch (IOException e) {
        // The next start tries it again.
      }
    }
  }

  private static boolean removeLeftovers(Path there, boolean partsAlone) throws IOException {
    if (!partsAlone) {
      Disk.removeTree(there);
      return true;
    }
    for (Path file : StoreListing.entries(there)) {
      if (StoreListing.name(file).endsWith(StoreNames.PART)) {
        boolean unused = Files.deleteIfExists(file);
      }
    }
    return true;
  }

  /** Finds the pieces that are there, with their lengths. */
  public Map<Piece, Integer> list() throws IOException, InterruptedException {
    return directory.write("listing " + place, control -> listThere());
  }

  private Map<Piece, Integer> listThere() throws IOException {
    Map<Piece, Integer> found = new HashMap<>();
    for (Path file : StoreListing.entries(place)) {
      Matcher name = NAME.matcher(StoreListing.name(file));
      if (name.matches()) {
        Piece piece = new Piece(name.group(1), Integer.parseInt(name.group(2)));
        found.put(piece, (int) Math.min(Integer.MAX_VALUE, Files.size(file)));
      }
    }
    return found;
  }

  /**
   * Keeps a piece, if its directory takes it in its time: readers wait for it.
   *
   * @throws StoreUnavailableException if the directory cannot be written now
   */
  public void write(Piece piece, ByteBuffer bytes) throws IOException, InterruptedException {
    Path file = file(piece);
    directory.access().checkWritable();
    directory.brief(
        "writing " + file,
        control -> {
          directory.checkAvailable();
          Path unused = Files.createDirectories(place);
          Disk.replaceUnforced(file, part -> Disk.write(part, bytes.duplicate()));
          return file;
        });
  }

  /**
   * Reads from a piece.
   *
   * @param begin the segment's byte that is the piece's first
   * @param from the first byte that is read, from 0
   * @param at where it goes in the target
   * @param limit the longest that the caller waits
   * @return how many bytes were read, at least one
   * @throws CorruptChunkException if it is not what was written
   * @throws java.nio.file.NoSuchFileException if it is not there
   */
  public int read(
      Piece piece,
      ChunkChecksums chunks,
      long begin,
      int from,
      ReadTarget target,
      int at,
      Duration limit)
      throws IOException, InterruptedException {
    Path file = file(piece);
    return directory
        .access()
        .read(
            "reading " + file,
            limit,
            control -> {
              long end = begin + Files.size(file);
              int count = reads.fill(file, chunks, begin, begin + from, end, target, at, control);
              if (count == 0) {
                throw new CorruptChunkException(
                    "%s: found %d bytes, expected more than %d".formatted(file, end - begin, from));
              }
              return count;
            });
  }

  /** Removes a piece; returns whether it is gone. */
  public boolean remove(Piece piece) {
    try {
      directory.write("removing " + file(piece), control -> Files.deleteIfExists(file(piece)));
      return true;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
