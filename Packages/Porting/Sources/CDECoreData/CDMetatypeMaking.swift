internal import CDEModelRuntime
internal import Foundation

// On Apple's platforms code may call an initialiser on a class that is known at run time only: `Self(managedObjectModel:)` in an extension.
// Swift's own classes allow that for required initialisers, which each subclass would have to repeat.

/// A class whose initialisers may be called on a metatype.
public protocol _CDMetatypeMaking {}

extension NSPersistentStoreCoordinator: _CDMetatypeMaking {}
extension NSPersistentContainer: _CDMetatypeMaking {}

private func made<Base: AnyObject, Named: AnyObject>(_ base: Base, as type: Named.Type) -> Named {
  guard Named.self == Base.self else {
    fatalError(
      "The class \(type) is known at run time only, so its initialiser can't be called. Name the class.")
  }
  return unsafeDowncast(base, to: type)
}

extension _CDMetatypeMaking where Self: NSPersistentStoreCoordinator {
  /// A coordinator without stores.
  public init(managedObjectModel model: NSManagedObjectModel) {
    self = made(NSPersistentStoreCoordinator(managedObjectModel: model), as: Self.self)
  }
}

extension _CDMetatypeMaking where Self: NSPersistentContainer {
  /// A container with the model of a name.
  public init(name: String, _ file: String = #fileID) {
    self = made(NSPersistentContainer(name: name, file), as: Self.self)
  }

  /// A container with a model.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    self = made(NSPersistentContainer(name: name, managedObjectModel: model), as: Self.self)
  }
}
