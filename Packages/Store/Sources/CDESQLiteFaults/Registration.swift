internal import CDESQLite
@_spi(CDE) internal import CDEExecutors

/// The file system in SQLite's form: a table of functions with a name.
final class Registration: Sendable {
  nonisolated(unsafe) private let methods: UnsafeMutablePointer<sqlite3_vfs>
  // Guard: only the owner's `init` and `deinit` change it, while no other thread uses the owner.
  /// The file system below this one.
  nonisolated(unsafe) let real: UnsafeMutablePointer<sqlite3_vfs>
  // Guard: SQLite's default, which any thread may call and which is never removed.
  let name: String

  private static let count = Lock(0)

  /// The same configuration as in the store layer. The first call of either configures the process.
  private static let isConfigured = cde_sqlite3_configure_process() == SQLITE_OK

  init() {
    _ = Self.isConfigured
    guard let real = sqlite3_vfs_find(nil) else { fatalError("SQLite has no file system.") }
    self.real = real
    let number = Self.count.withLock { count in
      count += 1
      return count
    }
    name = "cde-faults-\(number)"
    methods = .allocate(capacity: 1)
  }

  /// Registers the name. SQLite does not retain the owner.
  func register(for owner: StoreFaults) {
    methods.initialize(to: Self.functions)
    methods.pointee.szOsFile = Int32(MemoryLayout<ShimFile>.stride) + real.pointee.szOsFile
    methods.pointee.mxPathname = real.pointee.mxPathname
    methods.pointee.zName = UnsafePointer(Self.copy(name))
    methods.pointee.pAppData = Unmanaged.passUnretained(owner).toOpaque()
    sqlite3_vfs_register(methods, 0)
  }

  func unregister() {
    sqlite3_vfs_unregister(methods)
    UnsafeMutablePointer(mutating: methods.pointee.zName).deallocate()
    methods.deinitialize(count: 1)
    methods.deallocate()
  }

  private static func copy(_ text: String) -> UnsafeMutablePointer<CChar> {
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: byte) }
    return copy
  }

  private static func faults(_ methods: UnsafeMutablePointer<sqlite3_vfs>?) -> StoreFaults {
    Unmanaged<StoreFaults>.fromOpaque(methods!.pointee.pAppData).takeUnretainedValue()
  }

  /// A step without an open file.
  private static func step(
    _ operation: StoreStep.Operation, _ path: UnsafePointer<CChar>?,
    _ methods: UnsafeMutablePointer<sqlite3_vfs>?,
    _ body: (UnsafeMutablePointer<sqlite3_vfs>) -> Int32
  ) -> Int32 {
    let faults = faults(methods)
    let file = StoreStep.File(path: path.map { String(cString: $0) } ?? "")
    switch faults.verdict(on: operation, of: file, since: nil) {
    case .goesOn: return body(faults.registration.real)
    case .fails(let code), .endsHalfway(let code): return code
    }
  }

  // Version 2: without the functions by which SQLite's own tests replace system calls.
  private static var functions: sqlite3_vfs {
    var functions = sqlite3_vfs()
    functions.iVersion = 2
    functions.xOpen = { methods, path, file, flags, outFlags in
      ShimFile.open(Registration.faults(methods), path, file!, flags, outFlags)
    }
    functions.xDelete = { methods, path, syncs in
      Registration.step(.delete, path, methods) { $0.pointee.xDelete($0, path, syncs) }
    }
    functions.xAccess = { methods, path, flags, result in
      Registration.step(.access, path, methods) { $0.pointee.xAccess($0, path, flags, result) }
    }
    functions.xFullPathname = { methods, path, count, out in
      let real = Registration.faults(methods).registration.real
      return real.pointee.xFullPathname(real, path, count, out)
    }
    functions.xDlOpen = { methods, path in
      let real = Registration.faults(methods).registration.real
      return real.pointee.xDlOpen(real, path)
    }
    functions.xDlError = { methods, count, message in
      let real = Registration.faults(methods).registration.real
      real.pointee.xDlError(real, count, message)
    }
    functions.xDlSym = { methods, library, symbol in
      let real = Registration.faults(methods).registration.real
      return real.pointee.xDlSym(real, library, symbol)
    }
    functions.xDlClose = { methods, library in
      let real = Registration.faults(methods).registration.real
      real.pointee.xDlClose(real, library)
    }
    functions.xRandomness = { methods, count, bytes in
      let real = Registration.faults(methods).registration.real
      return real.pointee.xRandomness(real, count, bytes)
    }
    functions.xSleep = { methods, microseconds in
      let faults = Registration.faults(methods)
      // The plan refuses the lock again after the wait, so the wait is omitted.
      if faults.takesRefusal() { return microseconds }
      let real = faults.registration.real
      return real.pointee.xSleep(real, microseconds)
    }
    functions.xCurrentTime = { methods, time in
      let real = Registration.faults(methods).registration.real
      return real.pointee.xCurrentTime(real, time)
    }
    functions.xGetLastError = { methods, count, message in
      let real = Registration.faults(methods).registration.real
      return real.pointee.xGetLastError(real, count, message)
    }
    functions.xCurrentTimeInt64 = { methods, time in
      let real = Registration.faults(methods).registration.real
      return real.pointee.xCurrentTimeInt64(real, time)
    }
    return functions
  }
}
