@_spi(CDE) internal import CDEManagedModel
internal import Foundation

/// The registered names of managed object classes.
enum ManagedObjectClasses {
  /// The names of a class, the most precise first and the bare one last.
  static func names(of type: NSManagedObject.Type) -> [String] {
    let qualified = String(reflecting: type)
    let bare = type._cdObjectiveCName ?? String(describing: type)
    return qualified == bare ? [bare] : [qualified, bare]
  }

  static func register(_ type: NSManagedObject.Type) {
    guard let name = type._cdObjectiveCName else {
      ManagedClassRegistry.register(type)
      return
    }
    ManagedClassRegistry.register(type, as: name)
  }

  static func find(for description: NSEntityDescription) -> NSManagedObject.Type? {
    guard let name = description.managedObjectClassName, name != "NSManagedObject" else { return nil }
    if let module = description.managedObjectModel?.callingModule {
      PortedClasses.load(module)
      if let own = ManagedClassRegistry.lookup("\(module).\(name)") as? NSManagedObject.Type { return own }
    }
    if let module = name.split(separator: ".").first, module.count < name.count {
      PortedClasses.load(String(module))
    }
    return ManagedClassRegistry.lookup(name) as? NSManagedObject.Type
  }
}

/// The name by which a managed object class can be found again, for `managedObjectClassName`.
///
/// Foundation's function of this name traps for private and nested classes on Linux. This overload accepts
/// managed classes, and registers the class under the returned name.
public func NSStringFromClass(_ type: NSManagedObject.Type) -> String {
  PortedClasses.load(moduleOf: type)
  ManagedObjectClasses.register(type)
  return type._cdObjectiveCName ?? ManagedClassRegistry.register(type)
}
