import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Two contexts over one file, which know the same item and nothing of each other.
final class Rivals {
  let stack: Stack
  let mine: NSManagedObjectContext
  let theirs: NSManagedObjectContext
  /// Objects lose their relationships with their context.
  private var readers: [NSManagedObjectContext] = []

  /// Whether the two contexts share their coordinator, or each has a container of its own.
  enum Place: CaseIterable, Sendable { case oneContainer, twoContainers }

  init(
    _ place: Place = .oneContainer, policy: NSMergePolicy = .error,
    _ types: [any CDRuntimeSchemaProviding.Type] = [Item.self, Category.self, Tag.self]
  ) throws {
    stack = try Stack(types)
    theirs = stack.context()
    mine = place == .oneContainer ? stack.context() : try Self.container(stack, types).newBackgroundContext()
    mine.mergePolicy = policy
  }

  static func container(
    _ stack: Stack, _ types: [any CDRuntimeSchemaProviding.Type]
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Other", managedObjectModel: try .makeRuntimeModel(types))
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: stack.folder.appendingPathComponent("Test.sqlite"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  /// The same object in another context, its row read.
  func twin<Object: NSManagedObject>(of object: Object, in context: NSManagedObjectContext) throws -> Object {
    let url = object.objectID.uriRepresentation()
    let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
    return try #require(try context.existingObject(with: id) as? Object)
  }

  /// The object as a context sees it that has read nothing before; nil when its row is gone.
  func stored<Object: NSManagedObject>(_ object: Object) throws -> Object? {
    let context = stack.context()
    let url = object.objectID.uriRepresentation()
    let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
    readers.append(context)
    return (try? context.existingObject(with: id)) as? Object
  }
}

extension NSMergePolicy {
  /// All that settle conflicts.
  static var settling: [NSMergePolicyType] {
    [
      .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
      .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]
  }
}

extension NSMergePolicyType {
  var storeWins: Bool {
    self == .mergeByPropertyStoreTrumpMergePolicyType || self == .rollbackMergePolicyType
  }
}

/// Does something before it settles conflicts by the object's values.
final class Interrupting: NSMergePolicy, @unchecked Sendable {
  // Guard: immutable.
  private let body: Unchecked<() throws -> Void>

  init(_ body: @escaping () throws -> Void) {
    self.body = Unchecked(body)
    super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  }

  override func resolve(mergeConflicts list: [Any]) throws {
    try super.resolve(mergeConflicts: list)
    try body.value()
  }
}
