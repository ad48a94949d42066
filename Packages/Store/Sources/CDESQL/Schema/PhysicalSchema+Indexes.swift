public import CDEStore

@_spi(CDE) extension PhysicalSchema {
  /// An index of a table, or a uniqueness constraint.
  public struct TableIndex: Sendable {
    /// What an index is for.
    public enum Kind: Sendable {
      /// A column with keys of other rows.
      case reference
      /// The entities of a table's rows.
      case entity
      /// An index that the schema declares.
      case declared(StoreIndex)
      /// A uniqueness constraint.
      case unique
    }

    /// What the index is for.
    public let kind: Kind
    /// The name in Core Data's form, unquoted and within the limit of names.
    public let name: String
    /// The entity that declares the index; the root of the tree for the others.
    public let entity: ResolvedSchema.Entity
    /// The columns in their order, unquoted.
    public let columns: [(name: String, isAscending: Bool)]
    /// The columns without which a row is not in the index, unquoted.
    public var present: [String] = []
  }

  /// The indexes and constraints of a table, in Core Data's order.
  ///
  /// - Throws: `.invalidSchema` if one of them names a property without a column.
  public func indexes(of table: Table) throws(StoreError) -> [TableIndex] {
    var result: [TableIndex] = []
    // Core Data's models often declare one index twice, in its older form as well.
    var names: Set<String> = []
    func append(_ index: TableIndex, isSpatial: Bool = false) {
      // A database may keep spatial indexes under other names.
      if isSpatial || names.insert(index.name).inserted { result.append(index) }
    }

    let root = schema.entities[table.root.entity]
    for column in table.columns {
      switch column.source {
      case .property(_, .key), .impliedKey:
        append(
          TableIndex(
            kind: .reference, name: indexName(table, column.name), entity: root,
            columns: [(column.name, true)]))
      default: break
      }
    }
    let entities = root.subtree.filter(held.contains)
    if entities.count > 1 {
      append(
        TableIndex(kind: .entity, name: indexName(table, "Z_ENT"), entity: root, columns: [("Z_ENT", true)]))
    }
    for entity in entities.map({ schema.entities[$0] }) {
      for index in entity.source.indexes where index.isSpatial || !isOnlyRelationship(index, in: entity) {
        append(try declared(index, of: entity, in: table), isSpatial: index.isSpatial)
      }
      for constraint in entity.source.uniquenessConstraints {
        var list: [(String, Bool)] = []
        for name in constraint {
          list += try required(columns(of: name, in: entity.index), name, of: entity).map { ($0, true) }
        }
        append(
          TableIndex(
            kind: .unique, name: constraintName(constraint, of: entity), entity: entity, columns: list))
      }
    }
    return result
  }

  private func declared(
    _ index: StoreIndex, of entity: ResolvedSchema.Entity, in table: Table
  ) throws(StoreError) -> TableIndex {
    var columns: [(name: String, isAscending: Bool)] = []
    for element in index.elements {
      columns += try required(
        indexColumns(of: element.property, in: entity.index), element.property, of: entity
      )
      .map { ($0, element.isAscending) }
    }
    guard let first = columns.first?.name else {
      throw StoreError(
        .invalidSchema,
        "The index \(index.name) of \(entity.source.name) has no element. Name a persistent attribute or a to-one relationship.",
        entity: entity.source.name)
    }
    let name =
      switch index.kind {
      case .fetchIndex: shortened("Z_\(entity.source.name)_\(index.name)", to: nameLimit)
      case .compound:
        shortened(
          "Z_\(entity.source.name)_" + index.elements.map(\.property).joined(separator: "_"), to: nameLimit)
      case .indexedAttribute: indexName(table, first)
      }
    var present: [String] = []
    for name in index.partialNotNil {
      present += try required(indexColumns(of: name, in: entity.index), name, of: entity)
    }
    return TableIndex(kind: .declared(index), name: name, entity: entity, columns: columns, present: present)
  }

  private func indexName(_ table: Table, _ column: String) -> String {
    shortened("\(table.name)_\(column)_INDEX", to: nameLimit)
  }

  /// The name of a uniqueness constraint's index.
  public func constraintName(_ constraint: [String], of entity: ResolvedSchema.Entity) -> String {
    shortened("Z_\(entity.source.name)_UNIQUE_\(constraint.joined(separator: "_"))", to: nameLimit)
  }

  /// Core Data omits fetch indexes over a single relationship, because its column is indexed in any case.
  private func isOnlyRelationship(_ index: StoreIndex, in entity: ResolvedSchema.Entity) -> Bool {
    guard index.elements.count == 1,
      let property = entity.layout.property(named: index.elements[0].property)
    else { return false }
    return property.isRelationship
  }

  /// The columns of a name in an index or constraint.
  private func required(
    _ columns: [String]?, _ name: String, of entity: ResolvedSchema.Entity
  ) throws(StoreError) -> [String] {
    guard let columns, !columns.isEmpty else {
      throw StoreError(
        .invalidSchema,
        "An index or constraint of \(entity.source.name) names \(name), which has no column. Name a "
          + "persistent attribute or a to-one relationship.",
        entity: entity.source.name, properties: [name])
    }
    return columns
  }
}

@_spi(CDE) extension StoreIndex {
  /// Whether an element of the index is spatial.
  public var isSpatial: Bool { elements.contains(where: \.isSpatial) }
}
