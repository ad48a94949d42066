/// What a layer of models knows of values and classes that name nothing themselves, for the translation of `#Predicate`.
@_spi(CDE) public protocol PredicateModelNaming {
  /// The key of a part of a value that a model holds, or a path of keys joined by dots; nil if the key path leads to none.
  ///
  /// - Parameter keyPath: A key path whose root is no model, such as `\Address.city`.
  func memberKey(for keyPath: AnyKeyPath) -> String?

  /// The names of the entities of a class and of the classes below it; nil if the type is no class of the model.
  func entityNames(of type: any Any.Type) -> [String]?

  /// The key under which a case of an enumeration is stored, and the stored text; nil for other values.
  func caseName(of value: Any) -> String?
}
