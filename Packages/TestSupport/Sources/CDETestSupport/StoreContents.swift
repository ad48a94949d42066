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
/// Reads every object: for the small stores of tests.
public struct StoreContents: Sendable, Hashable {
  /// The values of each object as texts, by property; objects by entity and key, such as `Item/p1`.
  public let objects: [String: [String: String]]

  /// Reads what is saved, through a context of its own.
  ///
  /// - Throws: as a fetch does.
  public init(_ container: NSPersistentContainer) async throws {
    let context = container.newBackgroundContext()
    objects = try await context.perform { try Self.read(container.managedObjectModel, context) }
  }

  private static func read(
    _ model: NSManagedObjectModel, _ context: NSManagedObjectContext
  ) throws -> [String: [String: String]] {
    var objects: [String: [String: String]] = [:]
    for entity in model.entities where !entity.isAbstract {
      guard let name = entity.name else { continue }
      let request = NSFetchRequest<NSManagedObject>(entityName: name)
      request.includesSubentities = false
      for object in try context.fetch(request) {
        var values: [String: String] = [:]
        let names = Array(entity.attributesByName.keys) + Array(entity.relationshipsByName.keys)
        for property in names { values[property] = text(object.value(forKey: property)) }
        objects[label(object)] = values
      }
    }
    return objects
  }

  private static func label(_ object: NSManagedObject) -> String {
    object.objectID.uriRepresentation().pathComponents.filter { $0 != "/" }.joined(separator: "/")
  }

  private static func text(_ value: Any?) -> String {
    switch value {
    case nil: return "nil"
    case let text as String: return "\"\(text)\""
    case let object as NSManagedObject: return label(object)
    case let set as NSOrderedSet:
      return "[" + set.array.compactMap { $0 as? NSManagedObject }.map(label).joined(separator: ", ") + "]"
    case let set as NSSet:
      let members = set.allObjects.compactMap { $0 as? NSManagedObject }.map(label).sorted()
      return "{" + members.joined(separator: ", ") + "}"
    case let value?: return "\(value)"
    }
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

/// Which objects and properties differ, one line each; reads as those lines where a test shows it.
public struct StoreDifference: Sendable, Hashable, CustomStringConvertible {
  /// `Item/p1 title: "old" -> "new"`, `Item/p2 inserted: …`, `Item/p3 deleted: …`, in the order of names.
  public let lines: [String]

  public var isEmpty: Bool { lines.isEmpty }

  public var description: String { isEmpty ? "no difference" : lines.joined(separator: "\n") }
}
