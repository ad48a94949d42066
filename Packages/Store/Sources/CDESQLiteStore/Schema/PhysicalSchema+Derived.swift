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

  init(
    entity: ResolvedSchema.Entity, attribute: String, column: String, table: String,
    value: @escaping (_ owner: String) -> String
  ) {
    self.entity = entity
    self.attribute = attribute
    self.column = column
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
  func derivedColumns() throws(StoreError) -> [DerivedColumn] {
    guard hasDerivedColumns else { return [] }
    var result: [DerivedColumn] = []
    for entity in schema.entities where held.contains(entity.index) {
      for attribute in entity.source.attributes.sorted(by: { codePointOrder($0.name, $1.name) }) {
        guard let derivation = attribute.derivation, derivation.isKeptByStore, !attribute.isTransient else {
          continue
        }
        if case .foreign = derivation { continue }
        guard let derived = derivedColumn(attribute.name, derivation, of: entity) else {
          throw StoreError(
            .invalidSchema,
            "\(entity.source.name).\(attribute.name) derives from a relationship or attribute that does not "
              + "exist or has no column. Correct the derivation.",
            entity: entity.source.name, properties: [attribute.name])
        }
        result.append(derived)
      }
    }
    return result
  }

  private func derivedColumn(
    _ name: String, _ derivation: StoreDerivation, of entity: ResolvedSchema.Entity
  ) -> DerivedColumn? {
    guard let column = columns(of: name, in: entity.index)?.first else { return nil }
    switch derivation {
    case .now, .canonical, .lowercase, .uppercase, .foreign: return nil
    case .copy(let relationship, let attribute):
      return copy(name, column, of: entity, relationship, attribute)
    case .count(let relationship):
      return aggregate(name, column, of: entity, relationship, attribute: nil)
    case .sum(let relationship, let attribute):
      return aggregate(name, column, of: entity, relationship, attribute: attribute)
    }
  }

  private func copy(
    _ name: String, _ column: String, of entity: ResolvedSchema.Entity, _ relationship: String,
    _ attribute: String
  ) -> DerivedColumn? {
    guard let property = entity.layout.property(named: relationship), case .toOne = property.kind,
      let key = columns(of: relationship, in: entity.index)?.first
    else { return nil }
    let destination = schema.end(of: property.slot, in: entity.index).destination
    guard let source = columns(of: attribute, in: destination)?.first else { return nil }
    let table = tableName(of: entity.index)
    let other = tableName(of: destination)
    func value(_ reference: String) -> String {
      "(SELECT \(bare(source)) FROM \(bare(other)) WHERE Z_PK = \(reference))"
    }
    var result = DerivedColumn(entity: entity, attribute: name, column: column, table: table) { owner in
      "(SELECT d.\(bare(source)) FROM \(bare(table)) AS o JOIN \(bare(other)) AS d ON d.Z_PK = o.\(bare(key)) "
        + "WHERE o.Z_PK = \(owner))"
    }
    let own = "Z_PK = NEW.Z_PK"
    let pointing = "\(bare(key)) = NEW.Z_PK"
    let changed = "NEW.\(bare(source))"
    result.add(on: table, "SOURCE_INSERT", "INSERT", set: value("NEW.\(bare(key))"), where: own)
    result.add(
      on: table, "SOURCE_UPDATE", "UPDATE OF \(bare(key))", set: value("NEW.\(bare(key))"), where: own)
    result.add(on: other, "PARAMETER_INSERT", "INSERT", set: changed, where: pointing)
    result.add(on: other, "PARAMETER_UPDATE", "UPDATE OF \(bare(source))", set: changed, where: pointing)
    return result
  }

  /// A count, or a sum if there is an attribute, over a to-many relationship.
  private func aggregate(
    _ name: String, _ column: String, of entity: ResolvedSchema.Entity, _ relationship: String,
    attribute: String?
  ) -> DerivedColumn? {
    guard let property = entity.layout.property(named: relationship), case .toMany = property.kind else {
      return nil
    }
    let end = schema.end(of: property.slot, in: entity.index)
    var source: String?
    if let attribute {
      guard let found = columns(of: attribute, in: end.destination)?.first else { return nil }
      source = found
    }
    let members = tableName(of: end.destination)
    let relation = PropertyKey(entity: property.declaringEntity, property: property.name)
    if let side = joinSides[relation] {
      return aggregate(name, column, of: entity, over: side, members: members, source: source)
    }
    var foreignKey = impliedColumns[relation]?.key
    if foreignKey == nil, let inverse = end.inverse {
      foreignKey = columns(of: inverse.name, in: end.destination)?.first
    }
    guard let foreignKey else { return nil }
    return aggregate(name, column, of: entity, over: foreignKey, in: members, source: source)
  }

  private func aggregate(
    _ name: String, _ column: String, of entity: ResolvedSchema.Entity, over foreignKey: String,
    in members: String, source: String?
  ) -> DerivedColumn {
    let table = tableName(of: entity.index)
    let key = bare(foreignKey)
    let total = source.map { "IFNULL(SUM(\(bare($0))), 0)" } ?? "IFNULL(COUNT(\(key)), 0)"
    func value(_ owner: String) -> String {
      "(SELECT \(total) FROM \(bare(members)) WHERE \(key) = \(owner))"
    }
    var result = DerivedColumn(entity: entity, attribute: name, column: column, table: table, value: value)
    func changed(_ side: String, by amount: String) -> String {
      source == nil ? "\(bare(column)) \(amount)" : value("\(side).\(key)")
    }
    let new = "Z_PK = NEW.\(key)"
    let old = "Z_PK = OLD.\(key)"
    let watched = ([foreignKey] + [source].compactMap { $0 }).map(bare).joined(separator: ", ")
    result.add(
      on: members, "PARAMETER_INSERT", "INSERT", when: "NEW.\(key) NOT NULL",
      set: source == nil ? "IFNULL(\(bare(column)), 0) + 1" : value("NEW.\(key)"), where: new)
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

  private func aggregate(
    _ name: String, _ column: String, of entity: ResolvedSchema.Entity, over side: JoinTable.Side,
    members: String, source: String?
  ) -> DerivedColumn {
    let table = tableName(of: entity.index)
    let (owner, member) = (bare(side.owner), bare(side.member))
    func value(_ key: String) -> String {
      guard let source else { return "(SELECT COUNT(*) FROM \(bare(side.table)) WHERE \(owner) = \(key))" }
      return "(SELECT IFNULL(SUM(m.\(bare(source))), 0) FROM \(bare(side.table)) AS j "
        + "JOIN \(bare(members)) AS m ON m.Z_PK = j.\(member) WHERE j.\(owner) = \(key))"
    }
    var result = DerivedColumn(entity: entity, attribute: name, column: column, table: table, value: value)
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
