#if PostgreSQL
  @_spi(CDE) internal import CDEOperators
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  /// Carries out the statements of a migration, in the open transaction of a connection.
  struct ScriptRun {
    let script: MigrationScript
    let connection: Connection
    let pace: MigrationPace

    /// Rows that one statement copies. Between two statements the migration reports how far it is.
    private static let blockSize = 20_000

    private func execute(_ sql: String, while task: String) throws(StoreError) {
      try connection.execute(sql, while: task, asking: pace)
    }

    /// - Parameter describe: writes the store's own tables.
    func run(_ describe: () throws(StoreError) -> Void) throws(StoreError) {
      let new = script.moves.destination
      let rights = try TableRights(reading: connection)
      let definitions = try new.definitions()
      let written = script.tables.filter { $0.kept == nil }
      let names = Set(written.map(\.name))
      let staying = try removeDefinitions(definitions)
      for (table, temporary) in script.renamed {
        try execute(
          "ALTER TABLE \(quoted(table)) RENAME TO \(quoted(temporary))", while: "Migrating \(table)")
      }
      for definition in definitions where definition.kind == .table && names.contains(definition.name) {
        try execute(definition.sql, while: "Creating \(definition.name)")
      }
      for table in written {
        for insert in table.inserts {
          try pace.work(script.weight(of: insert)) { () throws(StoreError) in
            try copy(insert, into: table.name)
          }
        }
      }
      try pace.work(script.completionWeight) { () throws(StoreError) in
        for table in written {
          for completion in table.completions {
            try execute(completion, while: "Migrating the order of \(table.name)")
          }
        }
        for computed in script.computed where names.contains(computed.table) { try compute(computed) }
        for (table, temporary) in script.renamed {
          try execute("DROP TABLE \(quoted(temporary))", while: "Removing the old table \(table)")
        }
        for definition in definitions where definition.kind != .table && !staying.contains(definition) {
          try execute(definition.sql, while: "Creating \(definition.name)")
        }
        for table in written {
          for statement in rights.statements(for: table.name, like: former(of: table)) {
            try execute(statement, while: "Giving rights on \(table.name)")
          }
          // Without them the server plans queries as for an empty table, until it has looked by itself.
          try execute("ANALYZE \(quoted(table.name))", while: "Analysing \(table.name)")
        }
        // After the indexes, which the values are looked up by.
        for plan in try DerivedPlan.all(new) {
          try execute(
            plan.recomputation, while: "Computing derived attributes of \(plan.entity.source.name)")
        }
        try describe()
      }
    }

    // MARK: Definitions

    /// Makes room for the new indexes and constraints.
    ///
    /// - Returns: those that stay, of tables that stay.
    private func removeDefinitions(
      _ definitions: [PhysicalSchema.Definition]
    ) throws(StoreError) -> Set<PhysicalSchema.Definition> {
      let kept = Set(script.tables.compactMap(\.kept))
      let wanted = Set(definitions)
      var staying: Set<PhysicalSchema.Definition> = []
      for definition in (try? script.moves.source.definitions()) ?? []
      where definition.kind != .table && kept.contains(definition.table) {
        if wanted.contains(definition), try exists(definition) {
          staying.insert(definition)
        } else {
          try execute(definition.removal, while: "Removing \(definition.name)")
        }
      }
      try renameIndexes(of: script.renamed.map(\.table))
      return staying
    }

    private func exists(_ definition: PhysicalSchema.Definition) throws(StoreError) -> Bool {
      var parameters = Parameters()
      parameters.append(definition.name)
      parameters.append(definition.table)
      let rows = try connection.run(
        """
        SELECT EXISTS (SELECT FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid \
        WHERE t.relnamespace = \(Catalogue.schema) AND x.relname = $1 AND t.relname = $2 AND i.indisvalid)
        """, parameters, while: StoreMigrator.task)
      return rows.boolean(0, 0)
    }

    /// Gives the indexes of old tables other names, because those of the new ones have theirs. The old rows are read through them.
    /// An index of a constraint takes the constraint along.
    private func renameIndexes(of tables: [String]) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(texts: tables)
      let rows = try connection.run(
        """
        SELECT x.relname::text FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid \
        WHERE t.relnamespace = \(Catalogue.schema) AND t.relname = ANY($1) ORDER BY 1
        """, parameters, while: StoreMigrator.task)
      for row in 0..<rows.count {
        try execute(
          "ALTER INDEX \(quoted(rows.text(row, 0) ?? "")) RENAME TO \(quoted("Z_CDE_OLD_INDEX_\(row)"))",
          while: StoreMigrator.task)
      }
    }

    // MARK: Rows

    /// Copies rows, in blocks by their old keys.
    private func copy(_ insert: MigrationScript.Insert, into table: String) throws(StoreError) {
      let task = "Migrating the rows of \(table)"
      guard let source = insert.source else { return try run(insert.piece, while: task) }
      var last = Int64.min
      while true {
        var parameters = Parameters()
        parameters.append(last)
        let rows = try connection.run(
          "SELECT \"Z_PK\" FROM \(source) WHERE \"Z_PK\" > $1 ORDER BY \"Z_PK\" OFFSET \(Self.blockSize) LIMIT 1",
          parameters, while: task, asking: pace)
        guard rows.count > 0 else { break }
        let next = rows.integer(0, 0)
        try run(
          insert.piece
            + SQLPiece(" AND s.\"Z_PK\" > ? AND s.\"Z_PK\" <= ?", [.integer(last), .integer(next)]),
          while: task)
        last = next
        if !pace.progress(Double(next) / Double(max(insert.lastKey, 1))) { throw MigrationPace.cancelled }
      }
      try run(insert.piece + SQLPiece(" AND s.\"Z_PK\" > ?", [.integer(last)]), while: task)
    }

    private func run(_ piece: SQLPiece, while task: String) throws(StoreError) {
      let statement = PostgreSQLDialect().statement(piece)
      _ = try connection.run(
        statement.sql, Parameters(statement.bindings), while: task, asking: pace)
    }

    /// Computes a derived attribute in this process.
    private func compute(_ computed: MigrationScript.Computed) throws(StoreError) {
      let (table, column, source) = (quoted(computed.table), quoted(computed.column), quoted(computed.source))
      let task = "Computing \(computed.column)"
      var last = Int64.min
      while true {
        var parameters = Parameters()
        parameters.append(last)
        let rows = try connection.run(
          "SELECT \"Z_PK\", \(source) FROM \(table) WHERE \"Z_ENT\" = \(computed.number) AND \(source) IS NOT NULL "
            + "AND \"Z_PK\" > $1 ORDER BY \"Z_PK\" LIMIT \(SchemaPlans.blockSize)",
          parameters, while: task, asking: pace)
        if rows.count == 0 { return }
        var keys: [Int64] = []
        var values: [String] = []
        for row in 0..<rows.count {
          keys.append(rows.integer(row, 0))
          values.append(Self.value(computed.derivation, rows.text(row, 1) ?? ""))
        }
        last = keys.last ?? .max
        var changes = Parameters()
        changes.append(keys)
        changes.append(texts: values)
        _ = try connection.run(
          "UPDATE \(table) AS t SET \(column) = v.c FROM unnest($1::int8[], $2::text[]) AS v(k, c) WHERE t.\"Z_PK\" = v.k",
          changes, while: task, asking: pace)
      }
    }

    private static func value(_ derivation: StoreDerivation, _ text: String) -> String {
      switch derivation {
      case .canonical: TextComparison.canonical(text)
      case .lowercase: text.lowercased()
      case .uppercase: text.uppercased()
      case .now, .attribute, .copy, .count, .sum, .foreign: text
      }
    }

    // MARK: Rights

    /// Old tables whose rights a new table gets, the best one first.
    private func former(of table: MigrationScript.Table) -> [String] {
      let (old, new) = (script.moves.source, script.moves.destination)
      let feeders = script.moves.moves.filter { new.tableName(of: $0.destination) == table.name }
        .map { old.tableName(of: $0.source) }
      return [table.name] + feeders + [PhysicalSchema.Bookkeeping.primaryKeys.rawValue]
    }
  }
#endif
