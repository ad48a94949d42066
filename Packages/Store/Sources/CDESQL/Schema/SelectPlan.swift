public import CDEStore

/// How one column of a statement is decoded into a cell.
@_spi(CDE) public struct ColumnStep: Sendable {
  /// What the column contains: a value, the number of an entity, or a row's key.
  public enum Kind: UInt8, Sendable { case integer, real, text, blob, uuid, entity, key }

  /// The column's place in the statement.
  public var column: Int32
  /// The cell that gets its value.
  public var cell: NarrowIndex<CellIndex>
  /// What the column contains.
  public var kind: Kind
}

/// The columns to select for an entity, and the decoding of each concrete entity in the result.
@_spi(CDE) public final class SelectPlan: Sendable {
  /// How the rows of one entity are decoded.
  public struct Concrete: Sendable {
    /// The entity's layout.
    public let layout: RowLayout
    /// The steps, in the order of the cells.
    public let steps: [ColumnStep]
  }

  /// The column list of `SELECT`, over the alias `t0`: key, version, entity if it varies, values.
  public let columnList: String
  /// Whether the third column is the entity number.
  public let hasEntityColumn: Bool
  /// The number of columns.
  public let columnCount: Int32
  /// Indexed by entity, starting at the first of the subtree.
  public let concretes: [Concrete]
  /// The entity itself, the first of its subtree.
  public let firstEntity: EntityIndex
  /// For each `Z_ENT` its entity.
  public let numbers: [Int64: EntityIndex]

  /// Plans the reading of an entity's rows. Linear in the number of cells of its subtree.
  public init(entity: EntityIndex, includesSubentities: Bool, physical: PhysicalSchema) {
    let subtree =
      includesSubentities ? physical.schema.entities[entity].subtree : entity..<(entity + 1)
    firstEntity = entity
    hasEntityColumn = subtree.count > 1
    numbers = physical.indexes
    var columns = ["t0.\(physical.fixed.key)", "t0.\(physical.fixed.version)"]
    if hasEntityColumn { columns.append("t0.\(physical.fixed.entity)") }
    var places: [String: Int32] = [:]
    var concretes: [Concrete] = []
    for index in subtree {
      let layout = physical.schema.entities[index].layout
      var steps: [ColumnStep] = []
      for (cell, description) in zip(layout.cells.indices, layout.cells) where physical.held.contains(index) {
        let name = physical.cellColumns[index][cell]
        if places[name] == nil {
          places[name] = Int32(columns.count)
          columns.append("t0." + quoted(name))
        }
        let kind: ColumnStep.Kind =
          switch description.kind {
          case .integer:
            switch description.role {
            case .entity: .entity
            case .key: .key
            case .value, .order: .integer
            }
          case .real: .real
          case .text: .text
          case .blob: description.type == .uuid ? .uuid : .blob
          }
        steps.append(ColumnStep(column: places[name]!, cell: NarrowIndex(cell), kind: kind))
      }
      concretes.append(Concrete(layout: layout, steps: steps))
    }
    columnList = columns.joined(separator: ", ")
    columnCount = Int32(columns.count)
    self.concretes = concretes
  }
}
