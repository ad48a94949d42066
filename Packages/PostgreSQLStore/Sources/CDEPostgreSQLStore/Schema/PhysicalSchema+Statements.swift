#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  extension PhysicalSchema {
    /// The tables that every store has, besides those of its entities.
    enum Bookkeeping: String, CaseIterable {
      case primaryKeys = "Z_PRIMARYKEY"
      case metadata = "Z_METADATA"
      case modelCache = "Z_MODELCACHE"
      /// Proof of a commit, for a client that lost its connection.
      case tokens = "Z_TOKEN"
      /// What other stores may lack of a save over several stores.
      case pendingSaves = "Z_PENDINGSAVE"
      /// The last numbers of the history, in one row.
      case historyCounter = "Z_HISTORY"
      case historyTransactions = "ATRANSACTION"
      case historyChanges = "ACHANGE"

      var createStatement: String {
        switch self {
        case .primaryKeys:
          """
          CREATE TABLE "Z_PRIMARYKEY" ("Z_ENT" bigint PRIMARY KEY, "Z_NAME" text COLLATE "C" NOT NULL, "Z_SUPER" bigint NOT NULL, \
          "Z_MAX" bigint NOT NULL)
          """
        case .metadata:
          #"CREATE TABLE "Z_METADATA" ("Z_VERSION" bigint PRIMARY KEY, "Z_UUID" text NOT NULL, "Z_PLIST" bytea NOT NULL)"#
        case .modelCache: #"CREATE TABLE "Z_MODELCACHE" ("Z_CONTENT" bytea)"#
        case .historyCounter:
          #"CREATE TABLE "Z_HISTORY" ("Z_TRANSACTION" bigint NOT NULL, "Z_CHANGE" bigint NOT NULL); "#
            + #"INSERT INTO "Z_HISTORY" VALUES (0, 0)"#
        case .historyTransactions:
          """
          CREATE TABLE "ATRANSACTION" ("Z_PK" bigint PRIMARY KEY, "ZTIMESTAMP" double precision NOT NULL, "ZAUTHOR" text, \
          "ZBUNDLEID" text, "ZCONTEXTNAME" text, "ZPROCESSID" text)
          """
        case .historyChanges:
          """
          CREATE TABLE "ACHANGE" ("Z_PK" bigint PRIMARY KEY, "ZTRANSACTIONID" bigint NOT NULL, "ZCHANGETYPE" bigint NOT NULL, \
          "ZENTITY" bigint NOT NULL, "ZENTITYPK" bigint NOT NULL, "ZCOLUMNS" bytea, "ZTOMBSTONE" bytea); \
          CREATE INDEX "ACHANGE_ZTRANSACTIONID_INDEX" ON "ACHANGE" ("ZTRANSACTIONID", "Z_PK")
          """
        case .tokens:
          #"CREATE TABLE "Z_TOKEN" ("Z_TOKEN" uuid PRIMARY KEY, "Z_TIME" timestamptz NOT NULL DEFAULT now())"#
        case .pendingSaves:
          #"CREATE TABLE "Z_PENDINGSAVE" ("Z_SAVE" text, "Z_STORE" text, "Z_CONTENT" bytea, PRIMARY KEY ("Z_SAVE", "Z_STORE"))"#
        }
      }
    }

    /// A table, index or constraint.
    struct Definition: Hashable, Sendable {
      enum Kind: Hashable, Sendable { case table, index, constraint }

      var kind: Kind
      /// Its name, unquoted. Tables and indexes of a schema share their names.
      var name: String
      /// The table that it belongs to, or that it is.
      var table: String
      /// The statement that creates it.
      var sql: String

      /// The statement that removes an index or constraint.
      var removal: String {
        kind == .constraint
          ? "ALTER TABLE \(quoted(table)) DROP CONSTRAINT IF EXISTS \(quoted(name))"
          : "DROP INDEX IF EXISTS \(quoted(name))"
      }
    }

    /// The tables and indexes of an empty store, in a valid order, without those that every store has.
    ///
    /// - Throws: `.invalidSchema` if two of them would have the same name, or an index names a property without a column.
    func definitions() throws(StoreError) -> [Definition] {
      var result: [Definition] = []
      var names = NameCheck()
      for table in Bookkeeping.allCases { try names.take(table.rawValue, for: "the store") }
      for (root, table) in tables.sorted(by: { $0.key < $1.key }) {
        let entity = schema.entities[root.entity].source.name
        try names.take(table.name, for: entity)
        let key = fitting("\(table.name)_PKEY")
        try names.take(key, for: entity)
        let columns =
          [
            "\"Z_PK\" bigint NOT NULL CONSTRAINT \(quoted(key)) PRIMARY KEY", "\"Z_ENT\" bigint NOT NULL",
            "\"Z_OPT\" bigint NOT NULL",
          ]
          + table.columns.map { "\(quoted($0.name)) \(SQLKind($0).declaration)" }
        result.append(
          Definition(
            kind: .table, name: table.name, table: table.name,
            sql: "CREATE TABLE \(quoted(table.name)) (\(columns.joined(separator: ", ")))"))
      }
      for table in joinTables {
        try names.take(table.name, for: table.naming.property)
        let columns =
          [table.first, table.second].map { "\(quoted($0)) bigint NOT NULL" }
          + [table.secondOrder, table.firstOrder].compactMap { $0 }.map { "\(quoted($0)) bigint" }
        result.append(
          Definition(
            kind: .table, name: table.name, table: table.name,
            sql: "CREATE TABLE \(quoted(table.name)) (\(columns.joined(separator: ", ")), "
              + "PRIMARY KEY (\(quoted(table.first)), \(quoted(table.second))))"))
        let index = table.indexName
        try names.take(index, for: table.naming.property)
        result.append(
          Definition(
            kind: .index, name: index, table: table.name,
            sql: "CREATE INDEX \(quoted(index)) ON \(quoted(table.name)) "
              + "(\(quoted(table.second)), \(quoted(table.first)))"))
      }
      for (_, table) in tables.sorted(by: { $0.key < $1.key }) {
        for index in try indexes(of: table) {
          switch index.kind {
          case .reference, .entity: break
          case .declared, .unique: if names.contains(index.name) { continue }
          }
          try names.take(index.name, for: index.entity.source.name)
          result.append(definition(of: index, table.name))
        }
      }
      return result
    }

    /// Tables, indexes and constraints of a schema share their names.
    private struct NameCheck {
      private var owners: [String: String] = [:]

      mutating func take(_ name: String, for owner: String) throws(StoreError) {
        guard let other = owners.updateValue(owner, forKey: name) else { return }
        throw StoreError(
          .invalidSchema,
          "Tables or indexes of \(owner) and \(other) would both be named \(name). Rename one of the two.",
          entity: owner)
      }

      func contains(_ name: String) -> Bool { owners[name] != nil }
    }

    /// The statement that creates an index or constraint.
    private func definition(of index: TableIndex, _ table: String) -> Definition {
      func columns(_ text: (_ name: String, _ isAscending: Bool) -> String) -> String {
        index.columns.map { text($0.name, $0.isAscending) }.joined(separator: ", ")
      }
      let list: String
      switch index.kind {
      case .reference, .entity: list = columns { name, _ in quoted(name) }
      case .declared:
        // Nil comes before all values in both orders of a sort.
        list = columns { quoted($0) + ($1 ? " ASC NULLS FIRST" : " DESC NULLS LAST") }
      case .unique:
        // Deferred, so that rows of one transaction can swap their values.
        return Definition(
          kind: .constraint, name: index.name, table: table,
          sql: "ALTER TABLE \(quoted(table)) ADD CONSTRAINT \(quoted(index.name)) UNIQUE "
            + "(\(columns { name, _ in quoted(name) })) DEFERRABLE INITIALLY DEFERRED")
      }
      let present = index.present.map { "\(quoted($0)) IS NOT NULL" }
      return Definition(
        kind: .index, name: index.name, table: table,
        sql: "CREATE INDEX \(quoted(index.name)) ON \(quoted(table)) (\(list))"
          + (present.isEmpty ? "" : " WHERE " + present.joined(separator: " AND ")))
    }

    /// The uniqueness constraint with a name; nil for another constraint.
    func constraint(named name: String) -> (entity: String, properties: [String])? {
      for entity in schema.entities {
        for constraint in entity.source.uniquenessConstraints
        where constraintName(constraint, of: entity) == name {
          return (entity.source.name, constraint)
        }
      }
      return nil
    }
  }
#endif
