import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation

// Short words for building models by hand.

func attribute(
  _ name: String, _ type: NSAttributeType, optional: Bool = true, default value: Any? = nil,
  transient: Bool = false
) -> NSAttributeDescription {
  let result = NSAttributeDescription()
  result.name = name
  result.attributeType = type
  result.isOptional = optional
  result.defaultValue = value
  result.isTransient = transient
  return result
}

func entity(
  _ name: String, _ type: NSManagedObject.Type? = nil, _ properties: [NSPropertyDescription] = []
) -> NSEntityDescription {
  let result = NSEntityDescription()
  result.name = name
  if let type { result.managedObjectClassName = NSStringFromClass(type) }
  result.properties = properties
  return result
}

/// One end of a relationship to be.
struct End {
  var entity: NSEntityDescription
  var name: String
  var isToMany = false
  var isOrdered = false
  var rule = NSDeleteRule.nullifyDeleteRule
  var isOptional = true
  var minCount = 0
  var maxCount = 0

  static func one(
    _ entity: NSEntityDescription, _ name: String, rule: NSDeleteRule = .nullifyDeleteRule,
    optional: Bool = true
  ) -> End {
    End(entity: entity, name: name, rule: rule, isOptional: optional, maxCount: 1)
  }

  static func many(
    _ entity: NSEntityDescription, _ name: String, ordered: Bool = false,
    rule: NSDeleteRule = .nullifyDeleteRule,
    optional: Bool = true, min: Int = 0, max: Int = 0
  ) -> End {
    End(
      entity: entity, name: name, isToMany: true, isOrdered: ordered, rule: rule, isOptional: optional,
      minCount: min,
      maxCount: max)
  }

  fileprivate func make(to destination: NSEntityDescription) -> NSRelationshipDescription {
    let result = NSRelationshipDescription()
    result.name = name
    result.destinationEntity = destination
    result.minCount = minCount
    result.maxCount = maxCount
    result.isOrdered = isOrdered
    result.deleteRule = rule
    result.isOptional = isOptional
    entity.properties.append(result)
    return result
  }
}

/// Connects two ends.
func connect(_ left: End, _ right: End) {
  let there = left.make(to: right.entity)
  let back = right.make(to: left.entity)
  there.inverseRelationship = back
  back.inverseRelationship = there
}

/// A relationship that is its own inverse.
func reflect(_ end: End) {
  let made = end.make(to: end.entity)
  made.inverseRelationship = made
}

/// A relationship without an inverse.
func point(_ end: End, to destination: NSEntityDescription) {
  _ = end.make(to: destination)
}

func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
  let model = NSManagedObjectModel()
  model.entities = entities
  return model
}

extension Stack {
  init(model: NSManagedObjectModel, inMemory: Bool = false) throws {
    folder = ProcessFolder.newURL()
    container = NSPersistentContainer(name: "Test", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: folder.appendingPathComponent("Test.sqlite"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }
}

extension NSManagedObjectContext {
  /// A new object of an entity, by name.
  @discardableResult
  func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  func all(_ entity: String, _ predicate: NSPredicate? = nil, sort key: String? = nil) throws
    -> [NSManagedObject]
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
    return try fetch(request)
  }
}

extension NSManagedObject {
  func set(_ key: String) -> Set<NSManagedObject> {
    Set((value(forKey: key) as? NSSet)?.allObjects as? [NSManagedObject] ?? [])
  }

  func list(_ key: String) -> [NSManagedObject] {
    (value(forKey: key) as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
  }

  func one(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }
}

/// Collects what a context posts.
final class Listener: @unchecked Sendable {
  // Guard: used on the one thread that runs the test; notifications come synchronously.
  private(set) var events: [(name: Notification.Name, info: [AnyHashable: Any])] = []
  private var tokens: [any NSObjectProtocol] = []

  init(_ context: NSManagedObjectContext, _ react: @escaping (Notification) -> Void = { _ in }) {
    let names: [Notification.Name] = [
      .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave,
      .NSManagedObjectContextDidSave,
      NSManagedObjectContext.didMergeChangesObjectIDsNotification,
    ]
    let reaction = Unchecked(react)
    for name in names {
      tokens.append(
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
          [weak self] note in
          self?.events.append((note.name, note.userInfo ?? [:]))
          reaction.value(note)
        })
    }
  }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

  var names: [String] {
    events.map {
      switch $0.name {
      case .NSManagedObjectContextObjectsDidChange: "change"
      case .NSManagedObjectContextWillSave: "will"
      case .NSManagedObjectContextDidSave: "did"
      default: "merge"
      }
    }
  }

  func objects(_ event: Int, _ key: String) -> Set<NSManagedObject> {
    events[event].info[key] as? Set<NSManagedObject> ?? []
  }

  func clear() { events = [] }
}

struct Unchecked<Value>: @unchecked Sendable {
  // Guard: the test keeps to one thread at a time.
  let value: Value
  init(_ value: Value) { self.value = value }
}
