@_spi(CDE) import CDESQL
import CDEStore

/// The part of a batch update that computes values from each row.
struct ComputedColumns {
  private(set) var settings: [String] = []
  private(set) var bindings: [StoreValue] = []
  private var columns: [(name: String, attribute: StoreAttribute)] = []
  private let plan: WritePlan
  private let entity: String

  init(
    _ computed: [StoreBatchUpdate.Computed], of plan: WritePlan, layout: RowLayout, _ physical: PhysicalSchema
  ) throws(StoreError) {
    self.plan = plan
    entity = layout.entityName
    for value in computed {
      guard layout.properties.indices.contains(value.slot),
        case .attribute(let attribute) = layout.properties[value.slot].kind,
        let cell = layout.properties[value.slot].cells.first, plan.steps[cell].kind != .external
      else {
        throw StoreError(
          .unsupportedQuery,
          "A batch computes a value of \(entity) that no single column holds. Compute attributes kept in the row.",
          entity: entity)
      }
      let compiled = try QueryCompiler.compile(
        value.expression, of: plan.entity, physical, dialect: SQLiteDialect())
      // Rows are written one after the other. Later rows would see the new values of earlier ones.
      guard !["FROM", "JOIN"].contains(where: { compiled.sql.contains("\($0) \(quoted(plan.table)) AS ") })
      else {
        throw StoreError(
          .unsupportedQuery,
          "A batch computes \(entity).\(attribute.name) from other rows of the same entity tree, which it may change as "
            + "well. Compute it from the row itself, or from objects of another entity.",
          entity: entity, properties: [attribute.name])
      }
      let column = quoted(plan.columns[cell])
      let result =
        switch attribute.type {
        case .integer16, .integer32, .integer64: Self.whole(compiled.sql)
        case .boolean: "(\(compiled.sql)) <> 0"
        // Objects read 15 digits, and conditions have to find what they read.
        case .decimal: "\(SQLMathematics.name(of: .decimal))(\(compiled.sql))"
        default: compiled.sql
        }
      settings.append("\(column) = \(result)")
      bindings += compiled.bindings
      columns.append((column, attribute))
    }
  }

  /// The whole part of a number. What 64 bits do not hold stays a floating-point number, which the check finds.
  ///
  /// In SQLite an integer that overflows becomes a floating-point number, and a conversion would clamp it.
  private static func whole(_ sql: String) -> String {
    "(SELECT CASE WHEN typeof(v) = 'real' AND (v >= 9223372036854775808.0 OR v < -9223372036854775808.0) THEN v "
      + "ELSE CAST(v AS INTEGER) END FROM (SELECT \(sql) AS v))"
  }

  /// Refuses results that the attributes can't store, inside the transaction that wrote them.
  func check(on connection: Connection, where keys: String) throws(StoreError) {
    for (column, attribute) in columns {
      func exists(_ condition: String) throws(StoreError) -> Bool {
        try connection.integer(
          "SELECT 1 FROM \(quoted(plan.table)) WHERE Z_PK IN (\(keys)) AND \(condition) LIMIT 1",
          while: "Checking computed values") != nil
      }
      if !attribute.isOptional, try exists("\(column) IS NULL") {
        throw StoreError(
          .constraint,
          "\(entity).\(attribute.name) is required, and computes to nothing for some rows. Leave them out, or give "
            + "the expression a value for nil.", entity: entity, properties: [attribute.name])
      }
      let isUnfit: String? =
        switch attribute.type {
        case .integer16: "\(column) NOT BETWEEN \(Int16.min) AND \(Int16.max)"
        case .integer32: "\(column) NOT BETWEEN \(Int32.min) AND \(Int32.max)"
        case .integer64: "typeof(\(column)) = 'real'"
        case .decimal:
          "\(column) <> 0 AND NOT (abs(\(column)) >= \(NumberChange.leastDecimal) "
            + "AND abs(\(column)) < \(NumberChange.greatestDecimal))"
        default: nil
        }
      if let isUnfit, try exists(isUnfit) {
        throw StoreError(
          .tooBig,
          "\(entity).\(attribute.name) computes to numbers that its type does not hold. Leave those rows out.",
          entity: entity, properties: [attribute.name])
      }
    }
  }
}
