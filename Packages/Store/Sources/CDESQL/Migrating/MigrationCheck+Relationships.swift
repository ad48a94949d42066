import CDEStore

// Rows whose relationships would break a rule that the new schema adds: a required destination, a least or a greatest number of
// members. Rows that broke the rule before are no obstacle, and neither are attributes of that kind.
extension MigrationCheck {
  /// The number of rows that would have no object in a required to-one relationship.
  func missing(_ property: RowLayout.Property, _ source: ValueSource) throws(StoreError) -> Int {
    guard case .toOne(let relationship) = property.kind, !relationship.isOptional, isHere(property, source),
      let value = source.toOne(property).first
    else { return 0 }
    // The column stays as it is.
    if value.copied != nil, case .toOne(let former)? = former(property, source)?.kind, !former.isOptional {
      return 0
    }
    return try counted(
      SQLPiece("\(rows(of: source.move)) AND \(value.piece.sql) IS NULL", value.piece.bindings))
  }

  /// The numbers of rows that would have fewer or more members than a to-many relationship may have.
  ///
  /// As in a save, an optional relationship may be empty, and one without a least number, too.
  func unfitCounts(
    _ property: RowLayout.Property, _ relationship: StoreRelationship, _ source: ValueSource
  ) throws(StoreError) -> (below: Int, above: Int) {
    var (least, greatest) = (relationship.minCount, relationship.maxCount)
    guard least > 0 || greatest > 0, isHere(property, source) else { return (0, 0) }
    let relations = source.sources(property)
    if case .toMany(let former)? = former(property, source)?.kind,
      relations.allSatisfy({ moves.survivors(of: $0.other) == nil })
    {
      if former.minCount >= least, relationship.isOptional || !former.isOptional { least = 0 }
      if former.maxCount > 0, former.maxCount <= greatest { greatest = 0 }
    }
    let count = count(of: source.move, relations)
    func counted(where condition: String) throws(StoreError) -> Int {
      try self.counted(
        SQLPiece("SELECT COUNT(*) FROM (\(count)) AS f WHERE \(condition)"))
    }
    let mayBeEmpty = relationship.isOptional ? " AND n > 0" : ""
    return (
      below: least > 0 ? try counted(where: "n < \(least)\(mayBeEmpty)") : 0,
      above: greatest > 0 ? try counted(where: "n > \(greatest)") : 0
    )
  }

  /// Whether the store has the relationship's other end. Objects of other stores are not stored here.
  private func isHere(_ property: RowLayout.Property, _ source: ValueSource) -> Bool {
    let destination = new.schema.end(of: property.slot, in: source.move.destination).destination
    return new.schema.entities[destination].subtree.contains(where: new.held.contains)
  }

  private func former(_ property: RowLayout.Property, _ source: ValueSource) -> RowLayout.Property? {
    source.move.properties[property.name]?.source.flatMap {
      old.schema.entities[source.move.source].layout.property(named: $0)
    }
  }

  /// Counts the rows of an old entity. A condition may follow.
  func rows(of move: EntityMoves.Move) -> String {
    "SELECT COUNT(*) FROM \(table(move.source)) AS s WHERE s.\(old.fixed.entity) = \(old.numbers[move.source])"
  }

  /// For each row the number `n` of the members that stay.
  private func count(of move: EntityMoves.Move, _ relations: [RelationSource]) -> String {
    let rows = "WHERE s.\(old.fixed.entity) = \(old.numbers[move.source])"
    if relations.isEmpty { return "SELECT 0 AS n FROM \(table(move.source)) AS s \(rows)" }
    // One pair once, also where both ends name it.
    let pairs = relations.map { $0.remaining(moves) }.joined(separator: " UNION ")
    return "SELECT COALESCE(c.n, 0) AS n FROM \(table(move.source)) AS s LEFT JOIN "
      + "(SELECT me, COUNT(*) AS n FROM (\(pairs)) AS q GROUP BY me) AS c ON c.me = s.\(old.fixed.key) \(rows)"
  }
}
