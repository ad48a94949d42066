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

  /// Registers a class, and those of its module, which a model may name without the module.
  static func register(_ type: NSManagedObject.Type) {
    PortedClasses.load(moduleOf: type)
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
    if let found = ManagedClassRegistry.lookup(name) { return found as? NSManagedObject.Type }
    // A model made in code does not know who made it, and no code may have named the class yet.
    PortedClasses.loadProgram()
    if ManagedClassRegistry.candidates(named: name).isEmpty { PortedClasses.loadAll() }
    return ManagedClassRegistry.lookup(name) as? NSManagedObject.Type
  }

  /// Tells once that an entity names a class that was not found.
  static func tellMissing(for description: NSEntityDescription) {
    guard let name = description.managedObjectClassName, !name.isEmpty, name != "NSManagedObject" else {
      return
    }
    let entity = description.name ?? ""
    Diagnostics.reportOnce(about: "\(entity) of class \(name)") {
      "The entity \(entity) names the class \(name), and the program has no managed class of this name, or several. Its objects "
        + "are plain NSManagedObjects. Set managedObjectClassName to NSStringFromClass of the class, to "
        + "\"Module.Class\", or to \"NSManagedObject\" if there is to be none."
    }
  }
}

/// The name by which a managed object class can be found again, for `managedObjectClassName`.
///
/// Foundation's function of this name traps for private and nested classes on Linux. This overload accepts
/// managed classes, and registers the class under the returned name.
public func NSStringFromClass(_ type: NSManagedObject.Type) -> String {
  ManagedObjectClasses.register(type)
  return type._cdObjectiveCName ?? ManagedClassRegistry.register(type)
}
