@_spi(CDE) internal import CDEManagedModel
internal import Foundation

/// Which class goes by which name, for the classes of managed objects.
enum ManagedObjectClasses {
  /// The names a class goes by, the most precise first and the bare one last.
  static func names(of type: NSManagedObject.Type) -> [String] {
    let qualified = String(reflecting: type)
    let bare = String(describing: type)
    return qualified == bare ? [bare] : [qualified, bare]
  }

  static func register(_ type: NSManagedObject.Type) {
    ManagedClassRegistry.register(type)
  }

  static func find(for description: NSEntityDescription) -> NSManagedObject.Type? {
    guard let name = description.managedObjectClassName, name != "NSManagedObject" else { return nil }
    return ManagedClassRegistry.lookup(name) as? NSManagedObject.Type
  }
}

/// The name under which a managed object class can be found again, for `managedObjectClassName`.
///
/// Foundation's function of this name traps for private and nested classes on Linux; this overload serves
/// managed classes and makes the class known under the name it returns.
public func NSStringFromClass(_ type: NSManagedObject.Type) -> String {
  ManagedClassRegistry.register(type)
}
