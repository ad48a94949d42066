internal import CDEManagedModel
public import CDEModelRuntime
internal import Foundation

/// Everything that a container's stores hold at one moment, to compare with another.
///
/// ```swift
/// let before = try await StoreContents(container)
/// try await importer.run()
/// let difference = try await StoreContents(container).difference(from: before)
/// #expect(difference.lines == ["Item/p1 title: \"old\" -> \"new\""])
/// ```
///
/// A collection of its properties, so that a failing `#expect(after == before)` shows those that differ. Reads
/// every object: for the small stores of tests.
public struct StoreContents: Sendable, Hashable {
  /// The values of each object as texts, by property; objects by entity and key, such as `Item/p1`.
  public let objects: [String: [String: String]]
  private let entries: [Entry]

  /// Reads what is saved, through a context of its own.
  ///
  /// - Throws: as a fetch does.
  public init(_ container: NSPersistentContainer) async throws {
    let context = container.newBackgroundContext()
    let objects = try await context.perform { try Self.read(container.managedObjectModel, context) }
    self.objects = objects
    entries = objects.keys.sorted().flatMap { object in
      (objects[object] ?? [:]).sorted { $0.key < $1.key }
        .map { Entry(object: object, property: $0.key, value: $0.value) }
    }
  }

  private static func read(
    _ model: NSManagedObjectModel, _ context: NSManagedObjectContext
  ) throws -> [String: [String: String]] {
    var objects: [String: [String: String]] = [:]
    for entity in model.entities where !entity.isAbstract {
      guard let name = entity.name else { continue }
      let request = NSFetchRequest<NSManagedObject>(entityName: name)
      request.includesSubentities = false
      request.relationshipKeyPathsForPrefetching = entity.relationshipsByName.values
        .filter(\.isToMany).map(\.name)
      for object in try context.fetch(request) {
        var values: [String: String] = [:]
        for (name, attribute) in entity.attributesByName {
          values[name] = TreeValue(object.value(forKey: name), of: attribute).description
        }
        for (name, relationship) in entity.relationshipsByName {
          values[name] = text(object, relationship)
        }
        objects[TreeReader.label(object)] = values
      }
    }
    return objects
  }

  private static func text(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> String {
    guard relationship.isToMany else {
      return (object.value(forKey: relationship.name) as? NSManagedObject).map(TreeReader.label) ?? "nil"
    }
    let members = TreeReader.members(object, relationship).map(TreeReader.label).joined(separator: ", ")
    return relationship.isOrdered ? "[\(members)]" : "{\(members)}"
  }

  /// What is different from earlier contents of the same store.
  public func difference(from earlier: StoreContents) -> StoreDifference {
    var lines: [String] = []
    for name in Set(objects.keys).union(earlier.objects.keys).sorted() {
      switch (earlier.objects[name], objects[name]) {
      case (nil, let new?): lines.append("\(name) inserted: \(Self.list(new))")
      case (let old?, nil): lines.append("\(name) deleted: \(Self.list(old))")
      case (let old?, let new?):
        for property in Set(old.keys).union(new.keys).sorted() where old[property] != new[property] {
          lines.append("\(name) \(property): \(old[property] ?? "nil") -> \(new[property] ?? "nil")")
        }
      case (nil, nil): break
      }
    }
    return StoreDifference(lines: lines)
  }

  private static func list(_ values: [String: String]) -> String {
    values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}

extension StoreContents: RandomAccessCollection, CustomStringConvertible {
  /// One property of one object.
  public struct Entry: Sendable, Hashable, CustomStringConvertible {
    /// Entity and key, such as `Item/p1`.
    public let object: String
    /// The property's name.
    public let property: String
    /// The value as text; related objects by entity and key.
    public let value: String

    public var description: String { "\(object) \(property): \(value)" }
  }

  public var startIndex: Int { entries.startIndex }
  public var endIndex: Int { entries.endIndex }
  public subscript(position: Int) -> Entry { entries[position] }

  public var description: String {
    objects.isEmpty ? "nothing" : entries.map(\.description).joined(separator: "\n")
  }
}

/// Which objects and properties differ, one line each; reads as those lines where a test shows it.
public struct StoreDifference: Sendable, Hashable, CustomStringConvertible {
  /// `Item/p1 title: "old" -> "new"`, `Item/p2 inserted: …`, `Item/p3 deleted: …`, in the order of names.
  public let lines: [String]

  /// Whether nothing differs.
  public var isEmpty: Bool { lines.isEmpty }

  public var description: String { isEmpty ? "no difference" : lines.joined(separator: "\n") }
}
