import CDESQLite
import CDEStore

/// A table for SQL of which each next row is the key that was asked last.
///
/// A statement that joins it with a table finds one row for each key, and does not end in between. A statement with the key
/// as a parameter ends after each row: SQLite then frees the cursor and the registers and allocates them again, which takes
/// as long as the look-up itself.
enum KeyTable {
  static let name = "cde_key"
  static let key = "key"

  /// The key that a statement takes next, and whether it was not taken yet.
  struct Slot {
    var key: Int64 = 0
    var isAsked = false
  }

  nonisolated(unsafe) private static let module = made().kept()
  // Guard: immutable once it is made; SQLite only reads it.

  /// - Parameter slot: the slot of the connection.
  /// - Precondition: The slot outlives the connection.
  static func register(on handle: OpaquePointer, _ slot: UnsafeMutablePointer<Slot>) throws(StoreError) {
    let code = sqlite3_create_module_v2(handle, name, module, slot, nil)
    guard code == SQLITE_OK else {
      throw EngineError.make(code, on: handle, while: "Registering the table \(name)")
    }
  }

  private static func made() -> sqlite3_module {
    var module = sqlite3_module.common()
    module.xConnect = { handle, slot, _, _, table, _ in
      Table.connect(
        handle, "CREATE TABLE asked(\(KeyTable.key) INTEGER)", slot!.assumingMemoryBound(to: Slot.self), table
      )
    }
    module.xOpen = { _, cursor in
      cursor?.pointee = Run.make(sqlite3_vtab_cursor(), Slot())
      return SQLITE_OK
    }
    module.xFilter = { cursor, _, _, _, _ in KeyTable.take(cursor!) }
    module.xNext = { cursor in KeyTable.take(cursor!) }
    module.xEof = { cursor in Run.state(cursor!).pointee.isAsked ? 0 : 1 }
    module.xColumn = { cursor, context, _ in
      sqlite3_result_int64(context, Run.state(cursor!).pointee.key)
      return SQLITE_OK
    }
    module.xRowid = { cursor, row in
      row?.pointee = Run.state(cursor!).pointee.key
      return SQLITE_OK
    }
    return module
  }

  /// Moves a run to the key that is asked. Without one the run is at its end.
  private static func take(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>) -> Int32 {
    let slot = Table.state(cursor.pointee.pVtab).pointee
    Run.state(cursor).pointee = slot.pointee
    slot.pointee.isAsked = false
    return SQLITE_OK
  }
}

private typealias Table = Extended<sqlite3_vtab, UnsafeMutablePointer<KeyTable.Slot>>
private typealias Run = Extended<sqlite3_vtab_cursor, KeyTable.Slot>
