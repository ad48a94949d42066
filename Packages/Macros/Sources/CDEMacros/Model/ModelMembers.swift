import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that `@PersistentModel` adds to a class.
struct ModelMembers {
  let model: ModelDeclaration

  private var access: String { model.access.prefix }

  var declarations: [DeclSyntax] {
    var members: [DeclSyntax] = [
      keys, slots, propertyNames, swiftNames, predicateKey, schema, SchemaFunction(model: model).declaration,
    ]
    members += PathMembers(model).declarations
    members.append(InverseCheck(model: model).names)
    if !model.relationships.isEmpty { members += [targetCheck, InverseCheck(model: model).check] }
    if !model.declaresFetchRequest { members.append(fetchRequest) }
    if model.options.generateInit, let initializer { members.append(initializer) }
    for property in model.relationships where property.isToMany {
      members += RelationshipMembers(model: model, property: property).declarations
    }
    if model.options.isObserved { members += ObservedMembers(model: model).declarations }
    return members
  }

  // `nonisolated` everywhere: the class is, and in modules with another default isolation its
  // nested types and members would not be.
  private var keys: DeclSyntax {
    let attributes = model.attributes
    guard !attributes.isEmpty else {
      return """
        \(raw: access)nonisolated enum Keys: RawRepresentable {
          \(raw: access)typealias RawValue = String
          \(raw: access)init?(rawValue: String) {
            return nil
          }
          \(raw: access)var rawValue: String {
            switch self {
            }
          }
        }
        """
    }
    let cases = attributes.map { "case \($0.identifier) = \($0.persistentName.quoted)" }
    return """
      \(raw: access)nonisolated enum Keys: String {
        \(raw: cases.joined(separator: "\n  "))
      }
      """
  }

  private var slots: DeclSyntax {
    let slots = model.properties.enumerated().map { ordinal, property in
      """
      @inline(__always) \(access)static var \(property.identifier): Int {
          \(ordinal)
        }
      """
    }
    return """
      \(raw: access)nonisolated enum __CDSlot {
        \(raw: slots.joined(separator: "\n  "))
      }
      """
  }

  private var propertyNames: DeclSyntax { list("__cdPropertyNames", model.properties.map(\.persistentName)) }

  private var swiftNames: DeclSyntax { list("__cdSwiftNames", model.properties.map(\.name)) }

  private func list(_ name: String, _ names: [String]) -> DeclSyntax {
    """
    \(raw: access)nonisolated static var \(raw: name): [String] {
      [\(raw: names.map(\.quoted).joined(separator: ", "))]
    }
    """
  }

  private var predicateKey: DeclSyntax {
    guard !model.properties.isEmpty else {
      return """
        \(raw: access)nonisolated static func predicateKey(for keyPath: AnyKeyPath) -> String? {
          nil
        }
        """
    }
    var tests: [String] = []
    for property in model.properties {
      tests.append(
        """
        if matches(\\.\(property.identifier)) {
            return \(property.persistentName.quoted)
          }
        """)
      if property.isAttribute, property.storageMethod == "composition" {
        let type = property.shape.wrapped.trimmedDescription
        tests.append(
          """
          if let field = \(type).__cdPredicateKey(for: keyPath, after: \\\(model.name).\(property.identifier)) {
              return \((property.persistentName + ".").quoted) + field
            }
          """)
      }
      if property.isToMany, model.options.generateToManyCount {
        tests.append(
          """
          if matches(\\.\(property.countName)) {
              return \((property.persistentName + ".@count").quoted)
            }
          """)
      }
    }
    // One function with one type, so that each key path is checked by itself and at once.
    return """
      \(raw: access)nonisolated static func predicateKey(for keyPath: AnyKeyPath) -> String? {
        func matches(_ candidate: PartialKeyPath<\(raw: model.name)>) -> Bool {
          keyPath == candidate
        }
        \(raw: tests.joined(separator: "\n  "))
        return nil
      }
      """
  }

  private var schema: DeclSyntax {
    """
    \(raw: access)nonisolated static let __cdRuntimeEntitySchema: CDRuntimeEntitySchema = \
    \(raw: SchemaFunction.name)()
    """
  }

  /// Fails to compile when a relationship points to something that is no model.
  private var targetCheck: DeclSyntax {
    var seen: Set<String> = []
    let calls = model.relationships.compactMap(\.target).filter { seen.insert($0).inserted }
      .map { "relationshipTargetMustBeAPersistentModel(\($0).self)" }
    return """
      private nonisolated static func __cdCheckRelationshipTargets() {
        func relationshipTargetMustBeAPersistentModel<Target: PersistentEntity>(_: Target.Type) {
        }
        \(raw: calls.joined(separator: "\n  "))
      }
      """
  }

  private var fetchRequest: DeclSyntax {
    """
    \(raw: access)nonisolated class func fetchRequest() -> NSFetchRequest<\(raw: model.name)> {
      NSFetchRequest<\(raw: model.name)>(entityName: \(raw: model.entityName.quoted))
    }
    """
  }

  private var initializer: DeclSyntax? {
    let parameters = model.members.compactMap { member -> (String, String)? in
      switch member {
      case .persisted(let property):
        property.isAttribute ? (property.identifier, property.type.trimmedDescription) : nil
      case .ignored(let property):
        property.type.map { (property.identifier, $0.trimmedDescription) }
      }
    }
    guard !parameters.isEmpty else { return nil }
    return """
      \(raw: initializerAccess)nonisolated convenience init(\
      \(raw: parameters.map { "\($0.0): \($0.1)" }.joined(separator: ", "))) {
        self.init(entity: Self.entity(), insertInto: nil)
        \(raw: parameters.map { "self.\($0.0) = \($0.0)" }.joined(separator: "\n  "))
      }
      """
  }

  /// An ignored property may be of a type that is visible no further than the property itself.
  private var initializerAccess: String {
    var level = model.access
    for case .ignored(let property) in model.members {
      guard let type = property.type, TypeShape(type).primitive == nil else { continue }
      level = level.limited(to: property.declaration)
    }
    return level.prefix
  }
}
