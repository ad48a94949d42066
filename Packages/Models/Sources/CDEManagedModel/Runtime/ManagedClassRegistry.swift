public import Foundation
@_spi(CDE) internal import CDEExecutors

/// The classes of the process by name. Classes are only added.
///
/// The Swift runtime on Linux finds top-level classes by `Module.Class` only. Models also name classes by
/// their bare name, and tests use private and nested ones. Therefore each class used by a model, a request or
/// an initialiser is registered here. May be used from any thread.
@_spi(CDE) public enum ManagedClassRegistry {
  private struct Table {
    var names: [ObjectIdentifier: String] = [:]
    // Several private or nested classes may share a name, so a name leads to all of them, in the order of
    // registration.
    var classes: [String: [NSObject.Type]] = [:]

    mutating func add(_ type: NSObject.Type, as name: String) {
      if classes[name]?.contains(where: { $0 == type }) == true { return }
      classes[name, default: []].append(type)
    }
  }
  private static let table = Lock(Table())

  /// Registers a class under its qualified name, its qualified name without private contexts, and its bare
  /// name.
  ///
  /// - Returns: the name that is unique among all classes, for use in a model.
  @discardableResult
  public static func register(_ type: NSObject.Type) -> String {
    table.withLock { table in
      if let known = table.names[ObjectIdentifier(type)] { return known }
      let full = String(reflecting: type)
      table.names[ObjectIdentifier(type)] = full
      for name in [full, withoutPrivateContexts(full), bareName(full)] { table.add(type, as: name) }
      return full
    }
  }

  /// Registers a class under another name, such as one given by `@_objcRuntimeName`.
  public static func register(_ type: NSObject.Type, as name: String) {
    register(type)
    table.withLock { $0.add(type, as: name) }
  }

  /// All registered classes of that name: qualified, nested or bare.
  public static func candidates(named name: String) -> [NSObject.Type] {
    table.withLock { $0.classes[name] ?? [] }
  }

  /// The class with this name; `nil` when there is none or there are several.
  ///
  /// A top-level class is found by `Module.Class` without registration, and is then registered.
  public static func lookup(_ name: String) -> NSObject.Type? {
    let found = candidates(named: name)
    if found.count == 1 { return found[0] }
    // The runtime's own search prints a warning unless the name is two identifiers with one dot.
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard found.isEmpty, parts.count == 2, parts.allSatisfy({ ModelValidator.isPropertyName(String($0)) }),
      let type = NSClassFromString(name) as? NSObject.Type
    else { return nil }
    register(type)
    return type
  }

  /// The class's name without the parts for private scopes.
  static func withoutPrivateContexts(_ name: String) -> String {
    name.split(separator: ".").filter { !$0.hasPrefix("(") }.joined(separator: ".")
  }

  static func bareName(_ name: String) -> String {
    name.split(separator: ".").last.map(String.init) ?? name
  }
}
