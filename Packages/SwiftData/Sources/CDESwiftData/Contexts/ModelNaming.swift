@_spi(CDE) internal import CDEPredicates

/// What predicates over models may name besides the properties of models: parts of structs, cases of enumerations, classes.
struct ModelNaming: PredicateModelNaming {
  func memberKey(for keyPath: AnyKeyPath) -> String? { ValuePaths.elementKey(of: keyPath) }

  func entityNames(of type: any Any.Type) -> [String]? {
    guard let type = type as? any PersistentModel.Type else { return nil }
    return _ModelInfo.names(from: _ModelInfo.known(type))
  }

  func caseName(of value: Any) -> String? {
    guard let value = value as? any Encodable,
      case .enumeration(let cases) = ValueShape.element(Swift.type(of: value)),
      let name = try? EncodingProbe(of: value).caseName
    else { return nil }
    // Associated values are JSON, which no query compares.
    return cases.contains { $0.name == name && !$0.hasPayload } ? name : nil
  }
}
