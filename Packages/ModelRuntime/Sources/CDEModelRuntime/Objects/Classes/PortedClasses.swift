@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEManagedModel
internal import CDERuntimeABI
internal import Foundation

/// The list of a target's managed classes, which the rewriting of its sources adds to the target.
///
/// Models name classes as the Objective-C runtime knows them. Swift's runtime finds a class by its module only. A list
/// has a fixed name in its module, so that a module's name is enough to find it.
public protocol CDPortedClasses: AnyObject {
  /// The classes with the names that models use.
  static var classes: [(name: String, type: NSManagedObject.Type)] { get }
  /// Other classes with a name given by `@objc(Name)`, such as the policies of migrations.
  static var others: [(name: String, type: AnyClass)] { get }
  /// The modules that the target imports, whose classes its models may name.
  static var modules: [String] { get }
}

extension CDPortedClasses {
  /// No other classes.
  public static var others: [(name: String, type: AnyClass)] { [] }
}

/// The lists read so far.
enum PortedClasses {
  private static let read = Lock<Set<String>>([])
  /// The classes whose modules were read. To make the name of a module takes longer than to look here.
  private static let seen = Lock<Set<ObjectIdentifier>>([])
  /// The module of the program: its name, as the package manager writes it.
  private static let program = String(
    (CommandLine.arguments.first ?? "").split(separator: "/").last.map {
      $0.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
    } ?? [])

  /// Registers the classes of the module of a class.
  static func load(moduleOf type: NSManagedObject.Type) {
    guard seen.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) else { return }
    load(String(String(reflecting: type).prefix { $0 != "." }))
  }

  /// Registers the classes of the program's module.
  static func loadProgram() { if !program.isEmpty { load(program) } }

  /// Registers the classes of all modules with a list.
  ///
  /// A library that is loaded later counts once its module is named.
  static func loadAll() { for module in listed { load(module) } }

  /// The modules with a list, found once among the types of the process. That takes a millisecond for a big program.
  private static let listed: [String] = {
    var found: [String] = []
    withUnsafeMutablePointer(to: &found) { list in
      cde_modules_with_class(
        "_CDEPortedClasses",
        { module, list in
          guard let module, let list else { return }
          list.assumingMemoryBound(to: [String].self).pointee.append(String(cString: module))
        }, list)
    }
    return found.sorted()
  }()

  /// Registers the classes of a module and of those that it imports.
  static func load(_ module: String) {
    var waiting = [module]
    while let next = waiting.popLast() {
      // The name itself is not tried twice. Classes are registered outside the lock, because that calls other code.
      guard read.withLock({ $0.insert(next).inserted }),
        let list = _typeByName("\(next)._CDEPortedClasses") as? any CDPortedClasses.Type
      else { continue }
      OutsideReports.begin()
      for (name, type) in list.classes {
        ManagedClassRegistry.register(type, as: name)
        ManagedClassRegistry.register(type, as: "\(next).\(name)")
      }
      for (name, type): (String, AnyClass) in list.others {
        guard let object = type as? NSObject.Type else { continue }
        ManagedClassRegistry.register(object, as: name)
        ManagedClassRegistry.register(object, as: "\(next).\(name)")
      }
      waiting += list.modules
    }
  }
}

extension NSManagedObject {
  /// The class of a name, for look-ups in rewritten sources.
  ///
  /// - Parameters:
  ///   - name: a name with or without a module, or one given by `@objc(Name)`.
  ///   - module: the module that asks, whose classes come first.
  public static func _cdClass(named name: String, in module: String) -> AnyClass? {
    PortedClasses.load(module)
    if let own = ManagedClassRegistry.lookup("\(module).\(name)") { return own }
    if ManagedClassRegistry.candidates(named: name).isEmpty { PortedClasses.loadAll() }
    return ManagedClassRegistry.lookup(name)
  }
}
