import CDEStore

// Numbers whose attribute has another type now. A value without a place in it is an obstacle, and a rounded one a note.
extension MigrationCheck {
  /// The leaves of an attribute with values that have no place in their new type, and how many rows have such values.
  func unfitNumbers(
    _ property: RowLayout.Property, _ attribute: StoreAttribute, _ source: ValueSource
  ) throws(StoreError) -> [(name: String, count: Int)] {
    try count(source.numberChanges(property, attribute), source.move) { leaf in
      source.dialect.unfit(leaf.column, leaf.change)
    }
  }

  /// The attributes whose values would be rounded. Reads the rows of each attribute that may have such values.
  func roundings() throws(StoreError) -> [MigrationRounding] {
    var result: [MigrationRounding] = []
    for move in moves.moves {
      let entity = new.schema.entities[move.destination]
      let source = values(of: move)
      for property in entity.layout.properties where !property.isTransient {
        guard let attribute = property.attribute else { continue }
        let found = try count(source.numberChanges(property, attribute), move) { leaf in
          source.dialect.rounded(leaf.column, leaf.change)
        }
        result += found.map {
          MigrationRounding(entity: entity.source.name, attribute: $0.name, count: $0.count)
        }
      }
    }
    return result
  }

  private func count(
    _ leaves: [ValueSource.NumberLeaf], _ move: EntityMoves.Move,
    where condition: (ValueSource.NumberLeaf) -> String?
  ) throws(StoreError) -> [(name: String, count: Int)] {
    var result: [(name: String, count: Int)] = []
    for leaf in leaves {
      guard let condition = condition(leaf) else { continue }
      let count = try counted(SQLPiece("\(rows(of: move)) AND (\(condition))"))
      if count > 0 { result.append((leaf.name, count)) }
    }
    return result
  }
}

extension RowLayout.Property {
  /// The attribute or composite that the property is; nil for a relationship.
  fileprivate var attribute: StoreAttribute? {
    switch kind {
    case .attribute(let attribute), .composite(let attribute): attribute
    case .toOne, .toMany: nil
    }
  }
}
