@_spi(CDE) internal import CDEPredicates
@_spi(Reflection) internal import Swift

/// The names of the attributes and elements that key paths lead to.
enum ValuePaths {
  /// The path of names for a key path from a model: `title`, or `address.city` for a part of a struct.
  ///
  /// - Parameter entries: the properties of the model and of the classes above it.
  static func name(of path: AnyKeyPath, among entries: [Schema.PropertyMetadata]) -> String? {
    let properties = entries.filter { !$0.name.isEmpty }
    if let entry = properties.first(where: { $0.keypath == path }) { return entry.name }
    for entry in properties where !(entry.valueType is any OptionalValue.Type) {
      guard let shape = ValueShape.of(entry.valueType), case .composite = shape else { continue }
      if let rest = name(of: path, after: entry.keypath, to: entry.valueType, shape) {
        return "\(entry.name).\(rest)"
      }
    }
    return nil
  }

  /// The same for predicates and orders, which compare an enumeration by its raw value.
  static func key(of path: AnyKeyPath, among entries: [Schema.PropertyMetadata]) -> String? {
    name(of: path, among: entries).map { name in
      guard name.contains("."), case .rawEnumeration = ValueShape.element(type(of: path).valueType) else {
        return name
      }
      return "\(name).\(name.split(separator: ".").last ?? "")"
    }
  }

  /// The key of a part of a struct for predicates, such as `city` for `\Address.city`; empty for the raw value of an enumeration,
  /// by which predicates compare it anyway.
  static func elementKey(of path: AnyKeyPath) -> String? {
    if case .rawEnumeration = ValueShape.element(type(of: path).rootType), RawValuePath.leads(path) {
      return ""
    }
    return elementName(of: path).map { name in
      ValueShape.element(type(of: path).valueType)?.rawValuePath(name: name) ?? name
    }
  }

  /// The name of the element that a key path from a struct leads to, such as `\Address.city`; nil for computed properties, and for
  /// properties that are encoded under another name.
  static func elementName(of path: AnyKeyPath) -> String? {
    let root = type(of: path).rootType
    guard case .composite(let elements) = ValueShape.element(root) else { return nil }
    return fields(of: root).first { $0.path == path && elements.map(\.name).contains($0.name) }?.name
  }

  private static func name(
    of path: AnyKeyPath, after base: AnyKeyPath, to type: any Any.Type, _ shape: ValueShape
  ) -> String? {
    guard case .composite(let elements) = shape else { return nil }
    for field in fields(of: type) {
      guard let element = elements.first(where: { $0.name == field.name }),
        let whole = base.appending(path: field.path)
      else { continue }
      if whole == path { return field.name }
      let inner = Swift.type(of: field.path).valueType
      if let rest = name(of: path, after: whole, to: inner, element.shape) { return "\(field.name).\(rest)" }
    }
    return nil
  }

  /// The standard library's own constant of this name is a variable, which Swift 6 does not let code read.
  private static let ignoreUnknown = _EachFieldOptions(rawValue: 1 << 1)

  private static func fields(of type: any Any.Type) -> [(name: String, path: AnyKeyPath)] {
    func paths<T>(_ type: T.Type) -> [(name: String, path: AnyKeyPath)] {
      var result: [(name: String, path: AnyKeyPath)] = []
      _ = _forEachFieldWithKeyPath(of: type, options: ignoreUnknown) { name, path in
        result.append((String(cString: name), path))
        return true
      }
      return result
    }
    return _openExistential(type, do: paths)
  }
}
