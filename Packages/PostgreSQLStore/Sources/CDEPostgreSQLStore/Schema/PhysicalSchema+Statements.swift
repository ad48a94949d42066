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
          + table.columns.map { "\(quoted($0.name)) \(ColumnType($0).declaration)" }
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
        try appendIndexes(of: table, to: &result, &names)
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

    private func appendIndexes(
      of table: Table, to result: inout [Definition], _ names: inout NameCheck
    ) throws(StoreError) {
      let root = schema.entities[table.root.entity]
      let target = quoted(table.name)
      func append(_ name: String, _ columns: String) {
        result.append(
          Definition(
            kind: .index, name: name, table: table.name,
            sql: "CREATE INDEX \(quoted(name)) ON \(target) \(columns)"))
      }
      for column in table.columns {
        switch column.source {
        case .property(_, .key), .impliedKey:
          let name = fitting("\(table.name)_\(column.name)_INDEX")
          try names.take(name, for: root.source.name)
          append(name, "(\(quoted(column.name)))")
        default: break
        }
      }
      if root.hasSubentities {
        let name = fitting("\(table.name)_Z_ENT_INDEX")
        try names.take(name, for: root.source.name)
        append(name, "(\"Z_ENT\")")
      }
      for index in root.subtree {
        let entity = schema.entities[index]
        for definition in entity.source.indexes where !isOnlyRelationship(definition, in: entity) {
          let name = try indexName(definition, of: entity, in: table)
          // Core Data's models often declare one index twice, in its older form as well.
          if names.contains(name) { continue }
          try names.take(name, for: entity.source.name)
          var columns: [String] = []
          for element in definition.elements {
            // Nil comes before all values in both orders of a sort.
            let order = element.isAscending ? "ASC NULLS FIRST" : "DESC NULLS LAST"
            columns += try indexColumns(element.property, entity: entity).map { "\(quoted($0)) \(order)" }
          }
          var condition = ""
          if !definition.partialNotNil.isEmpty {
            var parts: [String] = []
            for name in definition.partialNotNil {
              parts += try indexColumns(name, entity: entity).map { "\(quoted($0)) IS NOT NULL" }
            }
            condition = " WHERE " + parts.joined(separator: " AND ")
          }
          append(name, "(\(columns.joined(separator: ", ")))\(condition)")
        }
        for constraint in entity.source.uniquenessConstraints {
          let name = Self.constraintName(constraint, entity: entity)
          if names.contains(name) { continue }
          try names.take(name, for: entity.source.name)
          var columns: [String] = []
          for name in constraint {
            columns += try indexColumns(name, entity: entity, ofConstraint: true).map(quoted)
          }
          // Deferred, so that rows of one transaction can swap their values.
          result.append(
            Definition(
              kind: .constraint, name: name, table: table.name,
              sql: "ALTER TABLE \(target) ADD CONSTRAINT \(quoted(name)) UNIQUE "
                + "(\(columns.joined(separator: ", "))) DEFERRABLE INITIALLY DEFERRED"))
        }
      }
    }

    static func constraintName(_ constraint: [String], entity: ResolvedSchema.Entity) -> String {
      fitting("Z_\(entity.source.name)_UNIQUE_\(constraint.joined(separator: "_"))")
    }

    /// The uniqueness constraint with a name; nil for another constraint.
    func constraint(named name: String) -> (entity: String, properties: [String])? {
      for entity in schema.entities {
        for constraint in entity.source.uniquenessConstraints
        where Self.constraintName(constraint, entity: entity) == name {
          return (entity.source.name, constraint)
        }
      }
      return nil
    }

    private func indexName(
      _ index: StoreIndex, of entity: ResolvedSchema.Entity, in table: Table
    ) throws(StoreError) -> String {
      switch index.kind {
      case .fetchIndex: return fitting("Z_\(entity.source.name)_\(index.name)")
      case .compound:
        return fitting(
          "Z_\(entity.source.name)_" + index.elements.map(\.property).joined(separator: "_"))
      case .indexedAttribute:
        let column = try indexColumns(index.elements.first?.property ?? "", entity: entity)[0]
        return fitting("\(table.name)_\(column)_INDEX")
      }
    }

    /// Core Data omits fetch indexes over a single relationship, because its column is indexed in any case.
    private func isOnlyRelationship(_ index: StoreIndex, in entity: ResolvedSchema.Entity) -> Bool {
      guard index.elements.count == 1,
        let property = entity.layout.property(named: index.elements[0].property)
      else {
        return false
      }
      switch property.kind {
      case .toOne, .toMany: return true
      case .attribute, .composite: return false
      }
    }

    private func indexColumns(
      _ name: String, entity: ResolvedSchema.Entity, ofConstraint: Bool = false
    ) throws(StoreError) -> [String] {
      let found =
        ofConstraint ? columns(of: name, in: entity.index) : indexColumns(of: name, in: entity.index)
      guard let columns = found, !columns.isEmpty else {
        throw StoreError(
          .invalidSchema,
          "An index or constraint of \(entity.source.name) names \(name), which has no column. Name a "
            + "persistent attribute or a to-one relationship.",
          entity: entity.source.name, properties: [name])
      }
      return columns
    }
  }
#endif
