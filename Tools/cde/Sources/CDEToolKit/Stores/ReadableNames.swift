import CDEManagedModel
import CDEModelRuntime
import Foundation
import Synchronization

/// Finds the attribute by which people know the objects of an entity.
final class ReadableNames: Sendable {
  private static let usual = [
    "name", "title", "displayname", "fullname", "label", "subject", "headline", "username", "email",
    "caption",
    "code", "identifier", "summary", "text", "path",
  ]

  private let keys = Mutex<[String: [String]]>([:])

  /// The attributes of an object's name, joined by a space; none if the entity has no such attribute.
  func keys(of entity: NSEntityDescription) -> [String] {
    let name = entity.name ?? ""
    if let known = keys.withLock({ $0[name] }) { return known }
    let found = Self.find(entity)
    keys.withLock { $0[name] = found }
    return found
  }

  private static func find(_ entity: NSEntityDescription) -> [String] {
    let texts = entity.attributesByName.filter {
      $0.value.attributeType == .stringAttributeType && !$0.value.isTransient
    }
    let byLower = Dictionary(texts.keys.map { ($0.lowercased(), $0) }) { first, _ in first }
    if let first = byLower["firstname"], let last = byLower["lastname"] { return [first, last] }
    for name in usual { if let key = byLower[name] { return [key] } }
    let sorted = texts.keys.sorted()
    if let key = sorted.first(where: {
      $0.lowercased().hasSuffix("name") || $0.lowercased().hasSuffix("title")
    }) {
      return [key]
    }
    for constraint in entity.uniquenessConstraints where constraint.count == 1 {
      let key = (constraint[0] as? String) ?? (constraint[0] as? NSPropertyDescription)?.name
      if let key, texts[key] != nil { return [key] }
    }
    return sorted.first { texts[$0]?.isOptional == false }.map { [$0] } ?? sorted.first.map { [$0] } ?? []
  }

  /// What stands in place of the name of an object that the store does not have.
  static func missing(_ id: NSManagedObjectID) -> String { "\(ShortID.text(id)) (missing)" }

  /// The name of an object, or its ID if it has none. Reads the object.
  func name(of object: NSManagedObject) -> String {
    let parts = keys(of: object.entity).compactMap { object.value(forKey: $0) as? String }.filter {
      !$0.isEmpty
    }
    // Reading an object without a row has shown that there is none. Its values would be defaults.
    if object.isDeleted, !object.hasChanges { return Self.missing(object.objectID) }
    return parts.isEmpty ? ShortID.text(object.objectID) : parts.joined(separator: " ")
  }
}

/// IDs of objects as `Person/p12`: the end of Core Data's URI.
enum ShortID {
  static func text(_ id: NSManagedObjectID) -> String {
    // The URI has other letters than those of ASCII in percents.
    "\(id.entity.name ?? "")/\(id.uriRepresentation().lastPathComponent)"
  }

  /// The number of the row.
  static func key(_ id: NSManagedObjectID) -> Int {
    Int(id.uriRepresentation().lastPathComponent.dropFirst()) ?? 0
  }
}
