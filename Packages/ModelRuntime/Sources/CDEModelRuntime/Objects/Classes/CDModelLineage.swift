@_spi(CDE) internal import CDEExecutors
@_spi(CDE) public import CDEManagedModel

/// The properties of one model of a hierarchy, its parents' properties first. Their ordinals are the same in
/// all classes that inherit them.
public nonisolated final class CDModelLineage: Sendable {
  /// Persistent names by ordinal.
  public let propertyNames: [String]
  /// The names of the same properties in code.
  public let swiftNames: [String]
  /// The class's own part of the schema, with the name of its parent's entity.
  public let schema: CDRuntimeEntitySchema

  let type: NSManagedObject.Type
  let parent: CDModelLineage?
  let observation: CDModelObservation?
  let predicateKey: @Sendable (AnyKeyPath) -> String?
  private let ownAttributes: @Sendable () -> [String: CDFieldMeta]
  private let ownRelationships: @Sendable () -> [String: CDFieldMeta]
  private let tables = Lock(Tables())

  private struct Tables {
    var attributes: [String: CDFieldMeta]?
    var all: [String: CDFieldMeta]?
  }

  /// - Parameters:
  ///   - type: The class.
  ///   - parent: The lineage of its superclass; nil for `NSManagedObject`.
  ///   - schema: The class's own attributes and relationships.
  ///   - propertyNames: The persistent names of its own properties.
  ///   - swiftNames: The names of the same properties in code.
  ///   - predicateKey: The key of a key path that starts at the class, inherited properties included.
  ///   - attributes: Makes the fields of its own attributes.
  ///   - relationships: Makes the fields of its own relationships, and those of their destinations.
  ///   - observation: How to wake readers of its own properties; nil for a class that is not observed.
  public init(
    _ type: NSManagedObject.Type, parent: CDModelLineage?, schema: CDRuntimeEntitySchema,
    propertyNames: [String], swiftNames: [String],
    predicateKey: @escaping @Sendable (AnyKeyPath) -> String?,
    attributes: @escaping @Sendable () -> [String: CDFieldMeta],
    relationships: @escaping @Sendable () -> [String: CDFieldMeta], observation: CDModelObservation? = nil
  ) {
    self.type = type
    self.parent = parent
    self.schema = parent.map { schema.inheriting(from: $0.schema.entityName) } ?? schema
    self.propertyNames = (parent?.propertyNames ?? []) + propertyNames
    self.swiftNames = (parent?.swiftNames ?? []) + swiftNames
    self.predicateKey = predicateKey
    ownAttributes = attributes
    ownRelationships = relationships
    self.observation = observation
  }

  /// The lineages from the first model to this one.
  var levels: [CDModelLineage] { (parent?.levels ?? []) + [self] }

  /// The fields of attributes and compositions.
  var attributes: [String: CDFieldMeta] {
    if let known = tables.withLock(\.attributes) { return known }
    // Made outside the lock, because it calls the lineages of other models.
    let made = (parent?.attributes ?? [:]).merging(ownAttributes()) { $1 }
    tables.withLock { $0.attributes = made }
    return made
  }

  /// All fields, including those of relationships' destinations.
  var fields: [String: CDFieldMeta] {
    if let known = tables.withLock(\.all) { return known }
    let made = (parent?.fields ?? [:]).merging(attributes) { $1 }.merging(ownRelationships()) { $1 }
    tables.withLock { $0.all = made }
    return made
  }
}
