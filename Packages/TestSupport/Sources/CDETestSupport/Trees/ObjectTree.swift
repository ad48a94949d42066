public import CDEModelRuntime

/// One object as a value, with the objects related to it inside: what tests begin with, and what they compare.
///
/// ```swift
/// let shop: [ObjectTree] = [
///   ObjectTree("Customer", "ann", ["email": "ann@example.org", "orders": [["number": 1], "late"]]),
///   ObjectTree("Order", "late", ["number": 2]),
/// ]
/// try shop.make(in: context)
/// ```
///
/// Properties have the names that the model gives them. A related object is written in place, or referred to by
/// its name, from before or behind; that is how several share one, and how objects lead in a circle.
///
/// In JSON, a tree is an object of its properties; `$entity` and `$name` are what they say.
public nonisolated struct ObjectTree: Sendable, Hashable {
  /// The entity's name. Nil for an object inside another, whose relationship tells it.
  public var entity: String?
  /// What other objects refer to this one by.
  public var name: String?
  /// Values and related objects by property; properties that are missing stay as new objects have them.
  public var values: [String: TreeValue]

  /// Makes a tree; see the properties.
  public init(_ entity: String?, _ name: String? = nil, _ values: [String: TreeValue] = [:]) {
    self.entity = entity
    self.name = name
    self.values = values
  }

  /// An object of a class, its properties set by key path.
  ///
  /// ```swift
  /// ObjectTree(Order.self, "late") { $0.set(\.number, 2) }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - name: What other objects refer to this one by.
  ///   - fill: Sets the properties.
  public init<Model: PersistentEntity & CDRuntimeSchemaProviding>(
    _ type: Model.Type, _ name: String? = nil, _ fill: (inout TypedObjectTree<Model>) -> Void = { _ in }
  ) {
    var typed = TypedObjectTree<Model>(tree: ObjectTree(type.__cdRuntimeEntitySchema.entityName, name))
    fill(&typed)
    self = typed.tree
  }
}

/// An object's tree while its properties are set, checked against its class by the compiler.
public nonisolated struct TypedObjectTree<Model: PersistentEntity> {
  fileprivate(set) var tree: ObjectTree

  /// A property by the model's name for it.
  public subscript(property: String) -> TreeValue? {
    get { tree.values[property] }
    set { tree.values[property] = newValue }
  }

  /// Sets an attribute.
  public mutating func set<Value: TreeValueConvertible>(_ path: KeyPath<Model, Value>, _ value: Value) {
    tree.values[key(path)] = value.treeValue
  }

  /// Sets an attribute that is stored by its raw value.
  public mutating func set<Value: RawRepresentable>(_ path: KeyPath<Model, Value>, _ value: Value)
  where Value.RawValue: TreeValueConvertible {
    tree.values[key(path)] = value.rawValue.treeValue
  }

  /// Sets a to-one relationship, to an object or to the name of one.
  public mutating func set<Target: NSManagedObject>(_ path: KeyPath<Model, Target?>, _ value: TreeValue) {
    tree.values[key(path)] = value
  }

  /// Sets a to-many relationship, to objects and names of objects.
  public mutating func set<Target: NSManagedObject>(_ path: KeyPath<Model, Set<Target>>, _ value: [TreeValue])
  {
    tree.values[key(path)] = .list(value)
  }

  /// Sets an ordered to-many relationship, to objects and names of objects.
  public mutating func set<Target: NSManagedObject>(_ path: KeyPath<Model, [Target]>, _ value: [TreeValue]) {
    tree.values[key(path)] = .list(value)
  }

  /// A key path that leads to no stored property keeps its own text, which making the object then reports.
  private func key(_ path: AnyKeyPath) -> String { Model.predicateKey(for: path) ?? "\(path)" }
}

extension ObjectTree: CustomStringConvertible {
  public var description: String {
    let head = [entity, name.map { "\"\($0)\"" }].compactMap { $0 }.joined(separator: " ")
    return (head.isEmpty ? "" : head + " ") + "{" + TreeValue.list(values) + "}"
  }
}

extension ObjectTree: ExpressibleByDictionaryLiteral {
  /// An object inside another, whose relationship tells its entity.
  public init(dictionaryLiteral elements: (String, TreeValue)...) {
    self.init(nil, nil, Dictionary(elements) { _, last in last })
  }
}
