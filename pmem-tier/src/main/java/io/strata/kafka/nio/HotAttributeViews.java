package io.strata.kafka.nio;

import java.io.IOException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.DosFileAttributeView;
import java.nio.file.attribute.DosFileAttributes;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The delegate's views on a file, whose reads and whose {@code setTimes} go through the provider: a
 * view is lazy, so whether its file is a hot segment is known only then.
 */
final class HotAttributeViews {

  private HotAttributeViews() {}

  /** Wraps a view that has sizes or times; any other as it is. */
  static <V extends FileAttributeView> V wrap(
      V view, Class<V> type, Path path, StrataFileSystemProvider provider, LinkOption... options) {
    if (type == BasicFileAttributeView.class) {
      return type.cast(new Basic<>((BasicFileAttributeView) view, path, provider, options));
    }
    if (type == PosixFileAttributeView.class) {
      return type.cast(new Posix((PosixFileAttributeView) view, path, provider, options));
    }
    if (type == DosFileAttributeView.class) {
      return type.cast(new Dos((DosFileAttributeView) view, path, provider, options));
    }
    return view;
  }

  private static class Basic<V extends BasicFileAttributeView> implements BasicFileAttributeView {

    final V delegate;
    private final Path path;
    private final StrataFileSystemProvider provider;
    private final LinkOption[] options;

    Basic(V delegate, Path path, StrataFileSystemProvider provider, LinkOption... options) {
      this.delegate = delegate;
      this.path = path;
      this.provider = provider;
      this.options = options.clone();
    }

    final <A extends BasicFileAttributes> A read(Class<A> type) throws IOException {
      return provider.readAttributes(path, type, options);
    }

    @Override
    public String name() {
      return delegate.name();
    }

    @Override
    public BasicFileAttributes readAttributes() throws IOException {
      return read(BasicFileAttributes.class);
    }

    @Override
    public void setTimes(
        @Nullable FileTime lastModified, @Nullable FileTime lastAccess, @Nullable FileTime created)
        throws IOException {
      delegate.setTimes(lastModified, lastAccess, created);
      if (lastModified != null) {
        provider.lastModifiedSet(path, lastModified, options);
      }
    }
  }

  private static final class Posix extends Basic<PosixFileAttributeView>
      implements PosixFileAttributeView {

    Posix(
        PosixFileAttributeView delegate,
        Path path,
        StrataFileSystemProvider provider,
        LinkOption... options) {
      super(delegate, path, provider, options);
    }

    @Override
    public PosixFileAttributes readAttributes() throws IOException {
      return read(PosixFileAttributes.class);
    }

    @Override
    public UserPrincipal getOwner() throws IOException {
      return delegate.getOwner();
    }

    @Override
    public void setOwner(UserPrincipal owner) throws IOException {
      delegate.setOwner(owner);
    }

    @Override
    public void setGroup(GroupPrincipal group) throws IOException {
      delegate.setGroup(group);
    }

    @Override
    public void setPermissions(Set<PosixFilePermission> permissions) throws IOException {
      delegate.setPermissions(permissions);
    }
  }

  private static final class Dos extends Basic<DosFileAttributeView>
      implements DosFileAttributeView {

    Dos(
        DosFileAttributeView delegate,
        Path path,
        StrataFileSystemProvider provider,
        LinkOption... options) {
      super(delegate, path, provider, options);
    }

    @Override
    public DosFileAttributes readAttributes() throws IOException {
      return read(DosFileAttributes.class);
    }

    @Override
    public void setReadOnly(boolean value) throws IOException {
      delegate.setReadOnly(value);
    }

    @Override
    public void setHidden(boolean value) throws IOException {
      delegate.setHidden(value);
    }

    @Override
    public void setSystem(boolean value) throws IOException {
      delegate.setSystem(value);
    }

    @Override
    public void setArchive(boolean value) throws IOException {
      delegate.setArchive(value);
    }
  }
}
