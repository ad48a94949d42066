public import CDEStore

/// Which entity each old row has afterwards, and which key.
///
/// Keys stay as they are. Where the rows of several tables come into one, as below a new parent, the rows of the first table keep
/// their keys, and a number is added to those of the others.
@_spi(CDE) public struct EntityMoves: Sendable {
  /// The rows of one old entity.
  public struct Move: Sendable {
    /// The old entity.
    public var source: EntityIndex
    /// The new entity.
    public var destination: EntityIndex
    /// What is added to the keys.
    public var offset: Int64
    /// Where the values of the new entity's properties come from.
    public var properties: [String: StoreMigration.Property]
  }

  /// The places of the old schema's parts.
  public let source: PhysicalSchema
  /// The places of the new schema's parts.
  public let destination: PhysicalSchema
  /// The rows that stay, in the order of the new entities.
  public private(set) var moves: [Move]
  private var bySource: [EntityIndex: Move] = [:]
  /// The last key that the rows of a new table have.
  public private(set) var lastKeys: [RootIndex: Int64] = [:]
  /// The names that old tables have while the new ones are filled.
  public internal(set) var renamed: [String: String] = [:]

  /// Finds what becomes of rows. Entities that one of the databases does not hold are left out.
  ///
  /// - Parameters:
  ///   - migration: what becomes of the entities.
  ///   - source: the places of the old schema's parts.
  ///   - destination: the places of the new schema's parts.
  ///   - old: the last key given out in each old table.
  public init(
    _ migration: StoreMigration, from source: PhysicalSchema, to destination: PhysicalSchema,
    lastKeys old: [RootIndex: Int64]
  ) {
    self.source = source
    self.destination = destination
    moves = migration.entities.compactMap { entity in
      guard let from = source.schema.entity(named: entity.source)?.index, source.held.contains(from),
        let to = destination.schema.entity(named: entity.destination)?.index, destination.held.contains(to)
      else { return nil }
      return Move(source: from, destination: to, offset: 0, properties: entity.properties)
    }.sorted { $0.destination < $1.destination }
    for root in destination.tables.keys {
      var feeders: [RootIndex] = []
      for move in moves where destination.schema.entities[move.destination].root == root {
        let feeder = source.schema.entities[move.source].root
        if !feeders.contains(feeder) { feeders.append(feeder) }
      }
      feeders.sort()
      // The root's own rows keep their keys.
      if let own = moves.first(where: { $0.destination == root.entity }) {
        let feeder = source.schema.entities[own.source].root
        feeders.removeAll { $0 == feeder }
        feeders.insert(feeder, at: 0)
      }
      var offset: Int64 = 0
      for feeder in feeders {
        for index in moves.indices
        where source.schema.entities[moves[index].source].root == feeder
          && destination.schema.entities[moves[index].destination].root == root
        {
          moves[index].offset = offset
        }
        offset += old[feeder] ?? 0
      }
      lastKeys[root] = offset
    }
    for move in moves { bySource[move.source] = move }
  }

  /// What becomes of the rows of an old entity; nil if they are removed.
  public func move(of entity: EntityIndex) -> Move? { bySource[entity] }

  /// The moves to an entity and its sub-entities.
  func moves(into entity: EntityIndex) -> [Move] {
    moves.filter { destination.schema.entities[entity].subtree.contains($0.destination) }
  }

  // MARK: SQL

  /// The current name of an old table.
  public func table(_ name: String) -> String { quoted(renamed[name] ?? name) }

  /// The old table of an old entity.
  public func table(of entity: EntityIndex) -> String { table(source.tableName(of: entity)) }

  /// A reference to an old row as one to the new row.
  ///
  /// - Parameters:
  ///   - reference: the SQL of an old key.
  ///   - entity: the old entity to which it leads.
  ///   - allowed: the new entity to which it has to lead; it becomes nil if the row has another one afterwards, or is removed.
  func key(_ reference: String, to entity: EntityIndex, allowed: EntityIndex) -> String {
    let rows = rows(of: entity)
    let range = destination.schema.entities[allowed].subtree
    let kept = rows.compactMap { index in
      bySource[index].flatMap { range.contains($0.destination) ? $0 : nil }
    }
    if kept.count == rows.count, let first = kept.first, kept.allSatisfy({ $0.offset == first.offset }) {
      return first.offset == 0 ? reference : "\(reference) + \(first.offset)"
    }
    return choice(kept, reference, entity) { "r.\(source.fixed.key) + \($0.offset)" }
  }

  /// The number of the new entity of the row to which a reference leads.
  func number(_ reference: String, to entity: EntityIndex, allowed: EntityIndex) -> String {
    let range = destination.schema.entities[allowed].subtree
    let kept = rows(of: entity).compactMap { index in
      bySource[index].flatMap { range.contains($0.destination) ? $0 : nil }
    }
    return choice(kept, reference, entity) { "\(destination.numbers[$0.destination])" }
  }

  /// Whether the entities that a reference may lead to keep their numbers.
  func keepsNumbers(of entity: EntityIndex, allowed: EntityIndex) -> Bool {
    let range = destination.schema.entities[allowed].subtree
    return rows(of: entity).allSatisfy { index in
      guard let move = bySource[index], range.contains(move.destination) else { return false }
      return source.numbers[index] == destination.numbers[move.destination]
    }
  }

  /// The entities of the rows that a reference to an entity may lead to.
  private func rows(of entity: EntityIndex) -> [EntityIndex] {
    source.schema.entities[entity].subtree.filter { index in
      source.held.contains(index) && !source.schema.entities[index].source.isAbstract
    }
  }

  /// The numbers of the old entities of those rows that stay; nil if all of them do.
  func survivors(of entity: EntityIndex) -> [Int64]? {
    let rows = rows(of: entity)
    let kept = rows.filter { bySource[$0] != nil }
    return kept.count == rows.count ? nil : kept.map { source.numbers[$0] }
  }

  private func choice(
    _ moves: [Move], _ reference: String, _ entity: EntityIndex, _ value: (Move) -> String
  ) -> String {
    guard !moves.isEmpty else { return "NULL" }
    let cases = moves.map { "WHEN \(source.numbers[$0.source]) THEN \(value($0))" }
    return
      "(SELECT CASE r.\(source.fixed.entity) \(cases.joined(separator: " ")) END FROM \(table(of: entity)) AS r "
      + "WHERE r.\(source.fixed.key) = \(reference))"
  }
}
