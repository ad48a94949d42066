#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore
  internal import Foundation

  /// Records one transaction in the history, inside the transaction that writes it.
  ///
  /// States: made -> preserved (values of rows that will be deleted are read) -> prepared (all changes are known) -> committed. Only
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
    /// Rows that are inserted besides those of the transaction, by the number of their entity and their keys; nil for none.
    private let insertion: (entity: Int64, keys: Range<Int64>)?
    private let channel: String
    private var tombstones: [Row: [UInt8]] = [:]
    /// Changed properties besides those of written rows, by row: the entity in whose layout the slots are.
    private var touches: [Row: [(entity: EntityIndex, properties: PropertySet)]] = [:]
    private var changes: [Change] = []
    /// The time of the transaction, once it is on its way.
    private var timestamp = 0.0

    private static let task = "Recording the history"
    private static let keysPerStatement: Int64 = 100_000
    private static let processName = ProcessInfo.processInfo.processName
    private static let bundleIdentifier = Bundle.main.bundleIdentifier ?? processName

    /// - Parameter channel: the name of the notifications that the commit sends.
    init(
      _ plans: SchemaPlans, _ connection: Connection, _ transaction: StoreTransaction,
      _ insertion: (entity: Int64, keys: Range<Int64>)? = nil, channel: String
    ) {
      self.plans = plans
      self.connection = connection
      self.transaction = transaction
      self.insertion = insertion
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
      return !changes.isEmpty || insertion != nil
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

    /// Numbers the transaction, writes its rows and commits. The counter's row stays locked until the commit, so the numbers have the
    /// order of the commits on all machines. One round trip for as many changes as a block has: the others wait for that row.
    ///
    /// - Returns: the number of the transaction.
    func writeAndCommit() throws(StoreError) -> Int64 {
      timestamp = Date().timeIntervalSinceReferenceDate
      guard changes.count > SchemaPlans.blockSize || insertion != nil else {
        let sql = Self.transactionSQL(with: Self.changesSQL(of: "n.t", after: "n.c", from: 8, "n, "))
        let rows = try connection.commit(
          after: sql, parameters(with: changes[...]), while: Self.task, Self.completed)
        return rows.integer(0, 0)
      }
      let transaction: Int64
      var first: Int64
      do throws(StoreError) {
        let rows = try connection.run(
          Self.transactionSQL(with: nil), parameters(with: nil), while: Self.task)
        (transaction, first) = (rows.integer(0, 0), rows.integer(0, 1))
      } catch { throw Self.completed(error) }
      for block in Blocks(changes, size: SchemaPlans.blockSize) {
        var parameters = Parameters()
        parameters.append(transaction)
        parameters.append(first)
        append(block, to: &parameters)
        try connection.enqueue(
          Self.changesSQL(of: "$1", after: "$2", from: 3, ""), parameters, while: Self.task)
        first += Int64(block.count)
      }
      if let insertion { try record(insertion.keys, of: insertion.entity, transaction, after: first) }
      try connection.enqueue("COMMIT", while: "Committing")
      try connection.sendQueue()
      return transaction
    }

    /// Has the server write the changes of new rows whose keys follow each other.
    private func record(
      _ keys: Range<Int64>, of entity: Int64, _ transaction: Int64, after first: Int64
    ) throws(StoreError) {
      var next = keys.lowerBound
      while next < keys.upperBound {
        let end = min(next + Self.keysPerStatement, keys.upperBound)
        var parameters = Parameters()
        for value in [first - keys.lowerBound + 1, transaction, entity, next, end - 1] {
          parameters.append(value)
        }
        try connection.enqueue(
          #"INSERT INTO "ACHANGE" ("Z_PK", "ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK") "#
            + "SELECT $1 + k, $2, \(StoreHistoryChange.Kind.inserted.rawValue), $3, k FROM generate_series($4::int8, $5) AS k",
          parameters, while: Self.task)
        next = end
      }
    }

    /// The error of the statement that numbers a transaction.
    private static func completed(_ error: StoreError) -> StoreError {
      guard error.engineCode == ServerError.notNullViolation else { return error }
      return StoreError(
        .unreadable, "Z_HISTORY has no row, so the store is damaged. Restore it from a backup.",
        engineCode: error.engineCode)
    }

    /// The parameters of the transaction, and of its changes if they are written by the same statement.
    private func parameters(with block: ArraySlice<Change>?) -> Parameters {
      var parameters = Parameters()
      parameters.append(Int64(changes.count + (insertion?.keys.count ?? 0)))
      parameters.append(timestamp)
      for text in [transaction.author, Self.bundleIdentifier, transaction.contextName, Self.processName] {
        if let text { parameters.append(text) } else { parameters.appendNull(.text) }
      }
      parameters.append(channel)
      if let block { append(block, to: &parameters) }
      return parameters
    }

    /// The statement that numbers a transaction, and another one that refers to its number. Without the counter's row the number is NULL,
    /// which the server refuses, so that nothing is committed.
    private static func transactionSQL(with other: String?) -> String {
      """
      WITH n AS (UPDATE "Z_HISTORY" SET "Z_TRANSACTION" = "Z_TRANSACTION" + 1, "Z_CHANGE" = "Z_CHANGE" + $1 \
      RETURNING "Z_TRANSACTION" AS t, "Z_CHANGE" - $1 AS c), \
      i AS (INSERT INTO "ATRANSACTION" ("Z_PK", "ZTIMESTAMP", "ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID") \
      SELECT (SELECT t FROM n), $2, $3, $4, $5, $6)\(other.map { ", o AS (\($0))" } ?? "") \
      SELECT t, c, pg_notify($7, '') FROM n
      """
    }

    /// The statement that writes a block of changes, given as arrays.
    private static func changesSQL(
      of transaction: String, after first: String, from place: Int, _ source: String
    )
      -> String
    {
      let arrays = ["int8", "int8", "int8", "bytea", "bytea"].enumerated().map { "$\(place + $0)::\($1)[]" }
      return """
        INSERT INTO "ACHANGE" ("Z_PK", "ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS", "ZTOMBSTONE") \
        SELECT \(first) + v.i, \(transaction), v.k, v.e, v.p, v.c, v.t FROM \(source)unnest(\(arrays.joined(separator: ", "))) \
        WITH ORDINALITY AS v(k, e, p, c, t, i)
        """
    }

    private func append(_ block: ArraySlice<Change>, to parameters: inout Parameters) {
      parameters.append(block.map(\.kind.rawValue))
      parameters.append(block.map(\.entity))
      parameters.append(block.map(\.key))
      parameters.append(bytes: block.map(\.columns))
      parameters.append(bytes: block.map(\.tombstone))
    }

    /// The number that the transaction got, if its commit succeeded and the answer did not arrive. It is among the last ones.
    ///
    /// - Returns: nil if it is not found.
    func findNumber(on connection: Connection) throws(StoreError) -> Int64? {
      var parameters = Parameters()
      parameters.append(timestamp)
      parameters.append(Self.processName)
      parameters.append(changes.first?.key ?? insertion!.keys.lowerBound)
      parameters.append(changes.first?.entity ?? insertion!.entity)
      let rows = try connection.run(
        #"SELECT t."Z_PK" FROM "ATRANSACTION" t JOIN "ACHANGE" c ON c."ZTRANSACTIONID" = t."Z_PK" "#
          + #"WHERE t."ZTIMESTAMP" = $1 AND t."ZPROCESSID" = $2 AND c."ZENTITYPK" = $3 AND c."ZENTITY" = $4 "#
          + #"AND t."Z_PK" > (SELECT max("Z_PK") - 10000 FROM "ATRANSACTION") ORDER BY t."Z_PK" DESC LIMIT 1"#,
        parameters, while: Self.task)
      return rows.count == 1 ? rows.integer(0, 0) : nil
    }
  }
#endif
