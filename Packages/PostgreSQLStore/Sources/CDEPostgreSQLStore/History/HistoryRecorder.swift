#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore
  internal import Foundation

  /// Records one transaction in the history, inside the transaction that writes it.
  ///
  /// States: made -> preserved (values of rows that will be deleted are read) -> prepared (all changes are known) -> written. Only
  /// the last step holds the counter, for which all commits of all machines wait.
  final class HistoryRecorder {
    /// A row within the schema. Keys are unique in the tree of a root entity.
    private struct Row: Hashable {
      var root: RootIndex
      var key: Int64
    }

    private struct Change {
      var kind: StoreHistoryChange.Kind
      var entity: Int64
      var key: Int64
      var columns: [UInt8]?
      var tombstone: [UInt8]?
    }

    private let plans: SchemaPlans
    private let connection: Connection
    private let transaction: StoreTransaction
    private let channel: String
    private var tombstones: [Row: [UInt8]] = [:]
    /// Changed properties besides those of written rows, by row: the entity in whose layout the slots are.
    private var touches: [Row: [(entity: EntityIndex, properties: PropertySet)]] = [:]
    private var changes: [Change] = []

    private static let task = "Recording the history"
    private static let processName = ProcessInfo.processInfo.processName
    private static let bundleIdentifier = Bundle.main.bundleIdentifier ?? processName

    /// - Parameter channel: the name of the notifications that the commit sends.
    init(
      _ plans: SchemaPlans, _ connection: Connection, _ transaction: StoreTransaction, channel: String
    ) {
      self.plans = plans
      self.connection = connection
      self.transaction = transaction
      self.channel = channel
    }

    private func root(_ entity: EntityIndex) -> RootIndex { plans.schema.entities[entity].root }

    // MARK: Before rows are deleted

    /// Reads the values of rows that the history preserves. Costs nothing for entities without such attributes.
    func preserve(_ deletions: [RowDeletion]) throws(StoreError) {
      for (entity, group) in Dictionary(grouping: deletions, by: \.entity) {
        let description = plans.history[entity]
        if description.preserved.isEmpty { continue }
        let columns = description.preserved.map { ", " + $0.expression }.joined()
        for block in Blocks(group, size: SchemaPlans.blockSize) {
          var parameters = Parameters()
          parameters.append(block.map(\.key))
          let rows = try connection.run(
            "SELECT \"Z_PK\"\(columns) FROM \(quoted(plans.physical.tableName(of: entity))) WHERE \"Z_PK\" = ANY($1)",
            parameters, while: Self.task)
          for row in 0..<rows.count {
            tombstones[Row(root: root(entity), key: rows.integer(row, 0))] = try description.tombstone(
              rows, row, from: 1)
          }
        }
      }
    }

    // MARK: Collecting changes

    /// Collects the changes of a transaction whose rows are written.
    ///
    /// - Parameters:
    ///   - links: the links of the transaction that were written.
    ///   - permanent: the key that a row of the transaction has now.
    ///   - derived: values that were computed for other rows.
    /// - Returns: false if there is nothing to record.
    func prepare(
      _ links: [LinkChange], permanent: (Int64, RootIndex) -> Int64, _ derived: [DerivedValues.Change]
    ) throws(StoreError) -> Bool {
      for text in [transaction.author, transaction.contextName] where text?.utf8.contains(0) == true {
        throw StoreError(
          .invalidValue,
          "The author or the name of the context contains a zero byte, which PostgreSQL can't store. Rename it."
        )
      }
      for touch in transaction.touched {
        note(touch.entity, permanent(touch.key, root(touch.entity)), touch.properties)
      }
      for link in links {
        note(link.entity, permanent(link.owner, root(link.entity)), [link.slot])
        let end = plans.schema.end(of: link.slot, in: link.entity)
        if let inverse = end.inverseSlot {
          note(end.destination, permanent(link.member, root(end.destination)), [inverse])
        }
      }
      for change in derived { note(change.entity, change.key, [change.slot]) }
      let numbers = plans.physical.numbers
      for batch in transaction.inserted {
        let entity = batch.layout.entity
        for index in 0..<batch.count {
          let key = permanent(batch.key(index), batch.layout.root)
          touches[Row(root: batch.layout.root, key: key)] = nil
          changes.append(Change(kind: .inserted, entity: numbers[entity], key: key))
        }
      }
      for update in transaction.updated {
        for index in 0..<update.batch.count {
          appendUpdate(update.batch.layout.entity, update.batch.key(index), update.changed[index])
        }
      }
      for deletion in transaction.deleted {
        let row = Row(root: root(deletion.entity), key: deletion.key)
        touches[row] = nil
        changes.append(
          Change(
            kind: .deleted, entity: numbers[deletion.entity], key: deletion.key, tombstone: tombstones[row]))
      }
      try appendTouches()
      return !changes.isEmpty
    }

    private func note(_ entity: EntityIndex, _ key: Int64, _ properties: PropertySet) {
      touches[Row(root: root(entity), key: key), default: []].append((entity, properties))
    }

    private func appendUpdate(_ entity: EntityIndex, _ key: Int64, _ changed: PropertySet) {
      var properties = changed
      let layout = plans.schema.entities[entity].layout
      for (other, noted) in touches.removeValue(forKey: Row(root: root(entity), key: key)) ?? [] {
        let names = plans.schema.entities[other].layout.properties
        for slot in noted {
          if let own = layout.slot(named: names[slot].name) { properties.insert(own) }
        }
      }
      changes.append(
        Change(
          kind: .updated, entity: plans.physical.numbers[entity], key: key,
          columns: plans.history[entity].encode(properties)))
    }

    /// Adds rows that the transaction did not write, with their concrete entities.
    private func appendTouches() throws(StoreError) {
      for (root, rows) in Dictionary(grouping: touches.keys, by: \.root).sorted(by: { $0.key < $1.key }) {
        for block in Blocks(rows.map(\.key).sorted(), size: SchemaPlans.blockSize) {
          var parameters = Parameters()
          parameters.append(block)
          let found = try connection.run(
            "SELECT \"Z_PK\", \"Z_ENT\" FROM \(quoted(plans.physical.tableName(of: root))) WHERE \"Z_PK\" = ANY($1) "
              + "ORDER BY \"Z_PK\"", parameters, while: Self.task)
          for row in 0..<found.count {
            guard let entity = plans.physical.indexes[found.integer(row, 1)] else { continue }
            appendUpdate(entity, found.integer(row, 0), [])
          }
        }
      }
      touches = [:]
    }

    // MARK: Writing

    /// Numbers the transaction and writes its rows. Called last before the commit: the counter's row stays locked until then, so
    /// the numbers have the order of the commits on all machines.
    ///
    /// - Returns: the number of the transaction.
    func write() throws(StoreError) -> Int64 {
      var parameters = Parameters()
      parameters.append(Int64(changes.count))
      parameters.append(Date().timeIntervalSinceReferenceDate)
      for text in [transaction.author, Self.bundleIdentifier, transaction.contextName, Self.processName] {
        if let text { parameters.append(text) } else { parameters.appendNull(.text) }
      }
      parameters.append(channel)
      let rows = try connection.run(
        """
        WITH n AS (UPDATE "Z_HISTORY" SET "Z_TRANSACTION" = "Z_TRANSACTION" + 1, "Z_CHANGE" = "Z_CHANGE" + $1 \
        RETURNING "Z_TRANSACTION" AS t, "Z_CHANGE" - $1 AS c), \
        i AS (INSERT INTO "ATRANSACTION" ("Z_PK", "ZTIMESTAMP", "ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID") \
        SELECT t, $2, $3, $4, $5, $6 FROM n) SELECT t, c, pg_notify($7, '') FROM n
        """, parameters, while: Self.task)
      guard rows.count == 1 else {
        throw StoreError(
          .unreadable, "Z_HISTORY has no row, so the store is damaged. Restore it from a backup.")
      }
      let (number, base) = (rows.integer(0, 0), rows.integer(0, 1))
      var first = base
      for block in Blocks(changes, size: SchemaPlans.blockSize) {
        try insert(block, number, after: first)
        first += Int64(block.count)
      }
      return number
    }

    private func insert(
      _ block: ArraySlice<Change>, _ transaction: Int64, after first: Int64
    ) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(transaction)
      parameters.append(first)
      parameters.append(block.map(\.kind.rawValue))
      parameters.append(block.map(\.entity))
      parameters.append(block.map(\.key))
      for bytes in [block.map(\.columns), block.map(\.tombstone)] {
        parameters.beginArray(.bytes)
        for bytes in bytes {
          if let bytes {
            bytes.withUnsafeBytes { parameters.appendElement($0) }
          } else {
            parameters.appendNullElement()
          }
        }
        parameters.endArray()
      }
      _ = try connection.run(
        """
        INSERT INTO "ACHANGE" ("Z_PK", "ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS", "ZTOMBSTONE") \
        SELECT $2 + i, $1, k, e, p, c, t FROM unnest($3::int8[], $4::int8[], $5::int8[], $6::bytea[], $7::bytea[]) \
        WITH ORDINALITY AS v(k, e, p, c, t, i)
        """, parameters, while: Self.task)
    }
  }
#endif
