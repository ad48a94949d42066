@_spi(CDE) import CDESQL
import CDEStore

/// The statements of a migration: which tables are written anew, and from what.
///
/// A value that is made from two schemas and the places of their parts. It reads nothing.
struct MigrationScript {
  /// A table with the rows of a tree of entities, or the pairs of a many-to-many relationship.
  struct Table {
    var name: String
    var inserts: [Insert]
    /// Statements after all tables are filled.
    var completions: [String]
    /// The old table that has these rows already; nil if the table has to be written.
    var kept: String?
  }

  /// A statement that copies the rows of one entity, or pairs.
  struct Insert {
    var piece: SQLPiece
    /// The greatest key among its rows, which it copies in the order of their keys; 0 for pairs.
    var lastKey: Int64
  }

  private(set) var moves: EntityMoves
  private(set) var tables: [Table] = []
  /// Columns of new tables whose values may be in files although their attributes no longer allow it.
  private(set) var inlined: [Inlined] = []

  struct Inlined {
    /// Selects new keys and the cells that name files.
    var select: String
    /// Parameters: the value and the key.
    var update: String
  }

  private let now: Double
  private var old: PhysicalSchema { moves.source }
  private var new: PhysicalSchema { moves.destination }

  /// - Parameters:
  ///   - moves: what becomes of the rows.
  ///   - now: the time of the migration, in seconds since 2001.
  init(_ moves: EntityMoves, now: Double) {
    self.now = now
    self.moves = moves
    preflight = moves
    compile()
    // With the tables known that stay, the others are renamed to make room for the new ones.
    let kept = Set(tables.compactMap(\.kept))
    let names = moves.source.tables.values.map(\.name) + moves.source.joinTables.map(\.name)
    self.moves.renamed = Dictionary(
      uniqueKeysWithValues: names.filter { !kept.contains($0) }.map { ($0, "Z_CDE_OLD_\($0)") })
    compile()
  }

  /// The moves with the names that tables have before the migration.
  let preflight: EntityMoves

  /// The old tables that are replaced or removed, with the names they have meanwhile.
  var renamed: [(table: String, temporary: String)] {
    moves.renamed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private mutating func compile() {
    tables = []
    inlined = []
    for root in new.tables.keys.sorted() { tables.append(table(of: root)) }
    for joinTable in new.joinTables { tables.append(table(of: joinTable)) }
  }

  func values(of move: EntityMoves.Move) -> ValueSource { ValueSource(moves: moves, move: move, now: now) }

  // MARK: Tables of entities

  private mutating func table(of root: RootIndex) -> Table {
    let table = new.tables[root]!
    var result = Table(name: table.name, inserts: [], completions: [], kept: nil)
    var copies: [Bool] = []
    let moved = moves.moves.filter { new.schema.entities[$0.destination].root == root }
    for move in moved {
      let (insert, isCopy) = insert(move, into: table)
      result.inserts.append(Insert(piece: insert, lastKey: moves.lastKeys[root] ?? 0))
      copies.append(isCopy)
      appendInlined(move, table)
    }
    result.completions = orders(of: table)
    let former = moved.first.map { old.schema.entities[$0.source].root }
    if let former, let formerTable = old.tables[former], formerTable.name == table.name,
      copies.allSatisfy(\.self), result.completions.isEmpty,
      moved.allSatisfy({ old.schema.entities[$0.source].root == former }),
      Self.declarations(formerTable) == Self.declarations(table),
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

  private static func declarations(_ table: PhysicalSchema.Table) -> [String: String] {
    Dictionary(table.columns.map { ($0.name, $0.declaration) }) { first, _ in first }
  }

  /// The statement that copies the rows of one entity, and whether it would leave them as they are.
  private func insert(
    _ move: EntityMoves.Move, into table: PhysicalSchema.Table
  ) -> (SQLPiece, Bool) {
    let source = values(of: move)
    let number = old.numbers[move.source]
    var isCopy = move.offset == 0 && number == new.numbers[move.destination]
    var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
    var pieces = [
      SQLPiece(move.offset == 0 ? "s.Z_PK" : "s.Z_PK + \(move.offset)"),
      SQLPiece("\(new.numbers[move.destination])"), SQLPiece("s.Z_OPT"),
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
          + "FROM \(moves.table(of: move.source)) AS s WHERE s.Z_ENT = \(number)", values.bindings), isCopy
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
        Self.numbering(table.name, key: "Z_PK", owner: key, sort: "Z_PK", order: column.name))
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
  private static func numbering(
    _ table: String, key: String, owner: String, sort: String, order: String
  ) -> String {
    let (table, owner, order) = (quoted(table), quoted(owner), quoted(order))
    return "UPDATE \(table) SET \(order) = n.place FROM (SELECT rowid AS number, "
      + "1024 * (1 + ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(quoted(sort)))) AS place "
      + "FROM \(table) WHERE \(owner) IS NOT NULL) AS n WHERE \(table).rowid = n.number"
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
      let values = zip(["k1", "k2"], keys).map { "\($1) AS \($0)" } + places
      let sql =
        "INSERT OR IGNORE INTO \(quoted(joinTable.name)) (\(columns.map(quoted).joined(separator: ", "))) "
        + "SELECT * FROM (SELECT \(values.joined(separator: ", ")) "
        + "FROM (\(source.pairs(moves, keepsReflexive: joinTable.isReflexive)))) "
        + "WHERE k1 IS NOT NULL AND k2 IS NOT NULL"
      result.inserts.append(Insert(piece: SQLPiece(sql), lastKey: 0))
    }
    let isOrdered = zip(orders, Self.places(of: sources)).map { $0 == nil || $1 || sources.isEmpty }
    if let order = joinTable.secondOrder, !isOrdered[0] {
      result.completions.append(
        Self.numbering(
          joinTable.name, key: "rowid", owner: joinTable.first, sort: joinTable.second, order: order))
    }
    if let order = joinTable.firstOrder, !isOrdered[1] {
      result.completions.append(
        Self.numbering(
          joinTable.name, key: "rowid", owner: joinTable.second, sort: joinTable.first, order: order))
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
          select: "SELECT s.Z_PK + \(move.offset), \(column) FROM \(moves.table(of: move.source)) AS s "
            + "WHERE s.Z_ENT = \(old.numbers[move.source]) AND substr(\(column), 1, 1) = X'02'",
          update: "UPDATE \(quoted(table.name)) SET \(quoted(new.cellColumns[move.destination][target])) = ? "
            + "WHERE Z_PK = ?"))
    }
  }
}
