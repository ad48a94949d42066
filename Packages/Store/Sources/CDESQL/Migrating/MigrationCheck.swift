public import CDEStore

/// Finds the obstacles of a migration in the old rows. Reads only.
@_spi(CDE) public struct MigrationCheck {
  /// Runs a statement that counts something.
  public typealias Counting = (SQLPiece) throws(StoreError) -> Int

  private let script: MigrationScript
  let counted: Counting
  /// With the names that the old tables have before the migration.
  let moves: EntityMoves
  private let now: Double
  var old: PhysicalSchema { moves.source }
  var new: PhysicalSchema { moves.destination }

  /// Makes a check of a migration.
  ///
  /// - Parameters:
  ///   - script: the statements of the migration.
  ///   - now: the time of the migration, in seconds since 2001.
  ///   - counted: runs a statement.
  public init(_ script: MigrationScript, now: Double, _ counted: @escaping Counting) {
    self.script = script
    self.now = now
    self.counted = counted
    moves = script.preflight
  }

  /// What the migration would do.
  ///
  /// - Parameters:
  ///   - fileBytes: the size of the whole store.
  ///   - rewrittenBytes: the size of the tables that are written anew or removed.
  public func survey(fileBytes: Int, rewrittenBytes: Int) throws(StoreError) -> MigrationSurvey {
    var survey = MigrationSurvey(
      rows: try Self.rows(of: old, moves.table(of:), counted), obstacles: try obstacles(),
      rewrittenTables: script.tables.filter { $0.kept == nil }.map(\.name).sorted(),
      keyOffsets: Dictionary(
        script.moves.moves.filter { $0.offset != 0 }.map {
          (old.schema.entities[$0.source].source.name, $0.offset)
        }
      ) { first, _ in first },
      fileBytes: fileBytes, rewrittenBytes: rewrittenBytes)
    survey.roundings = try roundings()
    return survey
  }

  /// The number of rows of each entity by name, without those of its sub-entities.
  ///
  /// - Parameters:
  ///   - physical: the places of the entities.
  ///   - table: the table of an entity, quoted.
  ///   - counted: runs a statement.
  public static func rows(
    of physical: PhysicalSchema, _ table: (EntityIndex) -> String, _ counted: Counting
  ) throws(StoreError) -> [String: Int] {
    var result: [String: Int] = [:]
    for entity in physical.schema.entities
    where physical.held.contains(entity.index) && !entity.source.isAbstract {
      let number = physical.numbers[entity.index]
      result[entity.source.name] = try counted(
        SQLPiece(
          "SELECT COUNT(*) FROM \(table(entity.index)) WHERE \(physical.fixed.entity) = ?", [.integer(number)]
        ))
    }
    return result
  }

  func table(_ entity: EntityIndex) -> String { moves.table(of: entity) }

  func values(of move: EntityMoves.Move) -> ValueSource {
    ValueSource(moves: moves, move: move, dialect: script.dialect, now: now)
  }

  /// Refuses a migration that has obstacles.
  ///
  /// - Throws: `.migration` with all of them.
  public static func refuse(_ obstacles: [MigrationObstacle]) throws(StoreError) {
    guard let first = obstacles.first else { return }
    throw StoreError(
      .migration,
      "The store can't be migrated, and stays as it is. \(obstacles.map(\.description).joined(separator: " "))",
      entity: first.entity, properties: first.properties, obstacles: obstacles)
  }

  /// The reasons why the migration would fail. Reads all rows that would move.
  public func obstacles() throws(StoreError) -> [MigrationObstacle] {
    var result: [MigrationObstacle] = []
    func add(_ kind: MigrationObstacle.Kind, _ entity: String, _ properties: [String], _ count: Int) {
      if count > 0 {
        result.append(MigrationObstacle(kind, entity: entity, properties: properties, count: count))
      }
    }
    for move in moves.moves {
      let entity = new.schema.entities[move.destination]
      let name = entity.source.name
      let number = old.numbers[move.source]
      let rows = rows(of: move)
      if entity.source.isAbstract {
        add(.abstractObjects, name, [], try counted(SQLPiece(rows)))
      }
      let source = values(of: move)
      for property in entity.layout.properties where !property.isTransient {
        switch property.kind {
        case .attribute(let attribute), .composite(let attribute):
          for leaf in try unfitNumbers(property, attribute, source) {
            add(.unfitValues, name, [leaf.name], leaf.count)
          }
          guard let missing = source.missing(property, attribute) else { continue }
          let piece = SQLPiece("\(rows) AND \(missing.sql)", missing.bindings)
          add(.missingValues, name, [property.name], try counted(piece))
        case .toOne:
          for relation in source.sources(property) {
            guard let surplus = relation.surplus(of: number, moves) else { continue }
            add(.severalObjects, name, [property.name], try counted(SQLPiece(surplus)))
          }
          add(.missingObjects, name, [property.name], try missing(property, source))
        case .toMany(let relationship):
          let found = try unfitCounts(property, relationship, source)
          add(.missingObjects, name, [property.name], found.below)
          add(.surplusObjects, name, [property.name], found.above)
        }
      }
      try addMembers(of: move, source, number, add)
    }
    for table in script.tables { try addDuplicates(in: table, add) }
    try addUnknown(add)
    return result
  }

  /// A table of one entity has no such rows: they are read as that entity's, whatever their number is.
  private func addUnknown(
    _ add: (MigrationObstacle.Kind, String, [String], Int) -> Void
  ) throws(StoreError) {
    let written = Set(script.renamed.map(\.table))
    for root in old.tables.keys.sorted() {
      guard let table = old.tables[root], written.contains(table.name) else { continue }
      let held = old.schema.entities[root.entity].subtree.filter(old.held.contains)
      if held.count == 1 { continue }
      let entity = old.fixed.entity
      let numbers = held.map { "\(old.numbers[$0])" }.joined(separator: ", ")
      let rows = SQLPiece(
        "SELECT COUNT(*) FROM \(quoted(table.name)) WHERE \(entity) IS NULL OR \(entity) NOT IN (\(numbers))")
      add(.unknownEntities, old.schema.entities[root.entity].source.name, [], try counted(rows))
    }
  }

  /// A member of a to-many relationship without an inverse has one owner.
  private func addMembers(
    of move: EntityMoves.Move, _ source: ValueSource, _ number: Int64,
    _ add: (MigrationObstacle.Kind, String, [String], Int) -> Void
  ) throws(StoreError) {
    let root = new.schema.entities[move.destination].root
    for column in new.tables[root]?.columns ?? [] {
      guard case .impliedKey = column.source,
        new.schema.entities[column.entity].subtree.contains(move.destination)
      else { continue }
      for relation in source.sources(ofMembersIn: column.property, of: column.declaringEntity) {
        guard let surplus = relation.surplus(of: number, moves) else { continue }
        let owner = new.schema.entities[column.declaringEntity].source.name
        add(.severalObjects, owner, [column.property], try counted(SQLPiece(surplus)))
      }
    }
  }

  // MARK: Unique values

  private func addDuplicates(
    in table: MigrationScript.Table,
    _ add: (MigrationObstacle.Kind, String, [String], Int) -> Void
  ) throws(StoreError) {
    for entity in new.schema.entities
    where new.held.contains(entity.index) && new.tableName(of: entity.index) == table.name {
      for constraint in entity.source.uniquenessConstraints where !isOld(constraint, entity, table) {
        var pieces: [SQLPiece] = []
        var width = 0
        for move in moves.moves(into: entity.index) {
          let values = self.values(constraint, of: move)
          width = values.count
          let columns = SQLPiece.joined(
            values.enumerated().map { SQLPiece("\($1.sql) AS c\($0)", $1.bindings) }, ", ")
          pieces.append(
            SQLPiece(
              "SELECT \(columns.sql) FROM \(self.table(move.source)) AS s "
                + "WHERE s.\(old.fixed.entity) = \(old.numbers[move.source])", columns.bindings))
        }
        guard width > 0 else { continue }
        let rows = SQLPiece.joined(pieces, " UNION ALL ")
        let names = (0..<width).map { "c\($0)" }
        let found = SQLPiece(
          "SELECT COUNT(*) FROM (SELECT 1 FROM (\(rows.sql)) AS v "
            + "WHERE \(names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) "
            + "GROUP BY \(names.joined(separator: ", ")) HAVING COUNT(*) > 1) AS f", rows.bindings)
        add(.duplicateValues, entity.source.name, constraint, try counted(found))
      }
    }
  }

  /// Whether the table stays as it is and had the same constraint before.
  private func isOld(
    _ constraint: [String], _ entity: ResolvedSchema.Entity, _ table: MigrationScript.Table
  ) -> Bool {
    guard table.kept != nil, let columns = columns(constraint, entity.index, new) else { return false }
    return old.schema.entities.contains { former in
      old.held.contains(former.index) && old.tableName(of: former.index) == table.name
        && former.source.uniquenessConstraints.contains {
          self.columns($0, former.index, old) == columns
        }
    }
  }

  private func columns(_ names: [String], _ entity: EntityIndex, _ physical: PhysicalSchema) -> [String]? {
    let columns = names.map { physical.columns(of: $0, in: entity) }
    return columns.contains { $0 == nil } ? nil : columns.flatMap { $0! }
  }

  private func values(_ constraint: [String], of move: EntityMoves.Move) -> [SQLPiece] {
    let source = self.values(of: move)
    let layout = new.schema.entities[move.destination].layout
    return constraint.flatMap { path -> [SQLPiece] in
      let head = path.split(separator: ".").first.map(String.init) ?? path
      guard let property = layout.property(named: head),
        let wanted = new.columns(of: path, in: move.destination)
      else { return [] }
      let values: [ValueSource.Value]
      switch property.kind {
      case .attribute(let attribute), .composite(let attribute):
        values = source.attribute(property, attribute)
      case .toOne: values = source.toOne(property)
      case .toMany: values = []
      }
      let names = property.cells.map { new.cellColumns[move.destination][$0] }
      return zip(names, values).filter { wanted.contains($0.0) }.map(\.1.piece)
    }
  }
}
