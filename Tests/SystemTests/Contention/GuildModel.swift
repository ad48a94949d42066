@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution

/// A model with every delete rule and every kind of relationship, for writers that work against each other.
enum GuildModel {
  /// One attribute for each writer: that writer counts in it, the others set it to what they have read.
  static let marks = (0..<12).map { "mark\($0)" }

  static func make() -> NSManagedObjectModel {
    let counted: [NSPropertyDescription] = marks.map { number($0) }
    let guild = entity("Guild", [number("number"), count("memberCount", "members.@count")] + counted)
    let member = entity("Member", [number("number")])
    let house = entity("House", [number("number")])
    let guardian = entity("Guardian", [number("number")])
    let deed = entity("Deed", [number("number")])
    let label = entity("Label", [number("number")])
    let seal = entity("Seal", [number("number")])
    connect(many(guild, "members"), one(member, "guild"))
    connect(many(guild, "ranked", ordered: true), one(member, "ranking"))
    connect(many(guild, "houses", rule: .cascadeDeleteRule), one(house, "guild", optional: false))
    connect(many(guild, "guardians", rule: .denyDeleteRule), one(guardian, "guild"))
    connect(many(guild, "labels"), many(label, "guilds"))
    connect(many(guild, "seals", rule: .cascadeDeleteRule), many(seal, "guilds"))
    connect(many(member, "pupils", rule: .cascadeDeleteRule), one(member, "master"))
    connect(one(member, "deed", rule: .cascadeDeleteRule), one(deed, "holder"))
    point(one(member, "favourite"), to: label)
    let model = NSManagedObjectModel()
    model.entities = [guild, member, house, guardian, deed, label, seal]
    return model
  }

  /// - Parameter options: options of the store that are on.
  static func open(_ path: String, _ options: [String] = []) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Guilds", managedObjectModel: make())
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
    for option in options { description.setOption(true as NSNumber, forKey: option) }
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  static let entities = ["Guild", "Member", "House", "Guardian", "Deed", "Label", "Seal"]
  /// To-one relationships: entity, name, destination.
  static let ones = [
    ("Member", "guild", "Guild"), ("Member", "ranking", "Guild"), ("House", "guild", "Guild"),
    ("Guardian", "guild", "Guild"), ("Member", "master", "Member"), ("Member", "deed", "Deed"),
    ("Deed", "holder", "Member"), ("Member", "favourite", "Label"),
  ]
  /// To-many relationships: entity, name, destination, whether ordered.
  static let manys = [
    ("Guild", "members", "Member", false), ("Guild", "ranked", "Member", true),
    ("Guild", "houses", "House", false), ("Guild", "guardians", "Guardian", false),
    ("Guild", "labels", "Label", false), ("Guild", "seals", "Seal", false),
    ("Member", "pupils", "Member", false), ("Label", "guilds", "Guild", false),
    ("Seal", "guilds", "Guild", false),
  ]

  /// Questions to SQLite, each of which has to be answered with 0.
  static func faults(in file: RawSQLite) throws -> [String] {
    var questions = ones.map { entity, name, destination in
      let (table, column) = ("Z\(entity.uppercased())", "Z\(name.uppercased())")
      return "SELECT count(*) FROM \(table) WHERE \(column) IS NOT NULL "
        + "AND \(column) NOT IN (SELECT Z_PK FROM Z\(destination.uppercased()))"
    }
    questions.append("SELECT count(*) FROM ZHOUSE WHERE ZGUILD IS NULL")
    questions.append(
      "SELECT count(*) FROM ZGUILD WHERE ifnull(ZMEMBERCOUNT, 0) != "
        + "(SELECT count(*) FROM ZMEMBER WHERE ZMEMBER.ZGUILD = ZGUILD.Z_PK)")
    questions.append(
      "SELECT count(*) FROM ZMEMBER m JOIN ZDEED d ON m.ZDEED = d.Z_PK WHERE d.ZHOLDER IS NOT m.Z_PK")
    for (name, other) in [("LABELS", "ZLABEL"), ("SEALS", "ZSEAL")] {
      let table = try file.column(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z\\__\(name)' ESCAPE '\\'")
      let columns = try file.column(
        "SELECT name FROM pragma_table_info('\(table[0])') ORDER BY name LIKE '%GUILDS' DESC")
      for (column, target) in zip(columns, ["ZGUILD", other]) {
        questions.append(
          "SELECT count(*) FROM \(table[0]) WHERE \(column) NOT IN (SELECT Z_PK FROM \(target))")
      }
    }
    // One statement, so that all of it is asked of one state of the file.
    let answers = try file.column(questions.map { "SELECT (\($0))" }.joined(separator: " UNION ALL "))
    return zip(questions, answers).filter { $1 != "0" }.map { "\($0): \($1)" }
  }

  // MARK: Short words

  private static func number(_ name: String) -> NSPropertyDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = .integer64AttributeType
    attribute.defaultValue = 0
    return attribute
  }

  private static func count(_ name: String, _ path: String) -> NSPropertyDescription {
    let attribute = NSDerivedAttributeDescription()
    attribute.name = name
    attribute.attributeType = .integer64AttributeType
    attribute.isOptional = true
    attribute.derivation = path
    return attribute
  }

  private static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = properties
    return entity
  }

  private typealias End = (entity: NSEntityDescription, description: NSRelationshipDescription)

  private static func one(
    _ entity: NSEntityDescription, _ name: String, rule: NSDeleteRule = .nullifyDeleteRule,
    optional: Bool = true
  ) -> End {
    end(entity, name, rule, max: 1, optional: optional)
  }

  private static func many(
    _ entity: NSEntityDescription, _ name: String, ordered: Bool = false,
    rule: NSDeleteRule = .nullifyDeleteRule
  ) -> End {
    let made = end(entity, name, rule, max: 0, optional: true)
    made.description.isOrdered = ordered
    return made
  }

  private static func end(
    _ entity: NSEntityDescription, _ name: String, _ rule: NSDeleteRule, max: Int, optional: Bool
  ) -> End {
    let description = NSRelationshipDescription()
    description.name = name
    description.deleteRule = rule
    description.maxCount = max
    description.isOptional = optional
    return (entity, description)
  }

  private static func point(_ end: End, to destination: NSEntityDescription) {
    end.description.destinationEntity = destination
    end.entity.properties.append(end.description)
  }

  private static func connect(_ left: End, _ right: End) {
    point(left, to: right.entity)
    point(right, to: left.entity)
    left.description.inverseRelationship = right.description
    right.description.inverseRelationship = left.description
  }
}
