internal import CDESQLite

/// The functions of an open file, for files with and without shared memory.
///
/// Releasing locks, memory or descriptors is no step and also works after a crash, because the system
/// releases them when a process dies.
enum FileMethods {
  nonisolated(unsafe) static let plain = table(sharesMemory: false)
  // Guard: written once, before any code can use it, and never again.
  nonisolated(unsafe) static let sharing = table(sharesMemory: true)
  // Guard: written once, before any code can use it, and never again.

  // Version 2: without mapping the file into memory, because a read of mapped memory would be no step.
  private static func table(sharesMemory: Bool) -> UnsafeMutablePointer<sqlite3_io_methods> {
    var methods = sqlite3_io_methods()
    methods.iVersion = 2
    addContents(to: &methods)
    addLocks(to: &methods)
    if sharesMemory { addSharedMemory(to: &methods) }
    let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    table.initialize(to: methods)
    return table
  }

  private static func addContents(to methods: inout sqlite3_io_methods) {
    methods.xClose = { file in
      let owner = ShimFile.owner(file)
      defer { owner.release() }
      return owner._withUnsafeGuaranteedRef { $0.methods.xClose($0.real) }
    }
    methods.xRead = { file, bytes, count, offset in
      ShimFile.owner(file)._withUnsafeGuaranteedRef {
        $0.step(.read) { $0.methods.xRead($0.real, bytes, count, offset) }
      }
    }
    methods.xWrite = { file, bytes, count, offset in
      ShimFile.owner(file)._withUnsafeGuaranteedRef { file in
        switch file.verdict(on: .write) {
        case .goesOn: return file.methods.xWrite(file.real, bytes, count, offset)
        case .fails(let code): return code
        case .endsHalfway(let code):
          // A file's first sector is written completely or not at all, because it needs no further space.
          if offset > 0 || count > 512 { _ = file.methods.xWrite(file.real, bytes, count / 2, offset) }
          return code
        }
      }
    }
    methods.xTruncate = { file, size in
      ShimFile.owner(file)._withUnsafeGuaranteedRef {
        $0.step(.truncate) { $0.methods.xTruncate($0.real, size) }
      }
    }
    // Data that a process has written survives the process. Only a power failure requires a sync.
    methods.xSync = { file, _ in
      ShimFile.owner(file)._withUnsafeGuaranteedRef { $0.step(.sync) { _ in SQLITE_OK } }
    }
    methods.xFileSize = { file, size in
      ShimFile.owner(file)._withUnsafeGuaranteedRef {
        $0.step(.size) { $0.methods.xFileSize($0.real, size) }
      }
    }
    methods.xFileControl = { file, operation, argument in
      ShimFile.owner(file)._withUnsafeGuaranteedRef {
        $0.isDead ? SQLITE_IOERR : $0.methods.xFileControl($0.real, operation, argument)
      }
    }
    methods.xSectorSize = { file in
      ShimFile.owner(file)._withUnsafeGuaranteedRef { $0.methods.xSectorSize($0.real) }
    }
    methods.xDeviceCharacteristics = { file in
      ShimFile.owner(file)._withUnsafeGuaranteedRef { $0.methods.xDeviceCharacteristics($0.real) }
    }
  }

  private static func addLocks(to methods: inout sqlite3_io_methods) {
    methods.xLock = { file, level in
      ShimFile.owner(file)._withUnsafeGuaranteedRef {
        $0.step(.lock) { $0.methods.xLock($0.real, level) }
      }
    }
    methods.xUnlock = { file, level in
      ShimFile.owner(file)._withUnsafeGuaranteedRef { $0.methods.xUnlock($0.real, level) }
    }
    methods.xCheckReservedLock = { file, result in
      ShimFile.owner(file)._withUnsafeGuaranteedRef {
        $0.isDead ? StoreStep.Operation.lock.failure : $0.methods.xCheckReservedLock($0.real, result)
      }
    }
  }

  private static func addSharedMemory(to methods: inout sqlite3_io_methods) {
    methods.xShmMap = { file, region, size, extends, memory in
      ShimFile.owner(file)._withUnsafeGuaranteedRef {
        $0.step(.mapIndex) { $0.methods.xShmMap($0.real, region, size, extends, memory) }
      }
    }
    methods.xShmLock = { file, offset, count, flags in
      ShimFile.owner(file)._withUnsafeGuaranteedRef {
        if flags & SQLITE_SHM_UNLOCK != 0 { return $0.methods.xShmLock($0.real, offset, count, flags) }
        return $0.step(.lockIndex) { $0.methods.xShmLock($0.real, offset, count, flags) }
      }
    }
    methods.xShmBarrier = { file in
      ShimFile.owner(file)._withUnsafeGuaranteedRef { $0.methods.xShmBarrier($0.real) }
    }
    methods.xShmUnmap = { file, deletes in
      ShimFile.owner(file)._withUnsafeGuaranteedRef {
        $0.methods.xShmUnmap($0.real, $0.isDead ? 0 : deletes)
      }
    }
  }
}
