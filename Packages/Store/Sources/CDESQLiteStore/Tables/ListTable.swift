import CDESQLite
import CDEStore

/// A table-valued function for SQL: the values of a list that a statement binds as one blob, in their order.
///
/// One text of a statement serves lists of any length, without a limit of parameters. A join can begin with the list. The
/// bytes are those of ``ListBytes``.
enum ListTable {
  static let name = "cde_list"
  static let value = "value"

  /// The columns of the table. The second one is the function's argument.
  private static let declaration = "CREATE TABLE list(\(value), bytes HIDDEN)"
  private static let argumentColumn: Int32 = 1

  nonisolated(unsafe) private static let module = made().kept()
  // Guard: immutable once it is made; SQLite only reads it.

  static func register(on handle: OpaquePointer) throws(StoreError) {
    let code = sqlite3_create_module_v2(handle, name, module, nil, nil)
    guard code == SQLITE_OK else {
      throw EngineError.make(code, on: handle, while: "Registering the table \(name)")
    }
  }

  /// Without `xCreate` the table exists without a statement that creates it.
  private static func made() -> sqlite3_module {
    var module = sqlite3_module.common()
    module.xConnect = { handle, _, _, _, table, _ in
      Extended.connect(handle, ListTable.declaration, (), table)
    }
    module.xBestIndex = { _, info in ListTable.plan(info!) }
    module.xOpen = { _, cursor in
      cursor?.pointee = Extended.make(sqlite3_vtab_cursor(), ListCursor())
      return SQLITE_OK
    }
    module.xClose = { cursor in
      Run.state(cursor!).pointee.end()
      cursor?.deallocate()
      return SQLITE_OK
    }
    module.xFilter = { cursor, _, _, _, arguments in Run.state(cursor!).pointee.begin(arguments?[0]) }
    module.xNext = { cursor in Run.state(cursor!).pointee.next() }
    module.xEof = { cursor in Run.state(cursor!).pointee.isAtEnd ? 1 : 0 }
    module.xColumn = { cursor, context, column in
      if column != ListTable.argumentColumn { Run.state(cursor!).pointee.reader.give(to: context) }
      return SQLITE_OK
    }
    module.xRowid = { cursor, row in
      row?.pointee = Run.state(cursor!).pointee.row
      return SQLITE_OK
    }
    return module
  }

  /// The list has to be known before the first row.
  private static func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>) -> Int32 {
    for index in 0..<Int(info.pointee.nConstraint) {
      let constraint = info.pointee.aConstraint[index]
      guard constraint.iColumn == argumentColumn, constraint.op == UInt8(SQLITE_INDEX_CONSTRAINT_EQ) else {
        continue
      }
      guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
      info.pointee.aConstraintUsage[index].argvIndex = 1
      info.pointee.aConstraintUsage[index].omit = 1
      info.pointee.estimatedCost = 1
      return SQLITE_OK
    }
    return SQLITE_CONSTRAINT
  }
}

private typealias Run = Extended<sqlite3_vtab_cursor, ListCursor>

/// A run through a list.
private struct ListCursor {
  private var list = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private(set) var reader = ListReader(UnsafeRawBufferPointer(start: nil, count: 0))
  private(set) var row: Int64 = 0
  private(set) var isAtEnd = true

  /// Copies the list, because SQLite keeps an argument for this call only.
  mutating func begin(_ argument: OpaquePointer?) -> Int32 {
    list.deallocate()
    let bytes = UnsafeRawBufferPointer(
      start: sqlite3_value_blob(argument), count: Int(sqlite3_value_bytes(argument)))
    list = .allocate(byteCount: bytes.count, alignment: 1)
    list.copyMemory(from: bytes)
    reader = ListReader(UnsafeRawBufferPointer(list))
    row = 0
    return next()
  }

  mutating func next() -> Int32 {
    isAtEnd = reader.isAtEnd
    if isAtEnd { return SQLITE_OK }
    row += 1
    return reader.next() ? SQLITE_OK : SQLITE_ERROR
  }

  mutating func end() { list.deallocate() }
}
