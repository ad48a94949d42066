import SwiftSyntax
import SwiftSyntaxMacros

/// Where a property's accessors are generated: the class around it and what that class asks for.
struct AccessorSite {
  let className: String
  let isModel: Bool
  let isObserved: Bool
  /// Whether the class gets no members, so that accessors have nothing to call.
  let isRefused: Bool

  /// Nil when the property does not stand directly in a class.
  init?(_ context: some MacroExpansionContext) {
    guard let type = context.lexicalContext.first?.as(ClassDeclSyntax.self) else { return nil }
    className = type.name.text
    let marker = type.attributes.first(named: "PersistentModel")
    isModel = marker != nil
    isRefused = isModel && type.modelRefusal != nil
    isObserved =
      marker?.argument("observation")?.caseName(of: "PersistentModelObservationMode") == "mainActor"
  }
}

extension ModelProperty {
  func ordinal(in className: String) -> String { "\(className).__CDOrdinal.\(identifier)" }

  /// The getter, and the setter where there is one.
  func accessors(at site: AccessorSite) -> [AccessorDeclSyntax] {
    if site.isRefused { return PropertyMarker.refusedAccessors }
    guard site.isModel else { return keyValueAccessors }
    let ordinal = self.ordinal(in: site.className)
    let value: String
    var setter: String?
    var refusal: String?
    switch kind {
    case .attribute(_, let storage):
      value = storage.getter(ordinal: ordinal)
      setter = storage.setter(ordinal: ordinal)
    case .toOne:
      value = "_cdToOne(\(ordinal))"
      setter = "_cdSetToOne(\(ordinal), newValue)"
    case .toManySet:
      value = "_cdToManySet(\(ordinal))"
      refusal = changedByHelpers
    case .toManyArray:
      value = "_cdToManyArray(\(ordinal))"
      refusal = changedByHelpers
    }
    let getter = Self.getterBody(value, observing: site.isObserved ? "\(site.className).\(identifier)" : nil)
    let hint = isolationHint.map { "  // \($0)" } ?? ""
    return Self.accessors(get: getter + hint, set: setter, refusal: refusal)
  }

  /// Why a to-many relationship has a setter that cannot be called: it says how the objects are changed.
  private var changedByHelpers: String {
    let helpers = name.withUppercasedFirstLetter
    return
      "to-many relationships are changed by addTo\(helpers)(_:) and removeFrom\(helpers)(_:), which keep "
      + "the other side right"
  }

  /// Stands where the compiler points when a type's conformance is the main actor's.
  private var isolationHint: String? {
    guard case .attribute(_, let storage) = kind, (storage as? DecodedStorage)?.name == "Codable" else {
      return nil
    }
    return
      "\(shape.wrapped.trimmedDescription) is decoded on any isolation. In a module that defaults to the "
      + "main actor, declare it `nonisolated`."
  }

  /// The statements of a getter; an observed one records the access before it reads.
  static func getterBody(_ value: String, observing path: String?) -> String {
    guard let path else { return value }
    return "__cdAccess(\\\(path))\n  return \(value)"
  }

  /// Outside a model class there are no ordinals, so the property goes by its key.
  private var keyValueAccessors: [AccessorDeclSyntax] {
    guard case .attribute(_, let storage) = kind else { return [] }
    return Self.accessors(
      get: storage.getter(key: persistentName), set: storage.setter(key: persistentName))
  }

  private static func accessors(
    get: String, set: String?, refusal: String? = nil
  ) -> [AccessorDeclSyntax] {
    let getter: AccessorDeclSyntax = "get {\n  \(raw: get)\n}"
    if let refusal {
      // A writable key path gets here all the same.
      return [
        getter,
        """
        @available(*, unavailable, message: \(raw: refusal.quoted))
        set {
          Swift.fatalError(\(raw: refusal.quoted))
        }
        """,
      ]
    }
    guard let set else { return [getter] }
    return [getter, "set {\n  \(raw: set)\n}"]
  }
}
