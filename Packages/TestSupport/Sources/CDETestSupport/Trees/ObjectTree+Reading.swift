public import CDEModelRuntime
internal import Foundation

extension ObjectTree {
  /// Reads an object, and related ones, into a tree.
  ///
  /// ```swift
  /// let tree = try ObjectTree(reading: customer, "email", "orders.number")
  /// #expect(tree == ObjectTree("Customer", nil, ["email": "ann@example.org", "orders": [["number": 1]]]))
  /// ```
  ///
  /// The members of an unordered relationship are in the order of what is read of them. On the isolation of the
  /// object's context.
  ///
  /// - Parameters:
  ///   - object: Where reading begins.
  ///   - paths: What to read, by the model's names: attributes, and behind relationships, joined by dots, those
  ///     of related objects.
  /// - Throws: ``TestSupportError`` with code `.unknownProperty` for a path that leads nowhere, or that ends at a
  ///   relationship.
  public init(reading object: NSManagedObject, _ paths: String...) throws {
    var request = TreeReader.Request()
    for path in paths { request.add(path.split(separator: ".").map(String.init)[...]) }
    let name = object.entity.name
    self = try TreeReader.tree(of: object, request, place: name ?? "")
    entity = name
  }

  /// Reads of an object just what a tree says, to compare the two.
  ///
  /// ```swift
  /// #expect(try ObjectTree(reading: customer, like: expected) == expected)
  /// ```
  ///
  /// Values that mean the same are read in the form that the tree has them in, and the members of an unordered
  /// relationship in its order, as far as they are the same; so the two trees differ where the objects do. A name
  /// stands for the object that the tree gives it to, wherever that was met first. On the isolation of the
  /// object's context.
  ///
  /// - Throws: ``TestSupportError`` with code `.unknownProperty` for a property that the object does not have.
  public init(reading object: NSManagedObject, like expected: ObjectTree) throws {
    var reader = TreeReader()
    let label = expected.name.map { " \"\($0)\"" } ?? ""
    self = try reader.tree(of: object, like: expected, place: (object.entity.name ?? "") + label)
  }
}
