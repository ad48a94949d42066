import SwiftSyntax
import SwiftSyntaxBuilder

/// The typed paths and the field tables of a model or a composition: `Paths`, `PathRoot`, `path` and the
/// tables that say what may be done with each field.
struct PathMembers {
  /// One field, as far as paths are concerned.
  struct Field {
    enum Kind {
      case attribute
      case composition(type: String)
      case toOne(target: String)
      case toMany(target: String)
    }

    /// The name as code spells it, backticks included.
    let identifier: String
    /// The name without backticks.
    let name: String
    let persistentName: String
    /// The declared type, spelled so that it may stand anywhere.
    let type: String
    /// The case of `StorageMethod`.
    let storageMethod: String
    let kind: Kind
    var isStored = true
    /// The access of the paths to the field; nil for a field that can't be named outside the type.
    let access: AccessLevel?
  }

  /// The type's name.
  let owner: String
  let access: AccessLevel
  let fields: [Field]
  /// Whether the type may stand behind a relationship, so that others list its fields.
  let hasProjection: Bool
  /// The class of a hierarchy that these are the members of.
  var hierarchy: ModelDeclaration?

  private var prefix: String { access.prefix }

  var declarations: [DeclSyntax] { [paths, root, path] + tables }

  private var paths: DeclSyntax {
    let members = visible.map { field, access in
      "\(access.prefix)static let \(field.identifier) = \(field.path(of: owner))"
    }
    return """
      \(raw: prefix)nonisolated enum Paths {
        \(raw: members.joined(separator: "\n  "))
      }
      """
  }

  private var root: DeclSyntax {
    let members = visible.map { field, access in
      """
      \(access.prefix)var \(field.identifier): \(field.pathType(of: owner)) {
          Paths.\(field.identifier)
        }
      """
    }
    if let hierarchy { return inheritedRoot(hierarchy, members) }
    return """
      \(raw: prefix)nonisolated struct PathRoot: Swift.Sendable {
        \(raw: members.joined(separator: "\n  "))
      }
      """
  }

  /// The paths of the parent are dynamic members of the child's, and start from the child there.
  private func inheritedRoot(_ model: ModelDeclaration, _ members: [String]) -> DeclSyntax {
    let parent = model.parent.map { name in
      [
        "\(prefix)typealias __CDModel = \(owner)", "\(prefix)typealias __CDParent = \(name)",
        "\(prefix)typealias __CDParentPaths = \(name).__CDPaths",
      ]
    }
    let conformance = parent == nil ? "CDModelPaths" : "CDInheritedPaths"
    return """
      \(raw: prefix)nonisolated struct __CDPaths: \(raw: conformance) {
        \(raw: ((parent ?? []) + ["\(prefix)init() {}"] + members).joined(separator: "\n  "))
      }
      """
  }

  private var path: DeclSyntax {
    if let hierarchy {
      return """
        \(raw: hierarchy.parent == nil ? "" : "@_nonoverride ")\(raw: prefix)nonisolated static var path: __CDPaths {
          __CDPaths()
        }
        """
    }
    return """
      \(raw: prefix)nonisolated static var path: PathRoot {
        PathRoot()
      }
      """
  }

  private var visible: [(Field, AccessLevel)] {
    fields.compactMap { field in field.access.map { (field, $0) } }
  }

  private var tables: [DeclSyntax] {
    let own = fields.filter { !$0.isRelationship }
    let relationships = fields.filter(\.isRelationship)
    guard hasProjection else { return table("__cdFieldTable", from: "", fields) }
    if hierarchy != nil {
      return table("__cdRelationshipProjectionTable", from: "", own).suffix(1)
        + table("__cdFieldTable", from: "", relationships).suffix(1)
    }
    return table("__cdRelationshipProjectionTable", from: "", own)
      + table("__cdFieldTable", from: "__cdRelationshipProjectionTable", relationships)
  }

  private func table(_ name: String, from start: String, _ fields: [Field]) -> [DeclSyntax] {
    let maker = "__cdMake" + name.dropFirst("__cd".count)
    let statements = fields.map { "table.\($0.tableEntry)" }
    let body =
      statements.isEmpty
      ? ["return CDFieldTableBuilder(\(start)).entries"]
      : ["var table = CDFieldTableBuilder(\(start))"] + statements + ["return table.entries"]
    return [
      """
      \(raw: prefix)nonisolated static let \(raw: name): [Swift.String: CDFieldMeta] = \(raw: maker)()
      """,
      """
      private nonisolated static func \(raw: maker)() -> [Swift.String: CDFieldMeta] {
        \(raw: body.joined(separator: "\n  "))
      }
      """,
    ]
  }
}

extension PathMembers {
  init(_ model: ModelDeclaration) {
    owner = model.name
    access = model.access
    hasProjection = true
    hierarchy = model.isInHierarchy ? model : nil
    fields = model.properties.map { Field($0, in: model) }
  }
}

extension PathMembers {
  init(_ composition: CompositionDeclaration) {
    owner = composition.name
    access = composition.access
    hasProjection = false
    fields = composition.fields.map { field in
      let isPrivate = field.declaration.modifiers.contains {
        $0.name.tokenKind == .keyword(.private) && $0.detail == nil
      }
      return Field(
        identifier: field.identifier, name: field.name, persistentName: field.persistentName,
        type: field.shape.spelling, storageMethod: "default", kind: .attribute,
        access: isPrivate ? nil : composition.access.limited(to: field.declaration))
    }
  }
}

extension PathMembers.Field {
  init(_ property: ModelProperty, in model: ModelDeclaration) {
    identifier = property.identifier
    name = property.name
    persistentName = property.persistentName
    type = property.shape.spelling
    storageMethod = property.storageMethod
    isStored = !property.isTransient
    switch property.kind {
    case .attribute where property.storageMethod == "composition":
      kind = .composition(type: property.shape.wrapped.trimmedDescription)
    case .attribute: kind = .attribute
    case .toOne(_, let target): kind = .toOne(target: target)
    case .toManySet(_, let target), .toManyArray(_, let target): kind = .toMany(target: target)
    }
    // A private property's type may be private too, and the paths stand in a type of their own, which does
    // not see as far as the property.
    let isPrivate = property.declaration.modifiers.contains {
      $0.name.tokenKind == .keyword(.private) && $0.detail == nil
    }
    access = isPrivate ? nil : model.access.limited(to: property.declaration)
  }

  fileprivate var isRelationship: Bool {
    switch kind {
    case .attribute, .composition: false
    case .toOne, .toMany: true
    }
  }

  fileprivate func pathType(of owner: String) -> String {
    switch kind {
    case .attribute: "CDPath<\(owner), \(type)>"
    case .composition(let composition): "CDCompositionPath<\(owner), \(type), \(composition)>"
    case .toOne(let target): "CDToOneRelationPath<\(owner), \(target)>"
    case .toMany(let target): "CDToManyRelationPath<\(owner), \(target)>"
    }
  }

  fileprivate func path(of owner: String) -> String {
    let names = "swiftPath: [\(name.quoted)], persistentPath: [\(persistentName.quoted)]"
    switch kind {
    case .attribute:
      return "\(pathType(of: owner))(\(names), storageMethod: .\(storageMethod))"
    case .composition:
      return "\(pathType(of: owner))(root: CDPath(\(names), storageMethod: .composition))"
    case .toOne, .toMany:
      return "\(pathType(of: owner))(\(names))"
    }
  }

  fileprivate var tableEntry: String {
    let names = "\(name.quoted), \(persistentName.quoted)"
    switch kind {
    case .attribute:
      let storage = storageMethod == "default" ? "" : ", .\(storageMethod)"
      return "attribute(\(names)\(storage)\(isStored ? "" : ", isStored: false"))"
    case .composition(let type): return "composition(\(names), \(type).self)"
    case .toOne(let target): return "toOne(\(names), \(target).self)"
    case .toMany(let target): return "toMany(\(names), \(target).self)"
    }
  }
}

extension TypeShape {
  /// The declared type in a form that may be a generic argument.
  var spelling: String {
    let spelled = wrapped.trimmedDescription
    guard isOptional else { return spelled }
    return spelled.contains(" ") ? "(\(spelled))?" : "\(spelled)?"
  }
}

extension ModelProperty {
  /// The case of `StorageMethod` that the attribute is stored by.
  var storageMethod: String {
    guard case .attribute(_, let storage) = kind else { return "default" }
    return switch storage {
    case is RawStorage: "raw"
    case let decoded as DecodedStorage: decoded.name.lowercased()
    default: "default"
    }
  }
}
