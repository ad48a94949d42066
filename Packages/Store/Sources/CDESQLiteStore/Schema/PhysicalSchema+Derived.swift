@_spi(CDE) import CDESQL
import CDEStore

/// A derived attribute's column and the triggers that update it.
///
/// Where Core Data's files show them, the triggers, their names and the functions that they call are Core
/// Data's: completely for counts over a foreign key, and the names and watched columns for copies. Sums and
/// many-to-many counts have the same names and are computed again each time.
struct DerivedColumn {
  let entity: ResolvedSchema.Entity
  let attribute: String
  let column: String
  let table: String
  /// Computes one row's value. `owner` is the SQL of its key.
  let value: (_ owner: String) -> String
  private(set) var triggers: [PhysicalSchema.Definition] = []

  init(_ derived: DerivedAttribute, table: String, value: @escaping (_ owner: String) -> String) {
    entity = derived.entity
    attribute = derived.name
    column = derived.column
    self.table = table
    self.value = value
  }

  /// Whether a trigger of a file updates this attribute.
  func isKept(by trigger: String) -> Bool { entity.isKept(attribute, by: trigger) }

  /// Sets the column of all rows, for a file without the triggers.
  var recomputation: String {
    "UPDATE \(bare(table)) SET \(bare(column)) = \(value("owners.pk")) "
      + "FROM (SELECT Z_PK AS pk FROM \(bare(table))) AS owners WHERE \(bare(table)).Z_PK = owners.pk"
  }

  /// - Parameters:
  ///   - table: the table of the trigger.
  ///   - kind: the end of the trigger's name.
  ///   - event: the event, such as `UPDATE OF ZBOOK`.
  ///   - rows: the condition for the rows of the attribute's table that change.
  mutating func add(
    on watched: String, _ kind: String, _ event: String, when condition: String? = nil,
    set value: String, where rows: String
  ) {
    let name = "Z_DA_\(watched)_\(entity.source.name)_\(attribute)_\(kind)"
    let function = kind == "SOURCE_INSERT" ? SQLFunctions.derivedInsert : SQLFunctions.derivedUpdate
    let guarding = condition.map { " WHEN (\($0))" } ?? ""
    triggers.append(
      PhysicalSchema.Definition(
        name: name,
        sql: "CREATE TRIGGER \(bare(name)) AFTER \(event) ON \(bare(watched)) FOR EACH ROW\(guarding) BEGIN "
          + "UPDATE \(bare(table)) SET \(bare(column)) = \(value) WHERE \(rows); "
          + "SELECT \(function)(\(literal(table)), Z_ENT, Z_PK, \(literal(attribute)), \(bare(column))) "
          + "FROM \(bare(table)) WHERE \(rows); END"))
  }

  private func literal(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }
}

extension ResolvedSchema.Entity {
  /// Whether a trigger's name is that of a derived attribute's triggers.
  fileprivate func isKept(_ attribute: String, by trigger: String) -> Bool {
    trigger.hasPrefix("Z_DA_") && trigger.contains("_\(source.name)_\(attribute)_")
  }
}

extension ForeignDerivation {
  /// Whether a trigger of a file updates the attribute.
  func isKept(by trigger: String) -> Bool { entity.isKept(attribute, by: trigger) }
}

extension PhysicalSchema {
  /// The attributes that triggers update, by entity and name.
  ///
  /// - Throws: `.invalidSchema` if one of them derives from a property that does not exist or has no column.
  func derivedColumns() throws(StoreError) -> [DerivedColumn] {
    try derivedAttributes().map { attribute in
      switch attribute.source {
      case .copy(let copy): column(of: attribute, copying: copy)
      case .members(let members): column(of: attribute, over: members)
      case .pairs(let pairs): column(of: attribute, over: pairs)
      }
    }
  }

  private func column(
    of attribute: DerivedAttribute, copying copy: DerivedAttribute.Copy
  ) -> DerivedColumn {
    let table = tableName(of: attribute.entity.index)
    let other = tableName(of: copy.destination)
    let (key, source) = (bare(copy.key), bare(copy.column))
    func value(_ reference: String) -> String {
      "(SELECT \(source) FROM \(bare(other)) WHERE Z_PK = \(reference))"
    }
    var result = DerivedColumn(attribute, table: table) { owner in
      "(SELECT d.\(source) FROM \(bare(table)) AS o JOIN \(bare(other)) AS d ON d.Z_PK = o.\(key) "
        + "WHERE o.Z_PK = \(owner))"
    }
    let own = "Z_PK = NEW.Z_PK"
    let pointing = "\(key) = NEW.Z_PK"
    let changed = "NEW.\(source)"
    result.add(on: table, "SOURCE_INSERT", "INSERT", set: value("NEW.\(key)"), where: own)
    result.add(on: table, "SOURCE_UPDATE", "UPDATE OF \(key)", set: value("NEW.\(key)"), where: own)
    result.add(on: other, "PARAMETER_INSERT", "INSERT", set: changed, where: pointing)
    result.add(on: other, "PARAMETER_UPDATE", "UPDATE OF \(source)", set: changed, where: pointing)
    return result
  }

  private func column(
    of attribute: DerivedAttribute, over relation: DerivedAttribute.Members
  ) -> DerivedColumn {
    let table = tableName(of: attribute.entity.index)
    let members = tableName(of: relation.entity)
    let (key, column) = (bare(relation.key), bare(attribute.column))
    let source = relation.summed?.column
    let total = source.map { "IFNULL(SUM(\(bare($0))), 0)" } ?? "IFNULL(COUNT(\(key)), 0)"
    func value(_ owner: String) -> String {
      "(SELECT \(total) FROM \(bare(members)) WHERE \(key) = \(owner))"
    }
    var result = DerivedColumn(attribute, table: table, value: value)
    func changed(_ side: String, by amount: String) -> String {
      source == nil ? "\(column) \(amount)" : value("\(side).\(key)")
    }
    let new = "Z_PK = NEW.\(key)"
    let old = "Z_PK = OLD.\(key)"
    let watched = ([relation.key] + [source].compactMap { $0 }).map(bare).joined(separator: ", ")
    result.add(
      on: members, "PARAMETER_INSERT", "INSERT", when: "NEW.\(key) NOT NULL",
      set: source == nil ? "IFNULL(\(column), 0) + 1" : value("NEW.\(key)"), where: new)
    result.add(
      on: members, "PARAMETER_UPDATE_INCREMENT", "UPDATE OF \(watched)", when: "NEW.\(key) NOT NULL",
      set: changed("NEW", by: "+ 1"), where: new)
    result.add(
      on: members, "PARAMETER_UPDATE_DECREMENT", "UPDATE OF \(watched)", when: "OLD.\(key) NOT NULL",
      set: changed("OLD", by: "- 1"), where: old)
    result.add(
      on: members, "PARAMETER_DELETE", "DELETE", when: "OLD.\(key) NOT NULL", set: changed("OLD", by: "- 1"),
      where: old)
    result.add(on: table, "SOURCE_INSERT", "INSERT", set: value("NEW.Z_PK"), where: "Z_PK = NEW.Z_PK")
    return result
  }

  private func column(
    of attribute: DerivedAttribute, over relation: DerivedAttribute.Pairs
  ) -> DerivedColumn {
    let table = tableName(of: attribute.entity.index)
    let members = tableName(of: relation.entity)
    let side = relation.side
    let (owner, member) = (bare(side.owner), bare(side.member))
    let source = relation.summed?.column
    func value(_ key: String) -> String {
      guard let source else { return "(SELECT COUNT(*) FROM \(bare(side.table)) WHERE \(owner) = \(key))" }
      return "(SELECT IFNULL(SUM(m.\(bare(source))), 0) FROM \(bare(side.table)) AS j "
        + "JOIN \(bare(members)) AS m ON m.Z_PK = j.\(member) WHERE j.\(owner) = \(key))"
    }
    var result = DerivedColumn(attribute, table: table, value: value)
    for (kind, row) in [("INSERT", "NEW"), ("DELETE", "OLD")] {
      result.add(
        on: side.table, "PARAMETER_\(kind)", kind, set: value("\(row).\(owner)"),
        where: "Z_PK = \(row).\(owner)")
    }
    if let source {
      result.add(
        on: members, "PARAMETER_UPDATE", "UPDATE OF \(bare(source))", set: value("\(bare(table)).Z_PK"),
        where: "Z_PK IN (SELECT \(owner) FROM \(bare(side.table)) WHERE \(member) = NEW.Z_PK)")
    }
    result.add(on: table, "SOURCE_INSERT", "INSERT", set: value("NEW.Z_PK"), where: "Z_PK = NEW.Z_PK")
    return result
  }
}
