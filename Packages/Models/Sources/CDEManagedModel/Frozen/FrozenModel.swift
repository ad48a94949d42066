public import CDEStore
public import Foundation

/// A model in use: checked, numbered and immutable. Objects, contexts and coordinators read this form.
///
/// All facts are in arrays by index or slot, computed once, so that loops look up nothing by name.
@_spi(CDE) public final class FrozenModel: Sendable {
  /// The whole model as a schema for stores.
  public let schema: StoreSchema
  /// The schema with the number and layout of each entity. ``entities`` has the same numbers.
  public let resolved: ResolvedSchema
  /// The entities by index, in the order of `resolved.entities`.
  public let entities: IndexedArray<EntityIndex, FrozenEntity>
  /// The entities' 32-byte version hashes by name.
  public let versionHashes: [String: Data]
  /// `NSStoreModelVersionHashesDigest`: base64 of SHA-512 over names and hashes.
  public let versionDigest: String
  /// `NSStoreModelVersionChecksumKey`: base64 of SHA-256 over the hashes.
  public let versionChecksum: String

  /// What the model says and a store can't follow, one sentence each. The model works without it.
  public let remarks: [String]

  let descriptionsByName: [String: NSEntityDescription]
  private let configurations: [String: Set<String>]
  private let indexes: [String: EntityIndex]
  private let indexesByDescription: [ObjectIdentifier: EntityIndex]
  private let indexesByClassName: [String: [EntityIndex]]

  /// The entity with this name; `nil` when the model has none. Costs one hash look-up.
  public func entity(named name: String) -> FrozenEntity? { indexes[name].map { entities[$0] } }

  /// The frozen form of one of the model's descriptions; `nil` for descriptions of another model.
  public func entity(for description: NSEntityDescription) -> FrozenEntity? {
    indexesByDescription[ObjectIdentifier(description)].map { entities[$0] }
  }

  /// Indexes of the entities whose objects are of the class with this name, in ascending order.
  public func entities(ofClassNamed name: String) -> [EntityIndex] { indexesByClassName[name] ?? [] }

  /// The slot of a relationship's inverse in an object of `destination`; `nil` for a one-way relationship.
  /// `destination` may be a sub-entity of the declared destination, with other slot numbers.
  public func inverseSlot(of slot: SlotIndex, in entity: EntityIndex, destination: EntityIndex) -> SlotIndex?
  {
    let property = entities[entity].properties[slot]
    guard property.inverseSlot >= 0 else { return nil }
    if destination == property.destination { return property.inverseSlot }
    return entities[destination].slot(
      named: entities[property.destination].properties[property.inverseSlot].name)
  }

  /// The schema of a store with one configuration: its entities and their ancestors; the whole model for
  /// `nil`. Slots are those of the whole model. Entity indexes are those of this schema, so match entities by
  /// name.
  ///
  /// - Throws: ``ModelError`` when there is no such configuration, or when a relationship leads outside it.
  public func storeSchema(configuration: String?) throws -> StoreSchema {
    guard let configuration, configuration != NSManagedObjectModel.defaultConfigurationName else {
      return schema
    }
    guard let members = configurations[configuration] else {
      throw ModelError(
        .unknownConfiguration,
        "The model has no configuration \(configuration). It has "
          + (configurations.isEmpty ? "none." : "\(configurations.keys.sorted().joined(separator: ", "))."))
    }
    var kept: Set<String> = []
    for entity in entities where members.contains(entity.name) {
      var current: EntityIndex? = entity.index
      while let index = current {
        kept.insert(entities[index].name)
        current = entities[index].parent
      }
    }
    let subset = schema.entities.filter { kept.contains($0.name) }
    for entity in subset {
      for relationship in entity.relationships where !kept.contains(relationship.destination) {
        throw ModelError(
          .crossesConfiguration,
          "\(entity.name).\(relationship.name) leads from configuration \(configuration) to "
            + "\(relationship.destination) outside of it. Put both entities into one configuration.",
          entity: entity.name, property: relationship.name)
      }
    }
    return StoreSchema(entities: subset, versionIdentifiers: schema.versionIdentifiers)
  }

  init(
    schema: StoreSchema, resolved: ResolvedSchema, entities: IndexedArray<EntityIndex, FrozenEntity>,
    configurations: [String: Set<String>], remarks: [String]
  ) {
    self.schema = schema
    self.resolved = resolved
    self.entities = entities
    self.configurations = configurations
    self.remarks = remarks
    versionHashes = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.versionHash) })
    versionDigest = ModelHashes.digest(of: versionHashes)
    versionChecksum = ModelHashes.checksum(of: versionHashes)
    descriptionsByName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.description) })
    indexes = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.index) })
    indexesByDescription = Dictionary(
      uniqueKeysWithValues: entities.map { (ObjectIdentifier($0.description), $0.index) })
    indexesByClassName = Dictionary(grouping: entities, by: \.className).mapValues { $0.map(\.index) }
  }
}
