import CDESQLite

/// A structure of SQLite's with state of ours behind it, in one piece of memory.
///
/// SQLite asks a virtual table for such structures, and gives their addresses back.
enum Extended<Base, State> {
  private static var offset: Int {
    let alignment = MemoryLayout<State>.alignment
    return (MemoryLayout<Base>.size + alignment - 1) / alignment * alignment
  }

  static func make(_ base: Base, _ state: State) -> UnsafeMutablePointer<Base> {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: offset + MemoryLayout<State>.size,
      alignment: max(MemoryLayout<Base>.alignment, MemoryLayout<State>.alignment))
    (memory + offset).initializeMemory(as: State.self, to: state)
    return memory.initializeMemory(as: Base.self, to: base)
  }

  /// - Precondition: ``make(_:_:)`` returned the address.
  @inline(__always)
  static func state(_ base: UnsafeMutablePointer<Base>) -> UnsafeMutablePointer<State> {
    (UnsafeMutableRawPointer(base) + offset).assumingMemoryBound(to: State.self)
  }
}

extension Extended where Base == sqlite3_vtab {
  /// Connects a table: tells SQLite its columns, and gives it the structure with the state.
  static func connect(
    _ handle: OpaquePointer?, _ declaration: String, _ state: State,
    _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?
  ) -> Int32 {
    let code = sqlite3_declare_vtab(handle, declaration)
    guard code == SQLITE_OK else { return code }
    _ = cde_sqlite3_vtab_direct_only(handle)
    table?.pointee = make(sqlite3_vtab(), state)
    return SQLITE_OK
  }
}

extension sqlite3_module {
  /// What the modules of our tables have in common: the tables exist without a statement that creates them, any plan reads a table from its
  /// beginning to its end, and structures are freed without more.
  static func common() -> sqlite3_module {
    var module = sqlite3_module()
    module.xDisconnect = { table in
      table?.deallocate()
      return SQLITE_OK
    }
    module.xClose = { cursor in
      cursor?.deallocate()
      return SQLITE_OK
    }
    module.xBestIndex = { _, info in
      info!.pointee.estimatedCost = 1
      return SQLITE_OK
    }
    return module
  }

  /// The module in memory that is never freed, as SQLite needs it.
  func kept() -> UnsafePointer<sqlite3_module> {
    let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    module.initialize(to: self)
    return UnsafePointer(module)
  }
}
