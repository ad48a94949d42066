internal import CDEManagedModel
@_spi(CDE) internal import CDEExecutors

/// The entities of a container: what its model classes say of themselves.
///
/// A schema with classes that contradict each other is made nevertheless. The error is thrown when a container uses it.
public final class Schema: Codable, Hashable, @unchecked Sendable {
  // Guard: immutable once it is made, except for the model, which is behind a mutex.

  /// The version, which stores record.
  public let version: Version
  /// The version of the form in which schemas are encoded.
  public let encodingVersion: Version
  /// The entities, also those that the given classes reach by relationships and inherit from.
  public let entities: [Entity]
  /// The classes of the entities, as far as this program made the schema from them.
  let modelTypes: [String: any PersistentModel.Type]
  /// What is wrong with the classes.
  let problems: [SwiftDataError]
  let model = Lock<NSManagedObjectModel?>(nil)

  /// Makes the schema of model classes, and of those that they reach.
  public convenience init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
    var collector = SchemaCollector()
    for type in types { collector.add(type) }
    self.init(collector.entities, version, types: collector.types, problems: collector.problems)
  }

  /// Makes the schema of model classes, and of those that they reach.
  public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
    self.init(types, version: version)
  }

  /// Makes a schema of entities.
  public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
    self.init(Self.flattened(entities), version, types: [:], problems: [])
  }

  /// Makes the schema of a version's models.
  public convenience init(versionedSchema: any VersionedSchema.Type) {
    self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
  }

  private init(
    _ entities: [Entity], _ version: Version, encodingVersion: Version = Version(1, 0, 0),
    types: [String: any PersistentModel.Type], problems: [SwiftDataError]
  ) {
    self.version = version
    self.encodingVersion = encodingVersion
    self.entities = entities
    modelTypes = types
    var check = SchemaCheck(entities)
    check.connect()
    check.checkNames()
    check.checkProperties()
    var resolver = InverseResolver(entities)
    resolver.resolve()
    self.problems = problems + check.problems + resolver.problems
  }

  /// The entities by name.
  public var entitiesByName: [String: Entity] {
    Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
  }

  /// The classes that this program made the schema from, in the order of the entities.
  var types: [any PersistentModel.Type] { entities.compactMap { modelTypes[$0.name] } }

  /// The schema of some of the entities, and of those that they reach.
  func part(_ names: [String]) -> Schema {
    names.count == entities.count ? self : Schema(names.compactMap { modelTypes[$0] }, version: version)
  }

  /// The entity of a class.
  public func entity(for type: any PersistentModel.Type) -> Entity? {
    entitiesByName[Self.entityName(for: type)]
  }

  /// The name of a class's entity: its own name, without its module and outer types.
  public static func entityName(for type: any PersistentModel.Type) -> String {
    // A class inside a function has a number behind its name.
    String(_typeName(type, qualified: false).prefix { $0 != " " })
  }

  /// Schemas are equal if stores can't tell them apart.
  public static func == (first: Schema, second: Schema) -> Bool {
    first === second
      || first.version == second.version
        && first.entities.sorted { $0.name < $1.name } == second.entities.sorted { $0.name < $1.name }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    hasher.combine(Set(entities.map(\.name)))
  }

  private enum CodingKeys: CodingKey { case version, encodingVersion, entities }

  public convenience init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try values.decode([Entity].self, forKey: .entities), try values.decode(Version.self, forKey: .version),
      encodingVersion: try values.decode(Version.self, forKey: .encodingVersion), types: [:], problems: [])
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(version, forKey: .version)
    try values.encode(encodingVersion, forKey: .encodingVersion)
    try values.encode(entities, forKey: .entities)
  }

  /// Entities with those below them.
  private static func flattened(_ entities: [Entity]) -> [Entity] {
    var result: [Entity] = []
    func visit(_ entity: Entity) {
      guard !result.contains(where: { $0 === entity }) else { return }
      result.append(entity)
      for child in entity.subentities.sorted(by: { $0.name < $1.name }) { visit(child) }
    }
    entities.forEach(visit)
    return result
  }
}
