@_spi(CDE) internal import CDEManagedModel
internal import CDEModelFiles
internal import Foundation

/// Finds the classes of policies by their names.
enum MigrationPolicies {
  /// A new policy for a mapping: of the class that it names, otherwise the default one.
  ///
  /// - Parameter module: the module of the new model, whose classes come first.
  /// - Throws: ``ManagedObjectError`` with code `.migrationPolicy` if there is no such class, or it is no policy.
  static func policy(for mapping: NSEntityMapping, module: String?) throws -> NSEntityMigrationPolicy {
    guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty, name != "NSEntityMigrationPolicy"
    else { return NSEntityMigrationPolicy() }
    if let module { PortedClasses.load(module) }
    guard let found = names(of: name, module).lazy.compactMap(ManagedClassRegistry.lookup).first else {
      throw ManagedObjectError(
        .migrationPolicy,
        "The mapping \(mapping.name ?? "") names the policy \(name), and the program has no class of this name, or several. Name "
          + "it \"Module.Class\", or set entityMigrationPolicyClassName to NSStringFromClass of the class.",
        entity: mapping.destinationEntityName ?? mapping.sourceEntityName)
    }
    guard let policy = found as? NSEntityMigrationPolicy.Type else {
      throw ManagedObjectError(
        .migrationPolicy,
        "The mapping \(mapping.name ?? "") names the policy \(name), which is no NSEntityMigrationPolicy. Make it a subclass.",
        entity: mapping.destinationEntityName ?? mapping.sourceEntityName)
    }
    return policy.init()
  }

  /// The names under which a class is looked for. A mapping model of an app names the app's module, which may have another name
  /// here; the last one is for it.
  private static func names(of name: String, _ module: String?) -> [String] {
    guard let module else { return [name] }
    let bare = name.split(separator: ".").last.map(String.init) ?? name
    return ["\(module).\(name)", name, "\(module).\(bare)"]
  }
}
