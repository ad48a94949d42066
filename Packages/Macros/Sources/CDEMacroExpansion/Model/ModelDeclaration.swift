import SwiftDiagnostics
import SwiftSyntax

/// A model class as the expansion sees it.
struct ModelDeclaration {
  enum Member {
    case persisted(ModelProperty)
    case ignored(IgnoredProperty)
  }

  let name: String
  let entityName: String
  /// The class it inherits from, as written; nil for `NSManagedObject`.
  let parent: String?
  /// Whether other models may inherit from it, or it inherits from one.
  let isInHierarchy: Bool
  /// The modifier of members that a class in another module has to override, with a space behind it.
  let overridableAccess: String
  let isFinal: Bool
  let access: AccessLevel
  let options: ModelOptions
  let members: [Member]
  /// The persisted properties; a property's position is its ordinal.
  let properties: [ModelProperty]
  let deprecatedPaths: DeprecatedPaths
  let declaresFetchRequest: Bool
  /// Whether the class overrides the initialiser that contexts make objects with.
  let overridesInitializer: Bool
  /// The class's methods that check one value, by the keys of the properties.
  let validators: [ValidationMethod]
  /// To-many relationships whose count has the name of a declared property; reported, not generated.
  let clashingCounts: Set<String>

  var attributes: [ModelProperty] { properties.filter(\.isAttribute) }
  var relationships: [ModelProperty] { properties.filter { !$0.isAttribute } }

  /// Whether the declaration is a class that may be a model; the roles other than the member role stay
  /// silent about it.
  static func accepts(_ declaration: some DeclGroupSyntax) -> Bool {
    guard let type = declaration.as(ClassDeclSyntax.self) else { return false }
    return Superclass(of: type) != nil && type.genericParameterClause == nil
  }

  /// Reads the class; what is wrong with it goes into `diagnostics`.
  init?(
    _ declaration: some DeclGroupSyntax, marker: AttributeSyntax, diagnostics: inout [Diagnostic]
  ) {
    guard let type = declaration.as(ClassDeclSyntax.self) else {
      diagnostics.append(ModelDeclaration.notAClass(declaration, marker))
      return nil
    }
    guard let superclass = Superclass(of: type) else {
      diagnostics.append(Superclass.missing(type))
      return nil
    }
    if let generics = type.genericParameterClause {
      diagnostics.append(ModelDeclaration.isGeneric(generics))
      return nil
    }
    if let refusal = type.modelRefusal {
      diagnostics.append(refusal)
      return nil
    }
    name = type.name.text
    access = AccessLevel(of: type)
    options = ModelOptions(marker, diagnostics: &diagnostics)
    isFinal = type.modifiers.contains(.final)
    if case .model(let parent) = superclass { self.parent = parent } else { parent = nil }
    isInHierarchy = parent != nil || !isFinal
    overridableAccess = type.modifiers.contains(.open) ? "open " : access.prefix
    if options.isAbstract, let final = type.modifiers.first(where: { $0.name.tokenKind == .keyword(.final) })
    {
      diagnostics.append(
        .make(
          "abstractFinal", at: final,
          "An abstract model has no objects but those of the models that inherit from it, and from a "
            + "`final` class none can; remove `final`, or `isAbstract: true`.",
          fixIts: [.removing("Remove `final`", final), marker.removing("isAbstract")].compactMap { $0 }))
    }
    entityName = EntityName.read(type, options: options, marker: marker, diagnostics: &diagnostics)
    var reader = ModelMemberReader(isObserved: options.isObserved)
    reader.read(type.memberBlock.members)
    diagnostics += reader.diagnostics
    members = reader.members
    properties = reader.members.compactMap {
      if case .persisted(let property) = $0 { return property }
      return nil
    }
    deprecatedPaths = DeprecatedPaths(
      type: "__CDDeprecated", of: properties.map { (identifier: $0.identifier, variable: $0.declaration) })
    declaresFetchRequest = type.memberBlock.members.contains { $0.decl.isFetchRequest }
    let properties = self.properties
    validators = type.memberBlock.members.compactMap { ValidationMethod($0.decl, of: properties) }
    overridesInitializer = type.memberBlock.members.contains { $0.decl.isObjectInitializer }
    diagnostics += ModelDeclaration.nameClashes(properties)
    let clashes =
      options.generateToManyCount ? ModelDeclaration.countClashes(properties, in: type, marker) : [:]
    clashingCounts = Set(clashes.keys)
    diagnostics += properties.compactMap { clashes[$0.name] }
    if options.generateInit { diagnostics += missingInitTypes() }
    diagnostics += properties.compactMap(ModelDeclaration.reservedName)
    if !type.memberBlock.members.contains(where: { $0.decl.is(InitializerDeclSyntax.self) }) {
      diagnostics += members.compactMap(ModelDeclaration.missingValue)
    }
  }

  private static func isGeneric(_ generics: GenericParameterClauseSyntax) -> Diagnostic {
    .make(
      "genericModel", at: generics,
      "@PersistentModel does not support generic classes, because an entity has one class and one list of "
        + "properties; declare a class for each kind.",
      fixIts: [.trimming("Remove the generic parameters", generics)])
  }

  private static func notAClass(
    _ declaration: some DeclGroupSyntax, _ marker: AttributeSyntax
  ) -> Diagnostic {
    var fixIts: [FixIt] = []
    if let type = declaration.as(StructDeclSyntax.self) {
      fixIts = [.replacing("Use `final class`", type.structKeyword, with: "final class")]
    } else if let type = declaration.as(ActorDeclSyntax.self) {
      fixIts = [.replacing("Use `final class`", type.actorKeyword, with: "final class")]
    }
    return .make(
      "notAClass", at: marker,
      "@PersistentModel can only be attached to a class declaration that inherits from NSManagedObject.",
      fixIts: fixIts)
  }

  private static func nameClashes(_ properties: [ModelProperty]) -> [Diagnostic] {
    var seen: [String: String] = [:]
    return properties.compactMap { property in
      guard let other = seen.updateValue(property.name, forKey: property.persistentName) else {
        return nil
      }
      return .make(
        "persistentNameTwice", at: property.declaration,
        "`\(property.name)` and `\(other)` have the same persistent name `\(property.persistentName)`; "
          + "give one of them another `persistentName`.")
    }
  }

  private static func countClashes(
    _ properties: [ModelProperty], in type: ClassDeclSyntax, _ marker: AttributeSyntax
  ) -> [String: Diagnostic] {
    let counts = properties.filter(\.isToMany)
    guard !counts.isEmpty else { return [:] }
    var declared: [String: PatternSyntax] = [:]
    for member in type.memberBlock.members {
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
      for binding in variable.bindings {
        guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else { continue }
        declared[pattern.identifier.bareName] = binding.pattern
      }
    }
    var clashes: [String: Diagnostic] = [:]
    for property in counts {
      guard let clash = declared[property.countName] else { continue }
      clashes[property.name] = .make(
        "countClash", at: clash,
        "Generated to-many count property '\(property.countName)' conflicts with this property; rename "
          + "it, or pass `generateToManyCount: false`.",
        fixIts: [marker.adding("generateToManyCount: false", order: ModelOptions.labels)])
    }
    return clashes
  }

  /// Names that every managed object has already.
  private static let reservedNames: Set<String> = [
    "debugDescription", "description", "entity", "faultingState", "hasChanges", "hash", "hashValue",
    "isDeleted", "isFault", "isInserted", "isUpdated", "managedObjectContext", "objectID",
  ]

  private static func reservedName(_ property: ModelProperty) -> Diagnostic? {
    guard let pattern = property.declaration.bindings.first?.pattern else { return nil }
    let keeping = "`persistentName: \(property.persistentName.quoted)`"
    if let problem = ReservedName.problem(ofProperty: property.name, at: pattern, keeping: keeping) {
      return problem
    }
    guard reservedNames.contains(property.name) else { return nil }
    return .make(
      "reservedName", at: pattern,
      "`\(property.name)` is a member of every managed object; name the property otherwise, and keep the "
        + "stored name with \(keeping).")
  }

  private static func missingValue(_ member: Member) -> Diagnostic? {
    guard case .ignored(let property) = member, let binding = property.declaration.bindings.first,
      let type = binding.typeAnnotation?.type, binding.initializer == nil,
      !TypeShape(type).isOptional, property.declaration.attributes.count == 1
    else { return nil }
    return .make(
      "ignoredValue", at: binding.pattern,
      "`\(property.name)` must have a default value, because contexts make objects without calling an "
        + "initialiser of the class; give it one, or make it optional.",
      fixIts: [.inserting("Make it optional", "?", after: type)])
  }

  private func missingInitTypes() -> [Diagnostic] {
    members.compactMap { member in
      guard case .ignored(let property) = member, property.type == nil,
        let pattern = property.declaration.bindings.first?.pattern
      else { return nil }
      return .make(
        "missingType", at: pattern,
        "`\(property.name)` must declare its type, because `generateInit: true` makes it a parameter.")
    }
  }
}

extension DeclSyntax {
  /// A static or class `fetchRequest()` without parameters, which replaces the generated one.
  fileprivate var isFetchRequest: Bool {
    guard let function = self.as(FunctionDeclSyntax.self) else { return false }
    return function.name.text == "fetchRequest"
      && function.signature.parameterClause.parameters.isEmpty
      && (function.modifiers.contains(.static) || function.modifiers.contains(.class))
  }

  /// `init(entity:insertInto:)`, or what may contain it.
  fileprivate var isObjectInitializer: Bool {
    if self.is(IfConfigDeclSyntax.self) { return true }
    guard let parameters = self.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters else {
      return false
    }
    return parameters.map(\.firstName.text) == ["entity", "insertInto"]
  }
}
