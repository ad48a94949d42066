import CDESQLite
import CDEStore

/// SQLite's file system for a store, for files that the store itself reads and writes.
///
/// The file system of a store's configuration (see ``SQLiteStore/Configuration/vfs``) therefore gets all
/// accesses to the store's files.
///
/// - Precondition: no other code of this process opens the database's own file. Closing any descriptor of it
///   releases all locks of SQLite, and another process would then remove the log.
struct FileSystem: @unchecked Sendable {
  // Guard: any thread may call SQLite's file systems. They exist while they are registered.
  let methods: UnsafeMutablePointer<sqlite3_vfs>

  /// - Parameter name: the file system's name; `nil` for SQLite's default.
  init(named name: String?) throws(StoreError) {
    _ = ProcessConfiguration.isDone
    guard let found = sqlite3_vfs_find(name) else {
      throw StoreError(
        .cannotOpen,
        "SQLite has no file system named \(name ?? "(default)"). Register it before the store is opened.")
    }
    methods = found
  }

  enum Access {
    /// Reads the database's file while others may have it open.
    case database
    /// Reads a file that is no database: a log, a journal or an external value.
    case reading
    /// Makes a new file. It is an error if the file exists.
    case creating
  }

  func open(_ path: String, for access: Access, while task: String) throws(StoreError) -> File {
    let name = sqlite3_create_filename(path, "", "", 0, nil)
    guard let name else { throw error(SQLITE_NOMEM, while: task) }
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Int(methods.pointee.szOsFile), alignment: MemoryLayout<Int>.alignment)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(methods.pointee.szOsFile))
    let file = memory.assumingMemoryBound(to: sqlite3_file.self)
    let flags =
      switch access {
      case .database: SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB
      // SQLite's type for files that are stored with a database and are never locked. The types of a log and
      // of a journal can't be opened without the database.
      case .reading: SQLITE_OPEN_READONLY | SQLITE_OPEN_SUPER_JOURNAL
      case .creating:
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_SUPER_JOURNAL
      }
    let code = methods.pointee.xOpen(methods, name, file, flags, nil)
    guard code == SQLITE_OK else {
      // This is the first step, because any call may change the system's error number.
      let failure = error(code, while: task)
      _ = File(self, memory: memory, name: UnsafePointer(name))
      throw failure
    }
    return File(self, memory: memory, name: UnsafePointer(name))
  }

  private func error(_ code: Int32, while task: String) -> StoreError {
    let system = methods.pointee.xGetLastError.map { $0(methods, 0, nil) } ?? 0
    return EngineError.make(
      code, system: system, detail: String(cString: sqlite3_errstr(code)), while: task)
  }

  /// Waits briefly, as SQLite does between two attempts.
  func pause() { _ = methods.pointee.xSleep(methods, 1_000) }

  /// Removes a file, if possible.
  func remove(_ path: String) { _ = methods.pointee.xDelete(methods, path, 0) }

  /// An open file. It is closed when it is freed.
  final class File {
    private let system: FileSystem
    private let memory: UnsafeMutableRawPointer
    private let name: UnsafePointer<CChar>
    private var file: UnsafeMutablePointer<sqlite3_file> { memory.assumingMemoryBound(to: sqlite3_file.self) }

    fileprivate init(
      _ system: FileSystem, memory: UnsafeMutableRawPointer, name: UnsafePointer<CChar>
    ) {
      self.system = system
      self.memory = memory
      self.name = name
    }

    deinit {
      if let methods = file.pointee.pMethods { _ = methods.pointee.xClose(file) }
      memory.deallocate()
      sqlite3_free_filename(UnsafeMutablePointer(mutating: name))
    }

    func size(while task: String) throws(StoreError) -> Int {
      var size: Int64 = 0
      try check(file.pointee.pMethods.pointee.xFileSize(file, &size), task)
      return Int(size)
    }

    /// The first bytes of the file, up to a limit.
    func read(upTo limit: Int, while task: String) throws(StoreError) -> [UInt8] {
      try read(min(limit, try size(while: task)), at: 0, while: task)
    }

    /// A number of bytes from an offset on. Bytes after the end are zero.
    func read(_ count: Int, at offset: Int, while task: String) throws(StoreError) -> [UInt8] {
      var code = SQLITE_OK
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        while code == SQLITE_OK, filled < count {
          let amount = min(count - filled, File.largestCall)
          code = file.pointee.pMethods.pointee.xRead(
            file, buffer.baseAddress! + filled, Int32(amount), Int64(offset + filled))
          if code == Self.shortRead { code = SQLITE_OK }
          filled += amount
        }
      }
      try check(code, task)
      return bytes
    }

    func write(_ bytes: UnsafeRawBufferPointer, while task: String) throws(StoreError) {
      var written = 0
      while written < bytes.count {
        let amount = min(bytes.count - written, File.largestCall)
        try check(
          file.pointee.pMethods.pointee.xWrite(
            file, bytes.baseAddress! + written, Int32(amount), Int64(written)), task)
        written += amount
      }
    }

    /// Waits until all data is on the disk.
    func sync(while task: String) throws(StoreError) {
      try check(file.pointee.pMethods.pointee.xSync(file, SQLITE_SYNC_NORMAL), task)
    }

    // SQLite itself requests as much at a time. Its file system for Unix can't read 128 KB in one call.
    private static let largestCall = 1 << 16

    // SQLite has filled the rest with zeros.
    private static let shortRead: Int32 = SQLITE_IOERR | 2 << 8

    private func check(_ code: Int32, _ task: String) throws(StoreError) {
      if code != SQLITE_OK { throw system.error(code, while: task) }
    }
  }
}
