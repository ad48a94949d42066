/// What other files of a target need to know about one file.
public struct FileFacts: Codable, Equatable, Sendable {
  /// A class, or an extension of one.
  struct TypeFacts: Codable, Equatable, Sendable {
    /// The name with the names of the types around it, separated by points.
    var name: String
    var isExtension: Bool
    /// The first inherited type of a class.
    var superclass: String?
    /// The name given by `@objc(Name)`.
    var objectiveCName: String?
    /// Whether code in other files can name the class.
    var isVisible = true
    /// Whether the class is isolated to the main actor by an attribute.
    var isOnMainActor = false
    /// Types of the variables by name; an empty string where the type is not written down.
    var properties: [String: String] = [:]
    /// The names by which key-value coding knows variables, where these differ.
    var keys: [String: String] = [:]
    /// Variables that code in other files can't name in a key path, or that may not be compiled.
    var hidden: Set<String> = []
    /// Whether the class has `@objcMembers`.
    var isExposed = false
    /// The names of variables with `@NSManaged`.
    var managed: Set<String> = []
    /// Variables with accessors of their own, and functions without parameters. Key-value coding calls them on Apple's platforms if
    /// Objective-C knows them.
    var computed: [Computed] = []
    /// Whether a class has the function that key-value observing calls.
    var isObserving = false
    /// Functions `validate<Key>`, which check one value.
    var validators: [String] = []
    /// Calls of the members `keyPathsForValuesAffecting<Key>`.
    var affecting: [String] = []
    /// The keys of members with the modifier `override`.
    var overrides: Set<String> = []
    /// The members of an extension in the form that they have if the class's body calls them.
    var lifted: [LiftedMember] = []

    struct Computed: Codable, Equatable, Sendable {
      var name: String
      /// The key of a function.
      var function: String?
      var isSettable = false
      /// Whether the member has `@objc`. One without counts in classes with `@objcMembers`.
      var isExposed: Bool
      /// Whether the member overrides one of a superclass. Objective-C knows it if it knows that one.
      var isOverride: Bool

      /// What reads the value.
      var getter: String { function == nil ? name : "\(name)()" }
    }
  }

  var types: [TypeFacts] = []
  /// Names of functions that a protocol declares as optional requirements.
  var optionalMembers: [String] = []
  /// Imported modules.
  var imports: [String] = []
}

/// What the rewriter knows about all files of a target.
public struct SourceIndex: Sendable {
  struct Class: Sendable {
    var superclass: String?
    var objectiveCName: String?
    var isVisible = true
    var isOnMainActor = false
    var properties: [String: String] = [:]
    var keys: [String: String] = [:]
    var hidden: Set<String> = []
    var isExposed = false
    var managed: Set<String> = []
    var computed: [FileFacts.TypeFacts.Computed] = []
    var isObserving = false
    var validators: [String] = []
    var affecting: [String] = []
    var overrides: Set<String> = []
    var lifted: [LiftedMember] = []
    /// What subclasses override.
    var overriddenBelow: Set<String> = []
  }

  private(set) var classes: [String: Class] = [:]
  /// Full names by the last part of a name.
  private var fullNames: [String: [String]] = [:]
  private(set) var optionalMembers: Set<String>
  private(set) var imports: Set<String> = []
  /// The replacements of Apple's modules that the target depends on.
  let modules: Set<String>
  /// Modules that Linux lacks, and those that the target names in their place.
  let replacements: [String: [String]]
  /// Whether the target's declarations are isolated to the main actor by default.
  let isOnMainActor: Bool
  /// Whether members are visible only where their own module is imported.
  let importsMembers: Bool

  /// Requirements of the delegates that this package declares.
  private static let knownOptionalMembers: Set<String> = [
    "controllerWillChangeContent", "controllerDidChangeContent", "controller",
  ]

  /// All replacements of Apple's modules that the rewriter knows.
  public static let allModules = Set(ImportedModules.replaced.values).union(["CDEXCTestPorting"])

  /// What is known about a target.
  ///
  /// - Parameters:
  ///   - files: the facts of its files.
  ///   - modules: the replacements of Apple's modules that it depends on; all of them by default.
  ///   - replacements: modules of Apple's platforms that Linux lacks, and others with the same interface. Several are separated by
  ///     commas; the first one stands before points.
  ///   - isOnMainActor: whether the target's declarations are isolated to the main actor by default.
  ///   - importsMembers: whether members are visible only where their own module is imported.
  public init(
    _ files: some Sequence<FileFacts>, modules: Set<String> = allModules,
    replacements: [String: String] = [:],
    isOnMainActor: Bool = false, importsMembers: Bool = false
  ) {
    self.isOnMainActor = isOnMainActor
    self.importsMembers = importsMembers
    self.replacements = replacements.mapValues { names in
      names.split { $0 == "," || $0 == " " }.map(String.init)
    }
    self.modules = modules
    optionalMembers = Self.knownOptionalMembers
    let files = Array(files)
    for file in files {
      optionalMembers.formUnion(file.optionalMembers)
      imports.formUnion(file.imports)
      for type in file.types where !type.isExtension {
        classes[type.name] = Class(
          superclass: type.superclass, objectiveCName: type.objectiveCName, isVisible: type.isVisible,
          isOnMainActor: type.isOnMainActor, properties: type.properties, keys: type.keys,
          hidden: type.hidden, isExposed: type.isExposed, managed: type.managed, computed: type.computed,
          isObserving: type.isObserving, validators: type.validators, affecting: type.affecting,
          overrides: type.overrides)
        let last = type.name.split(separator: ".").last.map(String.init) ?? type.name
        fullNames[last, default: []].append(type.name)
      }
    }
    for file in files {
      for type in file.types where type.isExtension {
        guard let name = fullName(of: type.name) else { continue }
        classes[name]?.properties.merge(type.properties) { own, _ in own }
        classes[name]?.keys.merge(type.keys) { own, _ in own }
        classes[name]?.hidden.formUnion(type.hidden)
        classes[name]?.managed.formUnion(type.managed)
        classes[name]?.computed += type.computed
        classes[name]?.validators += type.validators
        classes[name]?.affecting += type.affecting
        classes[name]?.overrides.formUnion(type.overrides)
        classes[name]?.lifted += type.lifted
      }
    }
    for (name, type) in classes where !type.overrides.isEmpty {
      for parent in lineage(of: name)?.names.dropFirst() ?? [] {
        classes[parent]?.overriddenBelow.formUnion(type.overrides)
      }
    }
  }

  /// Whether a member of a class's extension is called by the class's body, because overriding is involved.
  func isLifted(_ member: LiftedMember, of type: String) -> Bool {
    member.isOverride || classes[type]?.overriddenBelow.contains(member.key) == true
  }

  /// The full name of a class, given the name that a source uses for it.
  ///
  /// - Returns: nil for a name that no class of the target has, or that several have.
  func fullName(of name: String) -> String? {
    if classes[name] != nil { return name }
    guard let last = name.split(separator: ".").last else { return nil }
    let found = (fullNames[String(last)] ?? []).filter {
      $0 == name || $0.hasSuffix(".\(last)") || $0 == last
    }
    return found.count == 1 ? found[0] : nil
  }

  /// Whether a class is a managed object class of this target.
  func isManaged(_ name: String) -> Bool { lineage(of: name)?.isComplete == true }

  /// The class and its superclasses in this target, from the class upward; `isComplete` if they end at
  /// `NSManagedObject`.
  func lineage(of name: String) -> (names: [String], isComplete: Bool)? {
    guard var next = fullName(of: name) else { return nil }
    var names: [String] = []
    while true {
      guard !names.contains(next) else { return (names, false) }
      names.append(next)
      guard let parent = classes[next]?.superclass else { return (names, false) }
      if parent == "NSManagedObject" || parent.hasSuffix(".NSManagedObject") { return (names, true) }
      guard let known = fullName(of: parent) else { return (names, false) }
      next = known
    }
  }

  /// A property of a class or its superclasses: the key of key-value coding and the written type.
  func property(_ name: String, of type: String) -> (key: String, type: String)? {
    for type in lineage(of: type)?.names ?? [] {
      guard let facts = classes[type], let written = facts.properties[name] else { continue }
      return (facts.keys[name] ?? name, written)
    }
    return nil
  }
}
