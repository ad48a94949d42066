import CDEStore

/// Computes the values of one new entity's cells from the rows of its old entity, the alias `s`.
struct ValueSource {
  let moves: EntityMoves
  let move: EntityMoves.Move
  let dialect: any MigrationDialect
  /// The time of the migration, in seconds since 2001.
  let now: Double

  private var old: PhysicalSchema { moves.source }
  private var new: PhysicalSchema { moves.destination }
  private var layout: RowLayout { new.schema.entities[move.destination].layout }

  /// A value, and the old column that it is equal to.
  struct Value {
    var piece: SQLPiece
    var copied: String?

    static let null = Value(piece: SQLPiece("NULL"))
  }

  // MARK: Attributes

  /// The values of the leaves of an attribute or composite.
  func attribute(_ property: RowLayout.Property, _ attribute: StoreAttribute) -> [Value] {
    if let derivation = attribute.derivation { return [derived(property, derivation)] }
    let mapping = move.properties[property.name]
    let sources = mapping.map(oldLeaves) ?? [:]
    return attribute.leafPaths.enumerated().map { index, leaf in
      let fallback =
        mapping.flatMap { $0.defaults.indices.contains(index) ? $0.defaults[index] : nil } ?? .null
      guard let (column, former) = sources[leaf.path] else {
        return Value(
          piece: fallback == .null ? SQLPiece("NULL") : dialect.constant(fallback, for: leaf.attribute))
      }
      var value = Value(piece: SQLPiece("s.\(quoted(column))"), copied: column)
      if let converted = dialect.converted(value.piece.sql, from: former, to: leaf.attribute) {
        value = Value(piece: SQLPiece(converted))
      }
      let isRequired = leaf.path.isEmpty ? !attribute.isOptional : !leaf.attribute.isOptional
      if isRequired, fallback != .null {
        let constant = dialect.constant(fallback, for: leaf.attribute)
        value.piece = SQLPiece(
          "COALESCE(\(value.piece.sql), \(constant.sql))", value.piece.bindings + constant.bindings)
        if former.isOptional { value.copied = nil }
      }
      return value
    }
  }

  /// The columns of an old attribute by the path of the leaf in the new one; empty for anything else.
  private func oldLeaves(_ mapping: StoreMigration.Property) -> [[String]: (
    column: String, leaf: StoreAttribute
  )] {
    let layout = old.schema.entities[move.source].layout
    guard let name = mapping.source, let property = layout.property(named: name), !property.isTransient
    else { return [:] }
    switch property.kind {
    case .attribute(let attribute), .composite(let attribute):
      let columns = property.cells.map { old.cellColumns[move.source][$0] }
      let leaves = Dictionary(zip(attribute.leafPaths, columns).map { ($0.path, ($1, $0.attribute)) }) {
        first, _ in first
      }
      return mapping.elements.isEmpty ? leaves : mapping.elements.compactMapValues { leaves[$0] }
    case .toOne, .toMany: return [:]
    }
  }

  /// A leaf of an attribute that has numbers of another type in the old row.
  struct NumberLeaf {
    /// The attribute's name, or the path of a composite's leaf.
    var name: String
    /// The SQL of the old value.
    var column: String
    var change: NumberChange
  }

  /// The leaves of an attribute whose numbers get another type.
  func numberChanges(_ property: RowLayout.Property, _ attribute: StoreAttribute) -> [NumberLeaf] {
    guard attribute.derivation == nil, let mapping = move.properties[property.name] else { return [] }
    let sources = oldLeaves(mapping)
    return attribute.leafPaths.compactMap { leaf in
      guard let (column, former) = sources[leaf.path],
        let change = NumberChange(from: former.type, to: leaf.attribute.type)
      else { return nil }
      return NumberLeaf(
        name: ([property.name] + leaf.path).joined(separator: "."), column: "s.\(quoted(column))",
        change: change)
    }
  }

  private func derived(_ property: RowLayout.Property, _ derivation: StoreDerivation) -> Value {
    var kept: Value?
    if let mapping = move.properties[property.name], let name = mapping.source,
      case .attribute(let former)? = old.schema.entities[move.source].layout.property(named: name)?.kind,
      former.derivation == derivation, let (column, _) = oldLeaves(mapping)[[]],
      case .attribute(let attribute) = property.kind, attribute.type == former.type
    {
      kept = Value(piece: SQLPiece("s.\(quoted(column))"), copied: column)
    }
    let source: String
    switch derivation {
    case .now: return kept ?? Value(piece: SQLPiece("?", [.real(now)]))
    // Computed from the new rows.
    case .copy, .count, .sum, .foreign: return kept ?? .null
    case .attribute(let name), .canonical(let name), .lowercase(let name), .uppercase(let name): source = name
    }
    guard let base = layout.property(named: source), case .attribute(let attribute) = base.kind,
      attribute.derivation == nil, let value = self.attribute(base, attribute).first
    else { return .null }
    if let kept, value.copied != nil { return kept }
    if case .attribute = derivation { return Value(piece: value.piece) }
    return dialect.derived(derivation, from: value.piece).map { Value(piece: $0) } ?? .null
  }

  /// The attribute from which a value derives that the database can't compute; nil for one that it computes or keeps.
  func uncomputed(_ property: RowLayout.Property, _ derivation: StoreDerivation) -> RowLayout.Property? {
    switch derivation {
    case .now, .attribute, .copy, .count, .sum, .foreign: return nil
    case .canonical(let name), .lowercase(let name), .uppercase(let name):
      guard derived(property, derivation).piece.sql == "NULL", let other = layout.property(named: name),
        case .attribute(let attribute) = other.kind, attribute.derivation == nil, !other.isTransient,
        self.attribute(other, attribute).first.map({ $0.piece.sql != "NULL" }) == true
      else { return nil }
      return other
    }
  }

  /// The condition for a row without a value of a required attribute; nil if every row has one.
  func missing(_ property: RowLayout.Property, _ attribute: StoreAttribute) -> SQLPiece? {
    guard !attribute.isOptional, attribute.derivation == nil else { return nil }
    if let name = move.properties[property.name]?.source,
      case .attribute(let former)? = old.schema.entities[move.source].layout.property(named: name)?.kind,
      !former.isOptional, !former.isTransient
    {
      return nil
    }
    if move.properties[property.name]?.defaults.contains(where: { $0 != .null }) == true { return nil }
    let conditions = self.attribute(property, attribute).map {
      SQLPiece("\($0.piece.sql) IS NULL", $0.piece.bindings)
    }
    return conditions.isEmpty ? nil : SQLPiece.joined(conditions, " AND ")
  }

  // MARK: Relationships

  /// Where the pairs of a new relationship come from, from the side of the row.
  func sources(_ property: RowLayout.Property) -> [RelationSource] {
    if let name = move.properties[property.name]?.source {
      return [RelationSource(name, of: move.source, in: old)].compactMap(\.self)
    }
    let end = new.schema.end(of: property.slot, in: move.destination)
    guard let inverse = end.inverse?.name else { return [] }
    return reversed(inverse, from: moves.moves(into: end.destination))
  }

  /// Where the pairs of a to-many relationship without an inverse come from, from the side of its members.
  func sources(ofMembersIn relationship: String, of owner: EntityIndex) -> [RelationSource] {
    reversed(relationship, from: moves.moves(into: owner))
  }

  private func reversed(_ relationship: String, from owners: [EntityMoves.Move]) -> [RelationSource] {
    let root = old.schema.entities[move.source].root
    var result: [RelationSource] = []
    for owner in owners {
      guard let name = owner.properties[relationship]?.source,
        let found = RelationSource(name, of: owner.source, in: old)?.reversed(in: old),
        old.schema.entities[found.entity].root == root, !result.contains(found)
      else { continue }
      result.append(found)
    }
    return result
  }

  /// The values of a to-one relationship's cells.
  func toOne(_ property: RowLayout.Property) -> [Value] {
    let sources = sources(property)
    let allowed = new.schema.end(of: property.slot, in: move.destination).destination
    return property.cells.map { cell in
      switch layout.cells[cell].role {
      case .order: order(sources)
      case .entity: entity(sources, allowed)
      case .key, .value: key(sources, allowed)
      }
    }
  }

  func key(_ sources: [RelationSource], _ allowed: EntityIndex) -> Value {
    let keys = sources.map { ($0, $0.key(moves)) }
    let values = keys.map { moves.key($1, to: $0.other, allowed: allowed) }
    if values.count == 1, case .here(let column, _, _) = sources[0].shape, values[0] == keys[0].1 {
      return Value(piece: SQLPiece(values[0]), copied: column)
    }
    return values.isEmpty ? .null : Value(piece: SQLPiece(Self.first(values)))
  }

  private func entity(_ sources: [RelationSource], _ allowed: EntityIndex) -> Value {
    if sources.count == 1, case .here(_, let column?, _) = sources[0].shape,
      moves.keepsNumbers(of: sources[0].other, allowed: allowed)
    {
      return Value(piece: SQLPiece("s.\(quoted(column))"), copied: column)
    }
    let values = sources.map { moves.number($0.key(moves), to: $0.other, allowed: allowed) }
    return values.isEmpty ? .null : Value(piece: SQLPiece(Self.first(values)))
  }

  func order(_ sources: [RelationSource]) -> Value {
    if sources.count == 1, case .here(_, _, let column?) = sources[0].shape {
      return Value(piece: SQLPiece("s.\(quoted(column))"), copied: column)
    }
    let values = sources.compactMap { $0.place(moves) }
    return values.isEmpty ? .null : Value(piece: SQLPiece(Self.first(values)))
  }

  private static func first(_ values: [String]) -> String {
    let known = values.filter { $0 != "NULL" }
    if known.count < 2 { return known.first ?? "NULL" }
    return "COALESCE(\(known.joined(separator: ", ")))"
  }
}

extension StoreAttribute {
  /// The leaves with their names below the attribute; for a plain attribute itself, with an empty path.
  var leafPaths: [(path: [String], attribute: StoreAttribute)] {
    guard type == .composite else { return [([], self)] }
    return elements.flatMap { element in
      element.leafPaths.map { ([element.name] + $0.path, $0.attribute) }
    }
  }
}
