extension Schema {
  /// The properties of one model class.
  public final class Entity: Codable, Hashable, @unchecked Sendable {
    // Guard: immutable once its schema is made, which connects entities that inherit.

    /// The name of the class, without its module and outer types.
    public let name: String
    /// The properties that the class itself declares, in declared order.
    public let storedProperties: [any SchemaProperty]
    /// The name of the entity of the class above.
    public internal(set) var superentityName: String?
    /// The entity of the class above.
    public internal(set) weak var superentity: Entity?
    /// The entities of the classes below.
    public internal(set) var subentities: Set<Entity>
    /// Sets of properties whose values together are unique.
    public let uniquenessConstraints: [[String]]
    let indexNames: [IndexNames]

    /// Makes an entity.
    ///
    /// - Parameters:
    ///   - name: the name of the entity.
    ///   - subentities: the entities below.
    ///   - properties: the properties of its own.
    public convenience init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
      self.init(name, subentities: subentities, properties: properties)
    }

    /// Makes an entity.
    ///
    /// - Parameters:
    ///   - name: the name of the entity.
    ///   - subentities: the entities below.
    ///   - properties: the properties of its own.
    public convenience init(_ name: String, subentities: [Entity], properties: [any SchemaProperty]) {
      self.init(name, properties: properties, constraints: [], indexes: [])
      self.subentities = Set(subentities)
      for child in subentities {
        child.superentity = self
        child.superentityName = name
      }
    }

    init(
      _ name: String, superentity: String? = nil, properties: [any SchemaProperty], constraints: [[String]],
      indexes: [IndexNames]
    ) {
      self.name = name
      superentityName = superentity
      storedProperties = properties.map { property in
        guard let attribute = property as? Attribute, type(of: attribute) == Attribute.self else {
          return property
        }
        guard attribute.shape?.isComposite == true else { return attribute }
        return CompositeAttribute(stored: StoredAttribute(attribute))
      }
      // Several properties may be unique each.
      let single = properties.filter(\.isUnique).map { [$0.name] }
      uniquenessConstraints = single + constraints.filter { !single.contains($0) }
      indexNames = indexes
      subentities = []
    }

    /// The properties of the entities above.
    public var inheritedProperties: [any SchemaProperty] { superentity?.properties ?? [] }
    /// The properties of the entities above, and its own.
    public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }
    /// All attributes.
    public var attributes: Set<Attribute> { Set(properties.compactMap { $0 as? Attribute }) }
    /// All relationships.
    public var relationships: Set<Relationship> { Set(properties.compactMap { $0 as? Relationship }) }
    /// The properties of its own by name.
    public var storedPropertiesByName: [String: any SchemaProperty] { Self.byName(storedProperties) }
    /// The properties of the entities above by name.
    public var inheritedPropertiesByName: [String: any SchemaProperty] { Self.byName(inheritedProperties) }
    /// All properties by name.
    public var propertiesByName: [String: any SchemaProperty] { Self.byName(properties) }
    /// All attributes by name.
    public var attributesByName: [String: Attribute] {
      propertiesByName.compactMapValues { $0 as? Attribute }
    }
    /// All relationships by name.
    public var relationshipsByName: [String: Relationship] {
      propertiesByName.compactMapValues { $0 as? Relationship }
    }
    /// The properties of each index.
    public var indices: [[String]] { indexNames.map(\.names) }

    private static func byName(_ properties: [any SchemaProperty]) -> [String: any SchemaProperty] {
      Dictionary(properties.map { ($0.name, $0) }) { _, last in last }
    }

    /// The properties of its own that are relationships.
    var ownRelationships: [Relationship] { storedProperties.compactMap { $0 as? Relationship } }

    /// Whether the entity is another one, or inherits from it.
    func isKind(of other: Entity) -> Bool {
      self === other || superentity.map { $0.isKind(of: other) } ?? false
    }

    /// Entities are equal if stores can't tell them apart. The order of properties counts, because columns have one.
    public static func == (first: Entity, second: Entity) -> Bool {
      if first === second { return true }
      return first.name == second.name && first.superentityName == second.superentityName
        && first.storedProperties.count == second.storedProperties.count
        && zip(first.storedProperties, second.storedProperties).allSatisfy { $0.isSame(as: $1) }
        && first.uniquenessConstraints == second.uniquenessConstraints
        && first.indexNames == second.indexNames
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    public convenience init(from decoder: any Decoder) throws {
      let stored = try StoredEntity(from: decoder)
      self.init(
        stored.name, superentity: stored.superentity, properties: stored.properties.map(\.property),
        constraints: stored.constraints, indexes: stored.indexes)
    }

    public func encode(to encoder: any Encoder) throws { try StoredEntity(self).encode(to: encoder) }
  }
}
