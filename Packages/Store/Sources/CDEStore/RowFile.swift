import Foundation

/// Rows of one entity in a temporary file, for work with more rows than should be in memory.
///
/// The file has no name. The system removes it when the value is freed, and when the process ends in any way. It is in the folder
/// that `TMPDIR` names, otherwise in `/var/tmp`, because `/tmp` is in memory on many systems.
public final class RowFile {
  // A batch is its number of rows and its bytes of text and blobs, both as words, then the words of the rows, then those bytes.
  private let layout: RowLayout
  private let descriptor: Int32
  private var size = 0

  /// Makes an empty file.
  ///
  /// - Parameters:
  ///   - layout: the layout of the rows in memory.
  ///   - folder: the folder of the file; nil for the one described above.
  /// - Throws: `.full`, `.tooManyOpenFiles`, `.io`.
  public init(_ layout: RowLayout, in folder: String? = nil) throws(StoreError) {
    self.layout = layout
    let folder = folder ?? Self.temporaryFolder
    var path = Array((folder + "/rows-XXXXXX").utf8CString)
    descriptor = path.withUnsafeMutableBufferPointer { mkstemp($0.baseAddress!) }
    if descriptor < 0 { throw Self.failure("make a temporary file in \(folder)") }
    unlink(path)
    // A program that the handler of an insertion starts must not keep the file.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { Foundation.close(descriptor) }

  private static var temporaryFolder: String {
    if let named = ProcessInfo.processInfo.environment["TMPDIR"], !named.isEmpty { return named }
    return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : FileManager.default.temporaryDirectory.path
  }

  /// Adds rows. The file does not keep the batch.
  ///
  /// - Throws: `.full`, `.io`. The file must not be used afterwards.
  public func append(_ batch: RowBatch) throws(StoreError) {
    var head = (batch.count, batch.arenaCount)
    try withUnsafeBytes(of: &head) { bytes throws(StoreError) in try write(bytes) }
    try write(UnsafeRawBufferPointer(start: batch.words, count: wordBytes(batch.count)))
    try write(UnsafeRawBufferPointer(start: batch.arena, count: batch.arenaCount))
  }

  /// Calls a body with all rows, batch by batch, in the order in which they were added. Each call makes new batches.
  ///
  /// - Throws: `.io`, and the errors of the body.
  public func forEachBatch(_ body: (RowBatch) throws(StoreError) -> Void) throws(StoreError) {
    var offset = 0
    while offset < size {
      var head = (0, 0)
      try withUnsafeMutableBytes(of: &head) { bytes throws(StoreError) in try read(bytes, at: &offset) }
      let (count, arenaCount) = head
      let words = UnsafeMutablePointer<UInt64>.allocate(capacity: max(count, 1) * layout.stride)
      let arena = UnsafeMutableRawPointer.allocate(byteCount: max(arenaCount, 1), alignment: 8)
      // Owns the memory from here on.
      let batch = RowBatch(
        layout: layout, count: count, words: words, arena: arena, arenaCount: arenaCount)
      try read(UnsafeMutableRawBufferPointer(start: words, count: wordBytes(count)), at: &offset)
      try read(UnsafeMutableRawBufferPointer(start: arena, count: arenaCount), at: &offset)
      try body(batch)
    }
  }

  private func wordBytes(_ rows: Int) -> Int { rows * layout.stride * MemoryLayout<UInt64>.size }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let buffer = UnsafeRawBufferPointer(rebasing: rest)
      let count = Foundation.write(descriptor, buffer.baseAddress!, buffer.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw Self.failure("write to a temporary file")
      }
      rest = rest.dropFirst(count)
    }
    size += bytes.count
  }

  private func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: inout Int) throws(StoreError) {
    var filled = 0
    while filled < bytes.count {
      let count = pread(descriptor, bytes.baseAddress! + filled, bytes.count - filled, off_t(offset))
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw Self.failure("read a temporary file") }
      // No other process can open the file.
      if count == 0 {
        throw StoreError(.io, "A temporary file ends too early. Check its disk. Nothing was saved.")
      }
      filled += count
      offset += count
    }
  }

  private static func failure(_ task: String) -> StoreError {
    let number = errno
    let (code, remedy): (StoreError.Code, String) =
      switch number {
      case ENOSPC, EDQUOT, EFBIG: (.full, "Make room on its disk, or name another folder by TMPDIR.")
      case EMFILE, ENFILE: (.tooManyOpenFiles, "Close files, or raise the limit of open files.")
      default: (.io, "Check the disk, and that the folder may be written; TMPDIR names another one.")
      }
    return StoreError(
      code, "The system can't \(task): \(String(cString: strerror(number))). \(remedy) Nothing was saved.")
  }
}
