#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation

  /// A process's own copy of a store, which follows the store by reported commits alone.
  ///
  /// A row is read again only if the process wrote it, or if the observer was told of it. A commit that is not reported leaves the
  /// copy wrong.
  final class Replica: @unchecked Sendable {
    // Guard: one thread uses a replica. `dirty`, which the observer's thread fills, has a lock of its own.
    private let store: PostgreSQLStore
    /// Rows that are read again at the next use.
    private let dirty = Lock<[EntityIndex: Set<Int64>]>([:])
    private let arrival = DispatchSemaphore(value: 0)
    private(set) var rows: [EntityIndex: [Int64: Row]] = [:]

    struct Row {
      var version: Int64
      var name: String
      var number: String
      /// The keys of an item's tags.
      var tags: [Int64]
    }

    init(_ store: PostgreSQLStore) throws {
      self.store = store
      _ = try store.observeOthers { [self] commits in
        note(commits.transactions ?? [])
        return { [self] in _ = arrival.signal() }
      }
      // What was committed before the observation began.
      note(try store.history(StoreHistoryQuery()))
    }

    private func note(_ transactions: [StoreHistoryTransaction]) {
      dirty.withLock { dirty in
        for change in transactions.flatMap(\.changes) { dirty[change.entity, default: []].insert(change.key) }
      }
    }

    /// Notes rows that this process wrote.
    func note(_ entity: String, _ keys: [Int64]) {
      let index = store.index(entity)
      dirty.withLock { $0[index, default: []].formUnion(keys) }
    }

    /// Waits for the next report.
    func waitForReport() -> Bool { arrival.wait(timeout: .now() + 60) == .success }

    /// Reads the rows that changed.
    func refresh() throws(StoreError) {
      let changed = dirty.withLock { dirty in
        defer { dirty = [:] }
        return dirty
      }
      for (entity, keys) in changed {
        for key in keys { rows[entity, default: [:]][key] = nil }
        let keys = keys.sorted()
        for batch in try store.rows(entity: entity, keys: keys).batches {
          for row in 0..<batch.count {
            let values = store.describe(batch, row)
            rows[entity]![batch.key(row)] = Row(
              version: batch.version(row), name: values["title"] ?? values["name"] ?? "",
              number: values["big"] ?? values["code"] ?? "", tags: [])
          }
        }
        guard entity == store.index("Item") else { continue }
        let related = try store.related(
          entity: entity, slot: store.slot("Item", "tags"), owners: keys, isKnown: { _, _ in true })
        for (key, range) in zip(keys, related.ranges) where rows[entity]![key] != nil {
          rows[entity]![key]!.tags = related.entries[range].map(\.key).sorted()
        }
      }
    }

    /// Everything, one line for a row.
    func lines() -> [String] {
      rows.flatMap { entity, rows in
        rows.map { key, row in
          "\(store.schema.entities[entity].source.name) \(key) v\(row.version) \(row.name) \(row.number) \(row.tags)"
        }
      }.sorted()
    }

    /// The same lines, as the server has them.
    static func storedLines(_ connection: Connection) throws -> [String] {
      try connection.texts(
        """
        SELECT concat('Item ', "Z_PK", ' v', "Z_OPT", ' ', "ZTITLE1", ' ', "ZBIG", ' [', \
        (SELECT string_agg("Z_5TAGS"::text, ', ' ORDER BY "Z_5TAGS") FROM "Z_2TAGS" WHERE "Z_2ITEMS" = "Z_PK"), ']') FROM "ZITEM"
        UNION ALL SELECT concat('Category ', "Z_PK", ' v', "Z_OPT", ' ', "ZNAME", ' ', "ZCODE", ' []') FROM "ZCATEGORY"
        UNION ALL SELECT concat('Tag ', "Z_PK", ' v', "Z_OPT", ' ', "ZNAME", '  []') FROM "ZTAG"
        UNION ALL SELECT concat('Owner ', "Z_PK", ' v', "Z_OPT", ' ', "ZNAME", '  []') FROM "ZOWNER"
        """
      ).sorted()
    }
  }
#endif
