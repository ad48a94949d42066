import CDEManagedModel
import CDEModelRuntime
import Foundation

// What the shared sources call, as the tests of ModelRuntime have it.

func attribute(
  _ name: String, _ type: NSAttributeType, optional: Bool = true, default value: Any? = nil
) -> NSAttributeDescription {
  let result = NSAttributeDescription()
  result.name = name
  result.attributeType = type
  result.isOptional = optional
  result.defaultValue = value
  return result
}

extension NSManagedObjectContext {
  @discardableResult
  func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  func all(_ entity: String) throws -> [NSManagedObject] {
    try fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
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
