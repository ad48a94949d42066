#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  /// How one column of a result is decoded into a cell.
  struct ColumnStep: Sendable {
    enum Kind: UInt8, Sendable { case integer, boolean, real, bytes, key, entity }

    var column: Int32
    var cell: NarrowIndex<CellIndex>
    var kind: Kind
  }

  /// The columns to select for an entity, and the decoding of each concrete entity in the result.
  final class RowPlan: Sendable {
    struct Concrete: Sendable {
      let layout: RowLayout
      let steps: [ColumnStep]
    }

    /// The column list of `SELECT`, over the alias `t0`: key, version, entity if it varies, values.
    let columnList: String
    let hasEntityColumn: Bool
    /// The columns before the values.
    let keyColumnList: String
    let columnCount: Int32
    /// Indexed by entity, starting at the first of the subtree.
    let concretes: [Concrete]
    let firstEntity: EntityIndex
    let root: RootIndex
    let numbers: [Int64: EntityIndex]

    init(entity: EntityIndex, includesSubentities: Bool, physical: PhysicalSchema) {
      let description = physical.schema.entities[entity]
      let subtree = includesSubentities ? description.subtree : entity..<(entity + 1)
      firstEntity = entity
      root = description.root
      hasEntityColumn = subtree.count > 1
      numbers = physical.indexes
      var columns = ["t0.\"Z_PK\"", "t0.\"Z_OPT\""]
      if hasEntityColumn { columns.append("t0.\"Z_ENT\"") }
      keyColumnList = columns.joined(separator: ", ")
      var places: [String: Int32] = [:]
      var concretes: [Concrete] = []
      for index in subtree {
        let layout = physical.schema.entities[index].layout
        var steps: [ColumnStep] = []
        for (cell, description) in zip(layout.cells.indices, layout.cells) {
          let name = physical.cellColumns[index][cell]
          let type = SQLKind(description.type)
          if places[name] == nil {
            places[name] = Int32(columns.count)
            columns.append(type.read("t0." + quoted(name)))
          }
          let kind: ColumnStep.Kind =
            switch (description.role, type) {
            case (.key, _): .key
            case (.entity, _): .entity
            case (_, .boolean): .boolean
            case (_, .integer): .integer
            case (_, .real): .real
            case (_, .decimal), (_, .text), (_, .uuid), (_, .bytes): .bytes
            }
          steps.append(ColumnStep(column: places[name]!, cell: NarrowIndex(cell), kind: kind))
        }
        concretes.append(Concrete(layout: layout, steps: steps))
      }
      columnList = columns.joined(separator: ", ")
      columnCount = Int32(columns.count)
      self.concretes = concretes
    }

    /// The place in ``concretes`` of the row's entity; nil for a number of none of them.
    @inline(__always)
    func concrete(_ rows: borrowing ResultRows, _ row: Int) -> Int? {
      guard hasEntityColumn else { return 0 }
      guard let entity = numbers[rows.integer(row, 2)] else { return nil }
      let place = entity.rawValue - firstEntity.rawValue
      return concretes.indices.contains(place) ? place : nil
    }
  }
#endif
