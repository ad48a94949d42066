public import CDEStore

/// The statements of a migration: which tables are written anew, and from what.
///
/// A value that is made from two schemas and the places of their parts. It reads nothing.
@_spi(CDE) public struct MigrationScript: Sendable {
  /// A table with the rows of a tree of entities, or the pairs of a many-to-many relationship.
  public struct Table: Sendable {
    /// The name of the table.
    public var name: String
    /// The statements that fill it.
    public var inserts: [Insert]
    /// Statements after all tables are filled.
    public var completions: [String]
    /// The old table that has these rows already; nil if the table has to be written.
    public var kept: String?
  }

  /// A statement that copies the rows of one entity, or pairs.
  public struct Insert: Sendable {
    /// The statement. It ends with a condition, so that ` AND …` can follow.
    public var piece: SQLPiece
    /// The old table that it reads as `s`, quoted; nil for pairs.
    public var source: String?
    /// The greatest key among its rows, which it copies in the order of their keys; 0 for pairs.
    public var lastKey: Int64
  }

  /// What becomes of the rows.
  public private(set) var moves: EntityMoves
  /// The new tables.
  public private(set) var tables: [Table] = []
  /// Columns of new tables whose values may be in files although their attributes no longer allow it.
  public private(set) var inlined: [Inlined] = []
  /// Derived attributes that the database can't compute. The process computes them when all tables are filled.
  public private(set) var computed: [Computed] = []

  /// A column whose values may be in files.
  public struct Inlined: Sendable {
    /// Selects new keys and the cells that name files.
    public var select: String
    /// Parameters: the value and the key.
    public var update: String
  }

  /// A derived attribute, and the attribute of the same rows that it derives from, as new columns.
  public struct Computed: Sendable {
    /// The new table.
    public var table: String
    /// The number of the rows' entity.
    public var number: Int64
    /// The column of the other attribute.
    public var source: String
    /// The column of the derived attribute.
    public var column: String
    /// How the value derives.
    public var derivation: StoreDerivation
  }

  let dialect: any MigrationDialect
  private let now: Double
  private var old: PhysicalSchema { moves.source }
  private var new: PhysicalSchema { moves.destination }

  /// Makes the statements. Linear in the size of the schemas.
  ///
  /// - Parameters:
  ///   - moves: what becomes of the rows.
  ///   - dialect: how the database spells the statements.
  ///   - now: the time of the migration, in seconds since 2001.
  public init(_ moves: EntityMoves, _ dialect: some MigrationDialect, now: Double) {
    self.dialect = dialect
    self.now = now
    self.moves = moves
    preflight = moves
    compile()
    // With the tables known that stay, the others are renamed to make room for the new ones.
    let kept = Set(tables.compactMap(\.kept))
    let names = moves.source.tables.values.map(\.name) + moves.source.joinTables.map(\.name)
    self.moves.renamed = Dictionary(
      uniqueKeysWithValues: names.filter { !kept.contains($0) }.map { ($0, dialect.temporaryName($0)) })
    compile()
  }

  /// The moves with the names that tables have before the migration.
  public let preflight: EntityMoves

  /// The old tables that are replaced or removed, with the names they have meanwhile.
  public var renamed: [(table: String, temporary: String)] {
    moves.renamed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Old tables of a single entity that are read, and the number that all their rows must get before. The rows are read whatever
  /// their number is, so they must not be lost.
  public var strays: [(table: String, number: Int64)] {
    let read = Set(renamed.map(\.table))
    return old.tables.sorted { $0.key < $1.key }.compactMap { root, table in
      let held = old.schema.entities[root.entity].subtree.filter(old.held.contains)
      return read.contains(table.name) && held.count == 1 ? (table.name, old.numbers[held[0]]) : nil
    }
  }

  private mutating func compile() {
    tables = []
    inlined = []
    computed = []
    for root in new.tables.keys.sorted() { tables.append(table(of: root)) }
    for joinTable in new.joinTables { tables.append(table(of: joinTable)) }
  }

  func values(of move: EntityMoves.Move) -> ValueSource {
    ValueSource(moves: moves, move: move, dialect: dialect, now: now)
  }

  // MARK: Tables of entities

  private mutating func table(of root: RootIndex) -> Table {
    let table = new.tables[root]!
    var result = Table(name: table.name, inserts: [], completions: [], kept: nil)
    var copies: [Bool] = []
    let moved = moves.moves.filter { new.schema.entities[$0.destination].root == root }
    for move in moved {
      let (insert, isCopy) = insert(move, into: table)
      result.inserts.append(
        Insert(piece: insert, source: moves.table(of: move.source), lastKey: moves.lastKeys[root] ?? 0))
      copies.append(isCopy)
      if dialect.keepsValuesInFiles { appendInlined(move, table) }
      appendComputed(move, table)
    }
    result.completions = orders(of: table)
    let former = moved.first.map { old.schema.entities[$0.source].root }
    if let former, let formerTable = old.tables[former], formerTable.name == table.name,
      copies.allSatisfy(\.self), result.completions.isEmpty,
      moved.allSatisfy({ old.schema.entities[$0.source].root == former }),
      declarations(formerTable) == declarations(table),
      // No row of the old table is left behind.
      old.schema.entities[former.entity].subtree.allSatisfy({ entity in
        !old.held.contains(entity) || old.schema.entities[entity].source.isAbstract
          || moves.move(of: entity).map { new.schema.entities[$0.destination].root == root } == true
      })
    {
      result.kept = formerTable.name
    }
    return result
  }

  private func declarations(_ table: PhysicalSchema.Table) -> [String: String] {
    Dictionary(table.columns.map { ($0.name, dialect.declaration($0)) }) { first, _ in first }
  }

  /// The statement that copies the rows of one entity, and whether it would leave them as they are.
  private func insert(
    _ move: EntityMoves.Move, into table: PhysicalSchema.Table
  ) -> (SQLPiece, Bool) {
    let source = values(of: move)
    let number = old.numbers[move.source]
    var isCopy = move.offset == 0 && number == new.numbers[move.destination]
    let fixed = new.fixed
    var columns = [fixed.key, fixed.entity, fixed.version]
    var pieces = [
      SQLPiece(move.offset == 0 ? "s.\(fixed.key)" : "s.\(fixed.key) + \(move.offset)"),
      SQLPiece("\(new.numbers[move.destination])"), SQLPiece("s.\(fixed.version)"),
    ]
    func add(_ column: String, _ value: ValueSource.Value) {
      if value.copied != column { isCopy = false }
      if value.piece.sql == "NULL" { return }
      columns.append(quoted(column))
      pieces.append(value.piece)
    }
    let layout = new.schema.entities[move.destination].layout
    for property in layout.properties where !property.isTransient {
      let names = property.cells.map { new.cellColumns[move.destination][$0] }
      switch property.kind {
      case .attribute(let attribute), .composite(let attribute):
        for (name, value) in zip(names, source.attribute(property, attribute)) { add(name, value) }
      case .toOne:
        for (name, value) in zip(names, source.toOne(property)) { add(name, value) }
      case .toMany: continue
      }
    }
    for column in table.columns {
      guard new.schema.entities[column.entity].subtree.contains(move.destination) else { continue }
      let sources = source.sources(ofMembersIn: column.property, of: column.declaringEntity)
      switch column.source {
      case .impliedKey: add(column.name, source.key(sources, column.declaringEntity))
      case .impliedOrder: add(column.name, source.order(sources))
      case .property: continue
      }
    }
    let values = SQLPiece.joined(pieces, ", ")
    return (
      SQLPiece(
        "INSERT INTO \(quoted(table.name)) (\(columns.joined(separator: ", "))) SELECT \(values.sql) "
          + "FROM \(moves.table(of: move.source)) AS s WHERE s.\(fixed.entity) = \(number)", values.bindings),
      isCopy
    )
  }

  // MARK: Orders

  /// Gives places to the rows of ordered relationships that have none, because their order is new.
  private func orders(of table: PhysicalSchema.Table) -> [String] {
    var result: [String] = []
    for column in table.columns {
      let key: String?
      switch column.source {
      case .property(_, .order):
        guard lacksOrder(column) else { continue }
        key = new.columns(of: column.property, in: column.declaringEntity)?.first
      case .impliedOrder:
        guard lacksOrder(column) else { continue }
        key = new.impliedColumns[.init(entity: column.declaringEntity, property: column.property)]?.key
      case .property, .impliedKey: continue
      }
      guard let key else { continue }
      result.append(
        numbering(table.name, owner: key, sort: new.fixed.key, order: column.name))
    }
    return result
  }

  private func lacksOrder(_ column: PhysicalSchema.Column) -> Bool {
    moves.moves(into: column.entity).contains { move in
      let source = values(of: move)
      let sources: [RelationSource]
      if case .impliedOrder = column.source {
        sources = source.sources(ofMembersIn: column.property, of: column.declaringEntity)
      } else {
        let layout = new.schema.entities[move.destination].layout
        sources = layout.property(named: column.property).map(source.sources) ?? []
      }
      return !sources.isEmpty && source.order(sources).piece.sql == "NULL"
    }
  }

  /// Core Data's spacing: the first place is 2048, the next ones are 1024 apart.
  ///
  /// - Parameter sort: a column as statements write it.
  private func numbering(_ table: String, owner: String, sort: String, order: String) -> String {
    let (table, owner, order, address) = (quoted(table), quoted(owner), quoted(order), dialect.rowAddress)
    return "UPDATE \(table) SET \(order) = n.place FROM (SELECT \(address) AS number, "
      + "1024 * (1 + ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(sort))) AS place "
      + "FROM \(table) WHERE \(owner) IS NOT NULL) AS n WHERE \(table).\(address) = n.number"
  }

  // MARK: Tables of pairs

  private func table(of joinTable: JoinTable) -> Table {
    let sources = sources(of: joinTable)
    let destination = joinTable.other.entity
    var result = Table(name: joinTable.name, inserts: [], completions: [], kept: nil)
    let orders = [joinTable.secondOrder, joinTable.firstOrder]
    let columns = [joinTable.first, joinTable.second] + orders.compactMap(\.self)
    for source in sources {
      let keys = [
        moves.key("me", to: source.entity, allowed: joinTable.naming.entity),
        moves.key("other", to: source.other, allowed: destination),
      ]
      let places = zip(orders, ["place", "own"]).filter { $0.0 != nil }.map(\.1)
      let values = zip(["k1", "k2"], keys).map { "\($1 == "NULL" ? dialect.noKey : $1) AS \($0)" } + places
      let pairs = source.pairs(moves, keepsReflexive: joinTable.isReflexive, noKey: dialect.noKey)
      let query =
        "SELECT * FROM (SELECT \(values.joined(separator: ", ")) FROM (\(pairs)) AS o) AS k "
        + "WHERE k1 IS NOT NULL AND k2 IS NOT NULL"
      let target = "\(quoted(joinTable.name)) (\(columns.map(quoted).joined(separator: ", ")))"
      result.inserts.append(
        Insert(piece: SQLPiece(dialect.insertion(ofNewRows: query, into: target)), source: nil, lastKey: 0))
    }
    let isOrdered = zip(orders, Self.places(of: sources)).map { $0 == nil || $1 || sources.isEmpty }
    if let order = joinTable.secondOrder, !isOrdered[0] {
      result.completions.append(
        numbering(joinTable.name, owner: joinTable.first, sort: quoted(joinTable.second), order: order))
    }
    if let order = joinTable.firstOrder, !isOrdered[1] {
      result.completions.append(
        numbering(joinTable.name, owner: joinTable.second, sort: quoted(joinTable.first), order: order))
    }
    if sources.count == 1, result.completions.isEmpty, isSame(joinTable, sources[0]) {
      result.kept = joinTable.name
    }
    return result
  }

  /// Whether all sources know the place of the other row, and of the row itself.
  private static func places(of sources: [RelationSource]) -> [Bool] {
    [
      sources.allSatisfy { source in
        switch source.shape {
        case .here: false
        case .there(_, _, let order), .pairs(_, _, _, let order, _, _): order != nil
        }
      },
      sources.allSatisfy { source in
        switch source.shape {
        case .there: false
        case .here(_, _, let own), .pairs(_, _, _, _, let own, _): own != nil
        }
      },
    ]
  }

  private func sources(of joinTable: JoinTable) -> [RelationSource] {
    var result: [RelationSource] = []
    for (key, isReversed) in [(joinTable.naming, false), (joinTable.other, true)] where result.isEmpty {
      for move in moves.moves(into: key.entity) {
        guard let name = move.properties[key.property]?.source,
          let found = RelationSource(name, of: move.source, in: old)
        else { continue }
        let source = isReversed ? found.reversed(in: old) : found
        if !result.contains(source) { result.append(source) }
      }
    }
    return result
  }

  private func isSame(_ joinTable: JoinTable, _ source: RelationSource) -> Bool {
    guard case .pairs(let table, let key, let other, let order, let own, let isReflexive) = source.shape,
      let former = old.joinTables.first(where: { $0.name == table })
    else { return false }
    return table == joinTable.name && key == joinTable.first && other == joinTable.second
      && former.first == key && order == joinTable.secondOrder && own == joinTable.firstOrder
      && isReflexive == joinTable.isReflexive
      && moves.key("me", to: source.entity, allowed: joinTable.naming.entity) == "me"
      && moves.key("other", to: source.other, allowed: joinTable.other.entity) == "other"
  }

  // MARK: Derived values

  private mutating func appendComputed(_ move: EntityMoves.Move, _ table: PhysicalSchema.Table) {
    let layout = new.schema.entities[move.destination].layout
    let columns = new.cellColumns[move.destination]
    let source = values(of: move)
    for property in layout.properties where !property.isTransient {
      guard case .attribute(let attribute) = property.kind, let derivation = attribute.derivation,
        let other = source.uncomputed(property, derivation), let cell = property.cells.first,
        let from = other.cells.first
      else { continue }
      computed.append(
        Computed(
          table: table.name, number: new.numbers[move.destination], source: columns[from],
          column: columns[cell], derivation: derivation))
    }
  }

  // MARK: Values in files

  private mutating func appendInlined(_ move: EntityMoves.Move, _ table: PhysicalSchema.Table) {
    let layout = new.schema.entities[move.destination].layout
    let former = old.schema.entities[move.source].layout
    for property in layout.properties {
      guard case .attribute(let attribute) = property.kind, !attribute.allowsExternalStorage,
        let name = move.properties[property.name]?.source, let source = former.property(named: name),
        case .attribute(let before) = source.kind, before.allowsExternalStorage,
        let cell = source.cells.first, let target = property.cells.first
      else { continue }
      let column = "s.\(quoted(old.cellColumns[move.source][cell]))"
      inlined.append(
        Inlined(
          select:
            "SELECT s.\(old.fixed.key) + \(move.offset), \(column) FROM \(moves.table(of: move.source)) AS s "
            + "WHERE s.\(old.fixed.entity) = \(old.numbers[move.source]) AND substr(\(column), 1, 1) = X'02'",
          update: "UPDATE \(quoted(table.name)) SET \(quoted(new.cellColumns[move.destination][target])) = ? "
            + "WHERE \(new.fixed.key) = ?"))
    }
  }
}
