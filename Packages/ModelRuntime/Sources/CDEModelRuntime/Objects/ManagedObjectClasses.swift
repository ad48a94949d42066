internal import CDEManagedModel
internal import Foundation

/// Which class goes by which name: a process-wide, append-only fact.
///
/// The Linux runtime finds top-level classes by `Module.Class` only, so bare names, private and
/// nested classes become known when a model, a request or an initialiser first mentions them.
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
    guard let name = description.managedObjectClassName else { return nil }
    if let known = ManagedClassRegistry.lookup(name) as? NSManagedObject.Type { return known }
    guard let found = NSClassFromString(name) as? NSManagedObject.Type else { return nil }
    ManagedClassRegistry.register(found)
    return found
  }
}

/// The name under which a managed object class can be found again, for `managedObjectClassName`.
///
/// Foundation's function of this name traps for private and nested classes on Linux; this overload serves managed classes
/// and makes the class known under the name it returns.
public func NSStringFromClass(_ type: NSManagedObject.Type) -> String {
  ManagedObjectClasses.register(type)
  return ManagedObjectClasses.names(of: type)[0]
}
