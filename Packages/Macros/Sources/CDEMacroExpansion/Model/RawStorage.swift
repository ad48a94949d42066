/// An enumeration (or another raw representable type) stored by its raw value.
struct RawStorage: AttributeStorage {
  let type: String
  let isOptional: Bool
  /// Source text of the declared default; nil for none.
  let defaultExpression: String?
  let asserts: Bool

  func getter(ordinal: String) -> String { read(ordinal) }

  func setter(ordinal: String) -> String { "_cdSetValue(\(ordinal), \(rawValue))" }

  func getter(key: String) -> String { read("forKey: \(key.quoted)") }

  func setter(key: String) -> String { "setValue(\(rawValue), forKey: \(key.quoted))" }

  private var rawValue: String { isOptional ? "newValue?.rawValue" : "newValue.rawValue" }

  private func read(_ place: String) -> String {
    let assertion = asserts ? ", asserts: true" : ""
    guard isOptional else {
      guard let defaultExpression else { return "_cdRequiredRaw(\(place)\(assertion))" }
      return "_cdRaw(\(place), default: \(defaultExpression)\(assertion))"
    }
    guard let defaultExpression, !asserts else { return "_cdRaw(\(place)\(assertion))" }
    return "_cdRaw(\(place), fallback: \(defaultExpression))"
  }

  // The raw type's name is known to the type checker only.
  var schema: String { ".raw(backingTypeName: Swift.String(describing: \(type).RawValue.self))" }

  var defaultRawValue: String? {
    // Not as an optional unless it is one: `.none` may be a case.
    defaultExpression.map { "CDRuntimeRawValue(\($0) as \(type)\(isOptional ? "?" : ""))" }
  }
}
