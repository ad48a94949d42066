import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: accessors for the persisted properties, and what a context needs of the class.
enum SwiftDataModelMacro {
  static var formatMode: FormatMode { .disabled }
}

extension SwiftDataModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard declaration.is(ClassDeclSyntax.self), let variable = member.as(VariableDeclSyntax.self),
      !variable.attributes.contains(named: "_PersistedProperty"),
      case .persisted = SwiftDataProperty.role(of: variable)
    else { return [] }
    return ["@_PersistedProperty"]
  }
}

extension SwiftDataModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    var diagnostics: [Diagnostic] = []
    if let hidden = HiddenType.diagnose(declaration, macro: "Model", in: context) {
      diagnostics.append(hidden)
    }
    let model = SwiftDataModel(declaration, marker: node, missing: protocols, diagnostics: &diagnostics)
    context.diagnose(all: diagnostics)
    guard let model else { return [] }
    return SwiftDataMembers(model: model).declarations
  }
}

extension SwiftDataModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(ClassDeclSyntax.self),
      declaration.as(ClassDeclSyntax.self)?.genericParameterClause == nil,
      HiddenType.diagnose(declaration, macro: "Model", in: context) == nil,
      protocols.contains(where: { $0.trimmedDescription.hasSuffix("PersistentModel") })
    else { return [] }
    return try ["_ModelObservable", "PersistentModel"].map {
      try ExtensionDeclSyntax("extension \(type.trimmed): nonisolated CDESwiftData.\(raw: $0) {}")
    }
  }
}

/// What `@Model` adds to a class.
struct SwiftDataMembers {
  let model: SwiftDataModel

  private var name: String { model.name }
  private var isFirst: Bool { model.parent == nil }

  var declarations: [DeclSyntax] {
    let common: [DeclSyntax] = [
      marker, info, backing, ordinals, metadata, paths, ownPaths, count, objectInitialiser,
      registrar, values,
    ]
    return common
      + model.deprecatedPaths.declarations(
        owner: name, conformance: "CDESwiftData._DeprecatedPaths", element: "Swift.AnyKeyPath")
      + (isFirst
        ? [object, backingData, root, backingInitialiser] + equality : [inheritedInitialiser])
  }

  /// The modifiers of a member of the class that subclasses override.
  private func overridable() -> String {
    if !isFirst { return "\(model.overridableAccess)override class" }
    return model.isFinal ? "\(model.access)static" : "\(model.overridableAccess)class"
  }

  /// Stands for a property in checks that an initialiser sets all. It has no size.
  private var marker: DeclSyntax { "private nonisolated struct _SwiftDataNoType {}" }

  private var info: DeclSyntax {
    "private nonisolated static let _$info = CDESwiftData._ModelInfo.of(\(raw: name).self)"
  }

  private var backing: DeclSyntax {
    """
    @CDESwiftData.Transient @exclusivity(unchecked)
    private nonisolated(unsafe) var _$backing = CDESwiftData._ModelBacking<\(raw: name)>(\(raw: name)._$info)
    // Guard: the isolation of the model's context.
    """
  }

  private var ordinals: DeclSyntax {
    let base = model.parent.map { "\($0)._$propertyCount + " } ?? ""
    let cases = model.properties.enumerated().map { index, property in
      "static var \(property.identifier.text): Swift.Int { \(base)\(index) }"
    }
    return """
      private nonisolated enum _$Ordinal {
        \(raw: cases.joined(separator: "\n  "))
      }
      """
  }

  private var metadata: DeclSyntax {
    let entries = model.properties.map { property in
      "CDESwiftData.Schema.PropertyMetadata(name: \(property.name.quoted), keypath: "
        + "\(model.deprecatedPaths.path(to: property.identifier.text, from: name) ?? "\\\(name).\(property.identifier.text)"), "
        + "defaultValue: \(defaultValue(of: property)), metadata: \(property.metadata(in: name) ?? "nil"))"
    }
    let constraints = model.constraints.map { constraint in
      "CDESwiftData.Schema.PropertyMetadata(name: \"\", keypath: \\\(name).self, "
        + "metadata: CDESwiftData.Schema.\(constraint.name)<\(name)>(\(constraint.arguments)))"
    }
    let list = (entries + constraints).joined(separator: ",\n    ")
    return """
      \(raw: overridable()) nonisolated var schemaMetadata: [CDESwiftData.Schema.PropertyMetadata] {
        [
          \(raw: list)
        ]
      }
      """
  }

  private func defaultValue(of property: SwiftDataProperty) -> String {
    guard let value = property.initialValue, !value.isNilLiteral else { return "nil" }
    // `.now` and `[]` need the type that the property declares.
    guard let type = property.type else { return value.description }
    // No expression has a type with `!`.
    let spelled = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self).map { "\($0.wrappedType)?" }
    return "(\(value) as \(spelled ?? type.description)) as Any?"
  }

  private var paths: DeclSyntax {
    """
    \(raw: overridable()) nonisolated func _$propertyPaths() -> [Swift.AnyKeyPath] {
      _$paths(of: \(raw: name).self)
    }
    """
  }

  /// Key paths differ by the class that they start from, so a class that inherits asks for its own.
  private var ownPaths: DeclSyntax {
    let own = model.properties.map { property in
      let name = property.identifier.text
      return model.deprecatedPaths.path(to: name, from: "__M") ?? "\\__M.\(name)"
    }.joined(separator: ", ")
    let inherited =
      model.parent.map { "\($0)._$paths(of: type) + " } ?? ""
    return """
      \(raw: model.access)nonisolated static func _$paths<__M: \(raw: name)>(of type: __M.Type) -> [Swift.AnyKeyPath] {
        \(raw: inherited)[\(raw: own)]
      }
      """
  }

  /// The number of properties, those of the parents included.
  private var count: DeclSyntax {
    "\(raw: overridable()) nonisolated var _$propertyCount: Swift.Int { \(raw: countText) }"
  }

  private var countText: String {
    (model.parent.map { "\($0)._$propertyCount + " } ?? "") + "\(model.properties.count)"
  }

  /// Makes the instance of an object that a context has.
  private var objectInitialiser: DeclSyntax {
    let markers = model.properties.filter { $0.initialValue == nil }.map {
      "  _\($0.name) = \($0.markerType)()\n"
    }
    return """
      \(raw: model.access)required nonisolated init(_$object object: CDESwiftData._ModelObject) {
      \(raw: markers.joined())  _$backing.adopt(object)
      \(raw: isFirst ? "" : "  super.init(_$object: object)\n")}
      """
  }

  private var object: DeclSyntax {
    "\(raw: model.access)final nonisolated var _$object: CDESwiftData._ModelObject { _$backing.object(of: self) }"
  }

  /// Names of SwiftData's expansion, which code of a class uses for properties of its own.
  private var registrar: DeclSyntax {
    """
    private nonisolated var _$observationRegistrar: CDESwiftData._ModelRegistrar {
      CDESwiftData._ModelRegistrar(_$object)
    }
    """
  }

  private var values: DeclSyntax {
    """
    private nonisolated var _$backingData: any CDESwiftData.BackingData<\(raw: name)> {
      get { CDESwiftData.DefaultBackingData<\(raw: name)>(_$object: _$object) }
      set { _$backing.adopt(newValue._$object) }
    }
    """
  }

  private var backingData: DeclSyntax {
    """
    \(raw: model.access)nonisolated var persistentBackingData: any CDESwiftData.BackingData<\(raw: name)> {
      get { CDESwiftData.DefaultBackingData<\(raw: name)>(_$object: _$object) }
      set { _$backing.adopt(newValue._$object) }
    }
    """
  }

  /// Names the witness of `==`: the compiler (6.3) finds an `==` of the class's own twice from the extension that a macro makes, and
  /// then takes it for ambiguous with that of all models. One in an extension is seen by no macro, so the first comparison asks.
  private var equality: [DeclSyntax] {
    let hasOwn = model.declaration.memberBlock.members.contains {
      $0.decl.as(FunctionDeclSyntax.self)?.name.text == "=="
    }
    let body = hasOwn ? "one == other" : "_$equality.compare(one, other) { $0 == $1 }"
    let witness: DeclSyntax = """
      @_implements(Swift.Equatable, ==(_:_:))
      \(raw: model.access)nonisolated static func _$isEqual(_ one: \(raw: name), _ other: \(raw: name)) -> Swift.Bool {
        \(raw: body)
      }
      """
    return hasOwn
      ? [witness] : ["private nonisolated static let _$equality = CDESwiftData._ModelEquality()", witness]
  }

  private var root: DeclSyntax { "\(raw: model.access)typealias Root = \(raw: name)" }

  private var backingInitialiser: DeclSyntax {
    """
    \(raw: model.access)required nonisolated convenience init(backingData: any CDESwiftData.BackingData<\(raw: name)>) {
      self.init(_$object: backingData._$object)
    }
    """
  }

  /// A required initialiser of the first model of the hierarchy, which no subclass inherits that has others.
  private var inheritedInitialiser: DeclSyntax {
    """
    \(raw: model.access)required nonisolated convenience init(backingData: any CDESwiftData.BackingData<Root>) {
      self.init(_$object: backingData._$object)
    }
    """
  }
}
