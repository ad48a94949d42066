import Foundation

@testable import CDEManagedModel

/// The fixture of known version hashes.
struct HashVectors: Decodable {
  struct EntityVector: Decodable {
    var id: String
    var hash: String
    var entity: Entity
  }

  struct ModelVector: Decodable {
    var id: String
    var entityHashes: [[String]]
    var digest: String?
    var checksum: String?
  }

  final class Entity: Decodable {
    var name: String
    var isAbstract: Bool
    var versionHashModifier: String?
    var uniquenessConstraints: [[String]]
    var parent: Entity?
    var properties: [Property]
  }

  struct Property: Decodable {
    struct Derivation: Decodable { var text: String }

    var name: String
    var inherited: Bool?
    var kind: String
    var optional: Bool
    var transient: Bool
    var versionHashModifier: String?
    var attributeType: UInt?
    var allowsExternalBinaryDataStorage: Bool?
    var preservesValueInHistoryOnDeletion: Bool?
    var derivation: Derivation?
    var elements: [Property]?
    var destination: String?
    var inverse: String?
    var minCount: Int?
    var maxCount: Int?
    var ordered: Bool?
  }

  var entityVectors: [EntityVector]
  var modelVectors: [ModelVector]

  static func load() throws -> HashVectors {
    let url = Bundle.module.url(
      forResource: "versionhash-vectors", withExtension: "json", subdirectory: "Fixtures")!
    return try JSONDecoder().decode(HashVectors.self, from: Data(contentsOf: url))
  }
}

/// Builds descriptions from the fixture's entities.
final class HashVectorBuilder {
  struct UnknownKind: Error { var kind: String }

  // Descriptions do not retain the entities they point at.
  private var kept: [NSEntityDescription] = []

  func entity(_ source: HashVectors.Entity) throws -> NSEntityDescription {
    let entity = NSEntityDescription()
    kept.append(entity)
    entity.name = source.name
    entity.isAbstract = source.isAbstract
    entity.versionHashModifier = source.versionHashModifier
    entity.uniquenessConstraints = source.uniquenessConstraints
    if let parent = source.parent { try self.entity(parent).subentities = [entity] }
    entity.properties = try source.properties.filter { $0.inherited != true }.map {
      try property($0, of: entity)
    }
    return entity
  }

  private func property(
    _ source: HashVectors.Property, of entity: NSEntityDescription
  ) throws -> NSPropertyDescription {
    let property: NSPropertyDescription
    switch source.kind {
    case "attribute": property = attribute(source, NSAttributeDescription())
    case "derived":
      let derived = NSDerivedAttributeDescription()
      derived.derivation = source.derivation?.text
      property = attribute(source, derived)
    case "composite":
      let composite = NSCompositeAttributeDescription()
      composite.elements = try (source.elements ?? []).map {
        try self.property($0, of: entity) as! NSAttributeDescription
      }
      property = attribute(source, composite)
    case "fetched": property = NSFetchedPropertyDescription()
    case "relationship": property = relationship(source, of: entity)
    default: throw UnknownKind(kind: source.kind)
    }
    property.name = source.name
    property.isOptional = source.optional
    property.isTransient = source.transient
    property.versionHashModifier = source.versionHashModifier
    return property
  }

  private func attribute(
    _ source: HashVectors.Property, _ attribute: NSAttributeDescription
  ) -> NSAttributeDescription {
    attribute.attributeType = NSAttributeType(rawValue: source.attributeType ?? 0)!
    attribute.allowsExternalBinaryDataStorage = source.allowsExternalBinaryDataStorage ?? false
    attribute.preservesValueInHistoryOnDeletion = source.preservesValueInHistoryOnDeletion ?? false
    return attribute
  }

  private func relationship(
    _ source: HashVectors.Property, of entity: NSEntityDescription
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.minCount = source.minCount ?? 0
    relationship.maxCount = source.maxCount ?? 0
    relationship.isOrdered = source.ordered ?? false
    let destination = NSEntityDescription()
    destination.name = source.destination
    kept.append(destination)
    relationship.destinationEntity = destination
    if source.destination == entity.name, source.inverse == source.name {
      relationship.inverseRelationship = relationship
    } else if let name = source.inverse {
      let inverse = NSRelationshipDescription()
      inverse.name = name
      destination.properties = [inverse]
      relationship.inverseRelationship = inverse
    }
    return relationship
  }
}
