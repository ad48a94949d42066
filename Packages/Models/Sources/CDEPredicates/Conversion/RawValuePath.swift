/// Key paths that lead from an enumeration to its raw value.
@_spi(CDE) public enum RawValuePath {
  /// Whether a key path leads from an enumeration without associated values to its raw value.
  ///
  /// A key path to a requirement of a protocol never equals one to the property of the type that fulfils it, so the values of all
  /// cases are compared.
  public static func leads(_ path: AnyKeyPath) -> Bool {
    let root = type(of: path).rootType
    guard let type = root as? any RawRepresentable.Type, let cases = TypeFields.cases(of: root),
      cases.allSatisfy({ !$0.hasPayload })
    else { return false }
    func agrees<T: RawRepresentable>(_ type: T.Type) -> Bool {
      guard let path = path as? KeyPath<T, T.RawValue> else { return false }
      return cases.indices.allSatisfy { tag in
        let value = TypeFields.value(of: type, tag: tag)
        return isEqual(value[keyPath: path], value.rawValue)
      }
    }
    return agrees(type)
  }

  private static func isEqual<T>(_ one: T, _ other: T) -> Bool {
    guard let one = one as? any Equatable else { return false }
    func compare<E: Equatable>(_ one: E) -> Bool { one == other as? E }
    return compare(one)
  }
}
