/// The statements of a function that compares a key path with those of a model's own properties.
struct PredicateKeyTests {
  let model: ModelDeclaration
  /// The type that the key paths start from: the class, or a parameter for the classes that inherit from it.
  let root: String

  var statements: [String] {
    // One function with one type, so that each key path is checked by itself and at once.
    [
      """
      func matches(_ candidate: Swift.PartialKeyPath<\(root)>) -> Swift.Bool {
          keyPath == candidate
        }
      """
    ] + model.properties.flatMap(tests)
  }

  private func tests(of property: ModelProperty) -> [String] {
    let path = model.deprecatedPaths.path(to: property.identifier, from: root)
    var tests = [
      """
      if matches(\(path ?? "\\.\(property.identifier)")) {
          return \(property.persistentName.quoted)
        }
      """
    ]
    if property.isAttribute, property.storageMethod == "composition" {
      let type = property.shape.wrapped.trimmedDescription
      tests.append(
        """
        if let field = \(type).__cdPredicateKey(for: keyPath, after: \(path ?? "\\\(root).\(property.identifier)")) {
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
    return tests
  }
}
