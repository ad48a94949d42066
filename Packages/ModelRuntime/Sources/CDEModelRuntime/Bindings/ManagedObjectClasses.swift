@_spi(CDE) internal import CDEManagedModel
internal import Foundation

/// The registered names of managed object classes.
enum ManagedObjectClasses {
  /// The names of a class, the most precise first and the bare one last.
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

/// The name by which a managed object class can be found again, for `managedObjectClassName`.
///
/// Foundation's function of this name traps for private and nested classes on Linux. This overload accepts
/// managed classes, and registers the class under the returned name.
public func NSStringFromClass(_ type: NSManagedObject.Type) -> String {
  ManagedClassRegistry.register(type)
}
