/// A value that is decoded from what is stored: always optional, as decoding may fail.
struct DecodedStorage: AttributeStorage {
  /// `Codable`, `Transformed` or `Composition`: how the accessors are called.
  let name: String
  let asserts: Bool
  let schema: String

  private var assertion: String { asserts ? ", asserts: true" : "" }

  func getter(ordinal: String) -> String { "_cd\(name)(\(ordinal)\(assertion))" }

  func setter(ordinal: String) -> String { "_cdSet\(name)(\(ordinal), newValue\(setterAssertion))" }

  func getter(key: String) -> String { "_cd\(name)(forKey: \(key.quoted)\(assertion))" }

  func setter(key: String) -> String { "_cdSet\(name)(forKey: \(key.quoted), newValue\(setterAssertion))" }

  // Only encoding can fail when a value is set.
  private var setterAssertion: String { name == "Codable" ? assertion : "" }
}
