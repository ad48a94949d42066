internal import CDESQLite

/// The memory that SQLite allocates for an open file: this structure, followed by that of the real file.
struct ShimFile {
  private var base: sqlite3_file
  /// An ``OpenFile``, retained.
  private var owner: UnsafeMutableRawPointer?

  /// Opens the real file, and puts this file in front of it.
  static func open(
    _ faults: StoreFaults, _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>,
    _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    let memory = UnsafeMutableRawPointer(file)
    let shim = memory.assumingMemoryBound(to: ShimFile.self)
    shim.pointee.base.pMethods = nil
    let kind = StoreStep.File(openFlags: flags, path: path.map { String(cString: $0) } ?? "")
    let life = faults.life
    if let kind {
      switch faults.verdict(on: .open, of: kind, since: life) {
      case .goesOn: break
      case .fails(let code), .endsHalfway(let code): return code
      }
    }
    let real = (memory + MemoryLayout<ShimFile>.stride).assumingMemoryBound(to: sqlite3_file.self)
    real.pointee.pMethods = nil
    let system = faults.registration.real
    let code = system.pointee.xOpen(system, path, real, flags, outFlags)
    // A file that could not be opened has no methods and is not closed.
    guard let methods = real.pointee.pMethods else { return code }
    let sharesMemory = methods.pointee.iVersion >= 2 && methods.pointee.xShmMap != nil
    let opened = OpenFile(faults: faults, kind: kind, life: life, real: real)
    shim.pointee.owner = Unmanaged.passRetained(opened).toOpaque()
    shim.pointee.base.pMethods = UnsafePointer(sharesMemory ? FileMethods.sharing : FileMethods.plain)
    return code
  }

  static func owner(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Unmanaged<OpenFile> {
    .fromOpaque(UnsafeMutableRawPointer(file!).assumingMemoryBound(to: ShimFile.self).pointee.owner!)
  }
}

/// The state of an open file. It retains its faults.
final class OpenFile {
  let faults: StoreFaults
  /// Nil for SQLite's temporary files, which have no faults.
  let kind: StoreStep.File?
  private let life: Int
  let real: UnsafeMutablePointer<sqlite3_file>

  init(
    faults: StoreFaults, kind: StoreStep.File?, life: Int, real: UnsafeMutablePointer<sqlite3_file>
  ) {
    self.faults = faults
    self.kind = kind
    self.life = life
    self.real = real
  }

  var methods: sqlite3_io_methods { real.pointee.pMethods.pointee }

  /// Whether the process has died in the simulation of this file's connection.
  var isDead: Bool { kind != nil && faults.isDead(since: life) }

  func verdict(on operation: StoreStep.Operation) -> Verdict {
    kind.map { faults.verdict(on: operation, of: $0, since: life) } ?? .goesOn
  }

  /// Executes a step on the real file, unless the plan lets it fail.
  func step(_ operation: StoreStep.Operation, _ body: (OpenFile) -> Int32) -> Int32 {
    switch verdict(on: operation) {
    case .goesOn: body(self)
    case .fails(let code), .endsHalfway(let code): code
    }
  }
}

extension StoreStep.File {
  /// The kind of a file to be opened; `nil` for temporary files.
  init?(openFlags flags: Int32, path: String) {
    if flags & SQLITE_OPEN_MAIN_DB != 0 {
      self = .database
    } else if flags & SQLITE_OPEN_WAL != 0 {
      self = .log
    } else if flags & SQLITE_OPEN_MAIN_JOURNAL != 0 {
      self = .journal
    } else if flags & SQLITE_OPEN_SUPER_JOURNAL != 0 {
      // Files that the store itself reads and writes: external values, and the headers of its log and
      // journal.
      self =
        path.hasSuffix("-wal") || path.hasSuffix("-journal") ? StoreStep.File(path: path) : .externalValue
    } else {
      return nil
    }
  }
}
