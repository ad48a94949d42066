import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation

/// A small store, one transaction that does a bit of everything, and what SQL says before and after it.
struct FaultRig {
  typealias Mode = SQLiteStore.Configuration.JournalMode

  /// Few tables: each is a step or ten more at which creating the store may fail.
  static let schema = StoreSchema(
    entities: [
      StoreEntity(
        name: "Item",
        attributes: [
          StoreAttribute(name: "title", type: .string),
          StoreAttribute(name: "photo", type: .binary, allowsExternalStorage: true),
        ],
        relationships: [
          StoreRelationship(name: "category", destination: "Category", inverse: "items", isToMany: false),
          StoreRelationship(name: "tags", destination: "Tag", inverse: "items", isToMany: true),
        ]),
      StoreEntity(
        name: "Category", attributes: [StoreAttribute(name: "name", type: .string)],
        relationships: [
          StoreRelationship(name: "items", destination: "Item", inverse: "category", isToMany: true)
        ]),
      StoreEntity(
        name: "Tag", attributes: [StoreAttribute(name: "name", type: .string)],
        relationships: [
          StoreRelationship(name: "items", destination: "Item", inverse: "tags", isToMany: true)
        ]),
    ])

  let mode: Mode
  let before: [String]
  let after: [String]
  private let template = Scratch()
  private let query: String

  init(_ mode: Mode) throws {
    self.mode = mode
    let store = try Self.open(template.file(), mode)
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch(
        "Category", [Draft(key: -1, values: ["name": .text("old")]), Draft(key: -2)]
      ),
      store.batch(
        "Item",
        [
          Draft(key: -1, values: ["title": .text("stays")], references: ["category": -1]),
          Draft(key: -2, values: ["photo": .bytes([1] + Self.photo(3))]),
        ]),
      store.batch("Tag", [Draft(key: -1, values: ["name": .text("first")])]),
    ]
    transaction.links = [Self.link(store, 1, 1)]
    try _ = store.commit(transaction)
    try store.close()
    query = Self.query(for: template.file())
    before = try Self.contents(of: template, query)

    let copy = try Self.copy(template)
    let other = try Self.open(copy.file(), mode)
    _ = try other.commit(Self.change(of: other))
    try other.close()
    after = try Self.contents(of: copy, query)
  }

  /// A copy of the store as it is before the transaction.
  func fresh() throws -> Scratch { try Self.copy(template) }

  func open(_ path: String, _ faults: StoreFaults? = nil) throws -> SQLiteStore {
    try Self.open(path, mode, faults)
  }

  private static func open(
    _ path: String, _ mode: Mode, _ faults: StoreFaults? = nil
  ) throws -> SQLiteStore {
    try SQLiteStore.file(path, schema) {
      $0.journalMode = mode
      // Under faults a sync is a step and takes no time.
      $0.synchronous = faults == nil ? .off : .full
      $0.vfs = faults?.vfs
    }
  }

  static func copy(_ scratch: Scratch) throws -> Scratch {
    let copy = Scratch()
    try FileManager.default.removeItem(atPath: copy.path)
    try FileManager.default.copyItem(atPath: scratch.path, toPath: copy.path)
    return copy
  }

  private static func photo(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 140_000) }

  private static func link(_ store: SQLiteStore, _ item: Int64, _ tag: Int64) -> LinkChange {
    LinkChange(
      kind: .add, entity: store.index("Item"), slot: store.slot("Item", "tags"), owner: item, member: tag,
      order: nil)
  }

  /// Inserts with and without an external value, updates, deletes and links.
  static func change(of store: SQLiteStore) -> StoreTransaction {
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch(
        "Item",
        [
          Draft(key: -1, values: ["photo": .bytes([1] + photo(7))], references: ["category": 2]),
          Draft(key: -2, values: ["title": .text(String(repeating: "long ", count: 1_000))]),
        ]),
      store.batch("Tag", [Draft(key: -1, values: ["name": .text("second")])]),
    ]
    transaction.updated = [
      RowUpdate(
        batch: store.batch("Category", [Draft(key: 1, version: 2, values: ["name": .text("new")])]),
        changed: [[store.slot("Category", "name")]])
    ]
    transaction.deleted = [RowDeletion(entity: store.index("Item"), key: 2, version: 1)]
    transaction.links = [link(store, 1, -1), link(store, -1, 1), link(store, -1, -1)]
    return transaction
  }

  /// What the files hold, as another SQLite sees them.
  ///
  /// - Throws: where SQLite's own check finds damage.
  func contents(of scratch: Scratch) throws -> [String] { try Self.contents(of: scratch, query) }

  private static func contents(of scratch: Scratch, _ query: String) throws -> [String] {
    let rows = sql(scratch.file(), query)
    if rows.first != ["ok"] { throw StoreError(.unreadable, "\(rows.prefix(5))") }
    return rows.dropFirst().map { row in
      guard row[0] == "photo" else { return row.joined(separator: "|") }
      let bytes = scratch.bytes(".Test_SUPPORT/_EXTERNAL_DATA/" + row[2])
      return "photo of \(row[1]): \(bytes.map { "\($0.count) times \($0.first ?? 0)" } ?? "missing")"
    }
  }

  /// One text for all tables, since every question costs an opening.
  private static func query(for path: String) -> String {
    let columns = sql(
      path,
      """
      SELECT m.name, group_concat('"' || c.name || '"') FROM sqlite_master m, pragma_table_info(m.name) c
      WHERE m.type = 'table' AND m.name LIKE 'Z%' AND m.name <> 'Z_METADATA' AND c.name <> 'ZPHOTO'
      GROUP BY 1 ORDER BY 1
      """)
    return "PRAGMA integrity_check;"
      + columns.map { "SELECT '\($0[0])', \($0[1]) FROM \($0[0]) ORDER BY 1, 2, 3;" }.joined()
      + "SELECT 'photo', Z_PK, substr(ZPHOTO, 2) FROM ZITEM WHERE ZPHOTO IS NOT NULL"
  }
}
