#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation

  /// What a writer's steps write, computed from a seed. Step by step the same in the writer and in the test that checks it.
  ///
  /// A step inserts some items and links them to the writer's tag, raises the writer's counter to its own number, and may delete
  /// the items of the step before the last. The transaction's author is the writer and the step.
  struct Ledger: Sendable {
    let seed: UInt64
    let writer: String

    private func random(_ step: Int) -> SplitMix {
      var mixed = seed ^ (UInt64(bitPattern: Int64(step)) &* 0x9E37_79B9_7F4A_7C15)
      for byte in writer.utf8 { mixed = (mixed ^ UInt64(byte)) &* 0x100_0000_01B3 }
      return SplitMix(seed: mixed)
    }

    func itemCount(_ step: Int) -> Int {
      var random = random(step)
      return Int.random(in: 1...4, using: &random)
    }

    /// Whether a step deletes the items of the step before the last.
    func deletes(_ step: Int) -> Bool {
      var random = random(-step)
      return step > 2 && Int.random(in: 0..<8, using: &random) > 0
    }

    func titles(_ step: Int) -> [String] { (0..<itemCount(step)).map { "\(writer).\(step).\($0)" } }

    func author(_ step: Int) -> String { "\(writer) \(step)" }

    /// Everything that the store has of the writer after its first steps.
    func state(after last: Int) -> Set<String> {
      guard last > 0 else { return [] }
      var result: Set = ["counter \(writer) \(last) version \(last)", "tag \(writer) version 1"]
      for step in 1...last where !deletes(step + 2) || step + 2 > last {
        for title in titles(step) {
          result.formUnion(["item \(title) \(step) version 1", "link \(title) \(writer)"])
        }
      }
      return result
    }

    /// The same as the server has it.
    func storedState(_ connection: Connection) throws -> Set<String> {
      let found = try connection.texts(
        """
        SELECT concat('counter ', "ZNAME", ' ', "ZCODE", ' version ', "Z_OPT") FROM "ZCATEGORY" WHERE "ZNAME" = '\(writer)'
        UNION ALL SELECT concat('tag ', "ZNAME", ' version ', "Z_OPT") FROM "ZTAG" WHERE "ZNAME" = '\(writer)'
        UNION ALL SELECT concat('item ', "ZTITLE1", ' ', "ZBIG", ' version ', "Z_OPT") FROM "ZITEM" \
        WHERE "ZTITLE1" >= '\(writer).' AND "ZTITLE1" < '\(writer)/'
        UNION ALL SELECT concat('link ', coalesce("ZTITLE1", 'of no item'), ' ', "ZNAME") FROM "ZTAG" t \
        JOIN "Z_2TAGS" ON "Z_5TAGS" = t."Z_PK" LEFT JOIN "ZITEM" i ON i."Z_PK" = "Z_2ITEMS" WHERE "ZNAME" = '\(writer)'
        """)
      let state = Set(found)
      return state.count == found.count ? state : state.union(["a line is there twice"])
    }

    /// The last step that the store has.
    func storedStep(_ connection: Connection) throws -> Int {
      Int(
        try connection.integer(
          #"SELECT coalesce((SELECT "ZCODE" FROM "ZCATEGORY" WHERE "ZNAME" = '\#(writer)'), 0)"#))
    }
  }

  /// Commits the steps of a ledger.
  final class LedgerWriter: @unchecked Sendable {
    // Guard: a test lets one thread at a time use a writer.
    let ledger: Ledger
    let store: PostgreSQLStore
    /// The last step that was committed.
    private(set) var last: Int
    private var counter: Int64 = 0
    private var tag: Int64 = 0
    /// The items of the last steps.
    private var items: [Int: [Int64]] = [:]
    private var keys: [Int64] = []

    /// Goes on after the last step that the store has.
    init(_ ledger: Ledger, _ store: PostgreSQLStore) throws {
      self.ledger = ledger
      self.store = store
      let (writer, pool) = (ledger.writer, store.pool)
      let connection = try pool.connectOutside()
      last = try ledger.storedStep(connection)
      if last == 0 { return }
      counter = try connection.integer(#"SELECT "Z_PK" FROM "ZCATEGORY" WHERE "ZNAME" = '\#(writer)'"#)
      tag = try connection.integer(#"SELECT "Z_PK" FROM "ZTAG" WHERE "ZNAME" = '\#(writer)'"#)
      for step in max(1, last - 1)...last {
        items[step] = try ledger.titles(step).map {
          try connection.integer(#"SELECT "Z_PK" FROM "ZITEM" WHERE "ZTITLE1" = '\#($0)'"#)
        }
      }
    }

    /// The keys of items that this writer was given since the last call.
    func takeKeys() -> [Int64] {
      defer { keys = [] }
      return keys
    }

    /// Commits the next step, or throws and stays where it is.
    func step() throws(StoreError) {
      let step = last + 1
      let titles = ledger.titles(step)
      let inserted = store.batch(
        "Item",
        titles.enumerated().map {
          Draft(key: -1 - Int64($0), values: ["title": .text($1), "big": .integer(Int64(step))])
        })
      var transaction = StoreTransaction()
      transaction.author = ledger.author(step)
      transaction.inserted = [inserted]
      let values: [String: Draft.Value] = ["name": .text(ledger.writer), "code": .integer(Int64(step))]
      if last == 0 {
        transaction.inserted += [
          store.batch("Category", [Draft(key: -1, values: values)]),
          store.batch("Tag", [Draft(key: -1, values: ["name": .text(ledger.writer)])]),
        ]
      } else {
        transaction.updated = [
          store.update("Category", [Draft(key: counter, version: Int64(step), values: values)], "code")
        ]
      }
      transaction.links = titles.indices.map {
        LinkChange(
          kind: .add, entity: store.index("Item"), slot: store.slot("Item", "tags"), owner: -1 - Int64($0),
          member: last == 0 ? -1 : tag)
      }
      if ledger.deletes(step) {
        transaction.deleted = items[step - 2]!.map { store.deletion("Item", $0) }
      }
      _ = try store.commit(transaction) { _ in }
      if last == 0 { (counter, tag) = (transaction.inserted[1].key(0), transaction.inserted[2].key(0)) }
      items[step] = titles.indices.map { inserted.key($0) }
      items[step - 2] = nil
      keys += items[step]!
      last = step
    }
  }
#endif
