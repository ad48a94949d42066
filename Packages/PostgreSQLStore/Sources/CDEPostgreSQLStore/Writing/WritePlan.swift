#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEExecutors
  @_spi(CDE) internal import CDEStore

  /// How one cell becomes an element of an array.
  struct WriteStep: Sendable {
    enum Kind: UInt8, Sendable { case integer, boolean, real, text, decimal, uuid, bytes, key, entity }

    var cell: NarrowIndex<CellIndex>
    var kind: Kind
    /// For a key: the root of the tree that it belongs to.
    var root: NarrowIndex<RootIndex>
    var type: SQLKind
    var column: String
  }

  /// A statement that writes rows, given as arrays: keys, versions, then those of the steps.
  struct WriteStatement: Sendable {
    let sql: String
    /// The same for a single row, whose values are parameters. The server plans it once, and one over arrays at each run.
    let single: String
    /// For an update: the same together with the commit's token, if the row has the version before. Two more parameters follow: the
    /// token and that version.
    var only = ""
    /// The same as a transaction of its own, which does not wait for other transactions. It inserts the token if it writes the row.
    var alone = ""
    let steps: [WriteStep]
  }

  /// How rows of one concrete entity are written.
  final class WritePlan: Sendable {
    let entity: EntityIndex
    let root: RootIndex
    /// The table's quoted name.
    let table: String
    let steps: IndexedArray<CellIndex, WriteStep>
    let insert: WriteStatement
    /// Takes new rows by COPY: keys, versions, numbers of their entities, then the values of the steps.
    let copy: String
    /// Statements that remove references to deleted rows. Their only parameter is an array of keys.
    let cleanUps: [String]
    private let cellsOfSlots: IndexedArray<SlotIndex, Range<CellIndex>>
    private let updates = Lock<[PropertySet: WriteStatement]>([:])
    // A program changes few different sets of properties. Others are made again.
    private static let updateLimit = 256

    init(entity: EntityIndex, physical: PhysicalSchema) {
      let description = physical.schema.entities[entity]
      let layout = description.layout
      self.entity = entity
      root = description.root
      table = quoted(physical.tableName(of: entity))
      steps = IndexedArray(
        zip(layout.cells.indices, layout.cells).map { index, cell in
          let type = SQLKind(cell.type)
          var step = WriteStep(
            cell: NarrowIndex(index), kind: .integer, root: 0, type: type,
            column: quoted(physical.cellColumns[entity][index]))
          switch (cell.role, type) {
          case (.key, _):
            step.kind = .key
            let destination = physical.schema.end(of: cell.slot, in: entity).destination
            step.root = NarrowIndex(physical.schema.entities[destination].root)
          case (.entity, _): step.kind = .entity
          case (_, .integer): step.kind = .integer
          case (_, .boolean): step.kind = .boolean
          case (_, .real): step.kind = .real
          case (_, .decimal): step.kind = .decimal
          case (_, .text): step.kind = .text
          case (_, .uuid): step.kind = .uuid
          case (_, .bytes): step.kind = .bytes
          }
          return step
        })
      cellsOfSlots = layout.properties.mapped(\.cells)
      let names = ["\"Z_PK\"", "\"Z_OPT\"", "\"Z_ENT\""] + steps.map(\.column)
      copy = "COPY \(table) (\(names.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
      let values =
        ["v.k", "v.o", "\(physical.numbers[entity])"]
        + steps.elements.enumerated().map { $1.type.stored("v.c\($0)") }
      insert = WriteStatement(
        sql:
          "INSERT INTO \(table) (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
          + "FROM \(Self.source(steps.elements))",
        single: "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES "
          + "($1, $2, \(physical.numbers[entity])\(steps.elements.enumerated().map { ", " + $1.type.stored("$\($0 + 3)") }.joined()))",
        steps: steps.elements)

      cleanUps = physical.removals(of: entity, where: "= ANY($1)")
    }

    /// The arrays as a table `v` with the columns `k`, `o`, `c0` and so on.
    private static func source(_ steps: [WriteStep]) -> String {
      let types = ["int8", "int8"] + steps.map(\.type.parameter.name)
      let arrays = types.enumerated().map { "$\($0 + 1)::\($1)[]" }
      let columns = ["k", "o"] + steps.indices.map { "c\($0)" }
      return "unnest(\(arrays.joined(separator: ", "))) AS v(\(columns.joined(separator: ", ")))"
    }

    /// The statement that writes the columns of changed properties.
    func update(_ changed: PropertySet) -> WriteStatement {
      if let kept = updates.withLock({ $0[changed] }) { return kept }
      var steps: [WriteStep] = []
      for slot in changed where cellsOfSlots.indices.contains(slot) {
        steps += cellsOfSlots[slot].map { self.steps[$0] }
      }
      let settings =
        ["\"Z_OPT\" = v.o"] + steps.enumerated().map { "\($1.column) = \($1.type.stored("v.c\($0)"))" }
      // The rows are locked and their versions compared before.
      let assignments =
        "UPDATE \(table) SET \"Z_OPT\" = $2"
        + steps.enumerated().map { ", \($1.column) = \($1.type.stored("$\($0 + 3)"))" }.joined()
      let single = assignments + " WHERE \"Z_PK\" = $1"
      let statement = WriteStatement(
        sql:
          "UPDATE \(table) AS t SET \(settings.joined(separator: ", ")) FROM \(Self.source(steps)) WHERE t.\"Z_PK\" = v.k",
        single: single,
        only: "WITH token AS (INSERT INTO \"Z_TOKEN\" (\"Z_TOKEN\") VALUES ($\(steps.count + 3))) "
          + "\(single) AND \"Z_OPT\" = $\(steps.count + 4)",
        alone:
          "WITH written AS (\(assignments) WHERE \"Z_PK\" = (SELECT \"Z_PK\" FROM \(table) WHERE \"Z_PK\" = $1 "
          + "AND \"Z_OPT\" = $\(steps.count + 4) FOR NO KEY UPDATE SKIP LOCKED) RETURNING 1) "
          + "INSERT INTO \"Z_TOKEN\" (\"Z_TOKEN\") SELECT $\(steps.count + 3) FROM written",
        steps: steps)
      updates.withLock { kept in
        if kept.count >= Self.updateLimit { kept = [:] }
        kept[changed] = statement
      }
      return statement
    }
  }
#endif
