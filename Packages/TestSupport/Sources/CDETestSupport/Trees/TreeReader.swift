internal import CDEManagedModel
internal import CDEModelRuntime
internal import Foundation

/// Reads objects into trees, on the isolation of their context.
struct TreeReader {
  /// What to read of an object and those related to it.
  struct Request {
    var attributes: [String] = []
    var related: [String: Request] = [:]

    mutating func add(_ names: ArraySlice<String>) {
      guard let first = names.first else { return }
      if names.count == 1 {
        attributes.append(first)
      } else {
        related[first, default: Request()].add(names.dropFirst())
      }
    }
  }

  /// The objects that names have turned out to stand for.
  private var named: [String: NSManagedObjectID] = [:]

  /// Entity and key, such as `Item/p1`.
  static func label(_ object: NSManagedObject) -> String {
    object.objectID.uriRepresentation().pathComponents.filter { $0 != "/" }.joined(separator: "/")
  }

  /// The objects of a to-many relationship, those of an unordered one by their keys.
  static func members(_ object: NSManagedObject, _ relationship: NSRelationshipDescription)
    -> [NSManagedObject]
  {
    switch object.value(forKey: relationship.name) {
    case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
    case let set as NSSet:
      set.allObjects.compactMap { $0 as? NSManagedObject }
        .sorted { label($0).compare(label($1), options: .numeric) == .orderedAscending }
    default: []
    }
  }

  // MARK: By paths

  static func tree(of object: NSManagedObject, _ request: Request, place: String) throws -> ObjectTree {
    var tree = ObjectTree(nil)
    for key in request.attributes {
      guard let attribute = object.entity.attributesByName[key] else {
        throw unknown(
          key, of: object, place, "Attributes are: \(object.entity.attributesByName.keys.sorted())")
      }
      tree.values[key] = TreeValue(object.value(forKey: key), of: attribute)
    }
    for (key, inner) in request.related {
      guard let relationship = object.entity.relationshipsByName[key] else {
        throw unknown(
          key, of: object, place, "Relationships are: \(object.entity.relationshipsByName.keys.sorted())")
      }
      let place = "\(place).\(key)"
      if relationship.isToMany {
        var members = try members(object, relationship).map { try self.tree(of: $0, inner, place: place) }
        if !relationship.isOrdered {
          members.sort {
            $0.description.compare($1.description, options: .numeric) == .orderedAscending
          }
        }
        tree.values[key] = .list(members.map(TreeValue.object))
      } else if let target = object.value(forKey: key) as? NSManagedObject {
        tree.values[key] = .object(try self.tree(of: target, inner, place: place))
      } else {
        tree.values[key] = .null
      }
    }
    return tree
  }

  private static func unknown(
    _ key: String, of object: NSManagedObject, _ place: String, _ known: String
  ) -> TestSupportError {
    TestSupportError(
      .unknownProperty, "\(place).\(key): there is no such property to read there. \(known).",
      place: "\(place).\(key)")
  }

  // MARK: Like another tree

  mutating func tree(
    of object: NSManagedObject, like expected: ObjectTree, place: String
  ) throws -> ObjectTree {
    var tree = ObjectTree(expected.entity == nil ? nil : object.entity.name)
    if let name = expected.name, stands(name, for: object) { tree.name = name }
    for (key, value) in expected.values.sorted(by: { $0.key < $1.key }) {
      let place = "\(place).\(key)"
      switch object.entity.propertiesByName[key] {
      case let attribute as NSAttributeDescription:
        tree.values[key] = Self.value(object.value(forKey: key), of: attribute, like: value)
      case let relationship as NSRelationshipDescription where relationship.isToMany:
        tree.values[key] = try members(of: object, relationship, like: value, place)
      case is NSRelationshipDescription:
        tree.values[key] = try related(object.value(forKey: key) as? NSManagedObject, like: value, place)
      default:
        throw TestSupportError(
          .unknownProperty,
          "\(place): \(object.entity.name ?? "") has no property \"\(key)\". It has: "
            + object.entity.propertiesByName.keys.sorted().joined(separator: ", ") + ".", place: place)
      }
    }
    return tree
  }

  /// Whether the name is the object's, which it is for the first object that it is asked of.
  private mutating func stands(_ name: String, for object: NSManagedObject) -> Bool {
    if let id = named[name] { return id == object.objectID }
    named[name] = object.objectID
    return true
  }

  /// An attribute's value, in the form that the tree has it in if that means the same.
  private static func value(
    _ value: Any?, of attribute: NSAttributeDescription, like expected: TreeValue
  ) -> TreeValue {
    let actual = TreeValue(value, of: attribute)
    guard let meant = try? expected.value(for: attribute, at: "") else { return actual }
    return TreeValue(meant, of: attribute) == actual ? expected : actual
  }

  private mutating func related(
    _ object: NSManagedObject?, like expected: TreeValue, _ place: String
  ) throws -> TreeValue {
    guard let object else { return .null }
    switch expected {
    case .constant(.string(let name)) where stands(name, for: object): return expected
    case .object(let tree): return .object(try self.tree(of: object, like: tree, place: place))
    default: return .text(Self.label(object))
    }
  }

  /// The places of the wanted values: first those that identify an object best, last the names that any
  /// object may still have.
  private func mostTelling(_ wanted: [TreeValue]) -> [Int] {
    func rank(_ value: TreeValue) -> Int {
      guard case .constant(.string(let name)) = value else { return 1 }
      return named[name] == nil ? 2 : 0
    }
    return wanted.indices.sorted { (rank(wanted[$0]), $0) < (rank(wanted[$1]), $1) }
  }

  private mutating func members(
    of object: NSManagedObject, _ relationship: NSRelationshipDescription, like expected: TreeValue,
    _ place: String
  ) throws -> TreeValue {
    guard case .list(let wanted) = expected else {
      let labels = Self.members(object, relationship).map { TreeValue.text(Self.label($0)) }
      return labels.isEmpty && expected == .null ? .null : .list(labels)
    }
    var left = Self.members(object, relationship)
    var found: [TreeValue?] = wanted.map { _ in nil }
    if !relationship.isOrdered {
      for index in mostTelling(wanted) {
        let value = wanted[index]
        for (position, member) in left.enumerated() {
          // A name that this would give away is only given when the member is the one.
          var trial = self
          guard let read = try? trial.related(member, like: value, place), read == value else { continue }
          self = trial
          found[index] = read
          left.remove(at: position)
          break
        }
      }
    }
    // What is not as it should be stands where the closest thing was asked for, or at the end.
    for index in wanted.indices where found[index] == nil && !left.isEmpty {
      found[index] = try related(left.removeFirst(), like: wanted[index], "\(place)[\(index)]")
    }
    return .list(found.compactMap { $0 } + left.map { .text(Self.label($0)) })
  }
}
