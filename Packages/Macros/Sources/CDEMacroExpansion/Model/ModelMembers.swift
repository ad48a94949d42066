import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that `@PersistentModel` adds to a class.
struct ModelMembers {
  let model: ModelDeclaration

  private var access: String { model.access.prefix }

  var declarations: [DeclSyntax] {
    var members: [DeclSyntax] = [keys, ordinals]
    if !model.overridesInitializer { members.append(plainClass) }
    if model.isInHierarchy {
      members += HierarchyMembers(model: model).declarations
    } else {
      members += [propertyNames, swiftNames, predicateKey, schema]
    }
    members.append(SchemaFunction(model: model).declaration)
    members += PathMembers(model).declarations
    members += InverseCheck(model: model).names
    if !model.relationships.isEmpty { members.append(InverseCheck(model: model).check) }
    // In a hierarchy a function of each class would be one overload more; the runtime's is of every class.
    if !model.declaresFetchRequest, !model.isInHierarchy { members.append(fetchRequest) }
    if !model.validators.isEmpty { members += ValidationMethod.members(of: model) }
    if model.options.generateInit, let initializer { members.append(initializer) }
    for property in model.relationships where property.isToMany {
      members += RelationshipMembers(model: model, property: property).declarations
    }
    if model.options.isObserved { members += ObservedMembers(model: model).declarations }
    members += model.deprecatedPaths.declarations(
      owner: model.name, conformance: "CDDeprecatedPaths", element: "Swift.PartialKeyPath<__CDRoot>")
    return members
  }

  // `nonisolated` everywhere: the class is, and in modules with another default isolation its
  // nested types and members would not be.
  private var keys: DeclSyntax {
    let attributes = model.attributes
    guard !attributes.isEmpty else {
      return """
        \(raw: access)nonisolated enum Keys: Swift.RawRepresentable {
          \(raw: access)typealias RawValue = Swift.String
          \(raw: access)init?(rawValue: Swift.String) {
            return nil
          }
          \(raw: access)var rawValue: Swift.String {
            switch self {
            }
          }
        }
        """
    }
    let cases = attributes.map { "case \($0.identifier) = \($0.persistentName.quoted)" }
    return """
      \(raw: access)nonisolated enum Keys: Swift.String {
        \(raw: cases.joined(separator: "\n  "))
      }
      """
  }

  private var ordinals: DeclSyntax {
    if model.isInHierarchy { return HierarchyMembers(model: model).ordinals }
    let ordinals = model.properties.enumerated().map { ordinal, property in
      """
      @inline(__always) \(access)static var \(property.identifier): CDOrdinal {
          \(ordinal)
        }
      """
    }
    return """
      \(raw: access)nonisolated enum __CDOrdinal {
        \(raw: ordinals.joined(separator: "\n  "))
      }
      """
  }

  /// Says that contexts may make objects without this class's initialiser, which only calls its superclass's.
  private var plainClass: DeclSyntax {
    """
    \(raw: model.overridableAccess)nonisolated override class var __cdPlainClass: NSManagedObject.Type? {
      \(raw: model.name).self
    }
    """
  }

  private var propertyNames: DeclSyntax { list("__cdPropertyNames", model.properties.map(\.persistentName)) }

  private var swiftNames: DeclSyntax { list("__cdSwiftNames", model.properties.map(\.name)) }

  private func list(_ name: String, _ names: [String]) -> DeclSyntax {
    """
    \(raw: access)nonisolated static var \(raw: name): [Swift.String] {
      [\(raw: names.map(\.quoted).joined(separator: ", "))]
    }
    """
  }

  private var predicateKey: DeclSyntax {
    let tests = PredicateKeyTests(model: model, root: model.name)
    guard !model.properties.isEmpty else {
      return """
        \(raw: access)nonisolated static func predicateKey(for keyPath: Swift.AnyKeyPath) -> Swift.String? {
          nil
        }
        """
    }
    return """
      \(raw: access)nonisolated static func predicateKey(for keyPath: Swift.AnyKeyPath) -> Swift.String? {
        \(raw: tests.statements.joined(separator: "\n  "))
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

  private var fetchRequest: DeclSyntax {
    """
    \(raw: access)nonisolated class func fetchRequest() -> NSFetchRequest<\(raw: model.name)> {
      NSFetchRequest<\(raw: model.name)>(entityName: \(raw: model.entityName.quoted))
    }
    """
  }

  private var initializer: DeclSyntax? {
    let parameters = model.members.compactMap { member -> (name: String, type: String, setting: String)? in
      switch member {
      case .persisted(let property):
        guard case .attribute(_, let storage) = property.kind else { return nil }
        let name = property.identifier
        let setting =
          model.deprecatedPaths.index(of: name) == nil
          ? "self.\(name) = \(name)"
          // The accessor's statement instead of the accessor, of which the compiler would warn here.
          : "do {\n    let newValue = \(name)\n    \(storage.setter(ordinal: property.ordinal(in: model.name)))\n  }"
        return (name, property.type.trimmedDescription, setting)
      case .ignored(let property):
        let name = property.identifier
        return property.type.map { (name, $0.trimmedDescription, "self.\(name) = \(name)") }
      }
    }
    guard !parameters.isEmpty else { return nil }
    return """
      \(raw: initializerAccess)nonisolated convenience init(\
      \(raw: parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", "))) {
        self.init(entity: Self.entity(), insertInto: nil)
        \(raw: parameters.map(\.setting).joined(separator: "\n  "))
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
