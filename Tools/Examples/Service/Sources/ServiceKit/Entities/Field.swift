import CoreDataEvolution

/// One field of a resource: how it is called outside, what it holds, and what requests may do with it.
struct Field<Entity: NSManagedObject>: Sendable {
  enum Kind: Sendable {
    case text
    case integer
    case flag
    /// The unique name of a related object.
    case reference
    /// The unique names of several related objects.
    case references
  }

  typealias Setter = @Sendable (Entity, FieldValue, NSManagedObjectContext) throws -> Void

  let name: String
  let kind: Kind
  /// The key path in conditions; nil for a field that can't be asked for.
  var path: String?
  var isSortable = false
  /// Whether a new object needs the field.
  var isRequired = false
  /// Whether the field is only shown with a single object, because each object needs further rows.
  var isDetail = false
  let get: @Sendable (Entity) -> FieldValue
  /// Nil for a field that can't be set.
  var set: Setter?
}

extension Field {
  /// - Parameter isSettable: false for a text that follows other fields.
  static func text(
    _ path: any KeyPath<Entity, String> & Sendable, _ name: String, isRequired: Bool = false,
    isSettable: Bool = true
  ) -> Field {
    var field = Field(
      name: name, kind: .text, path: name, isSortable: true, isRequired: isRequired,
      get: { .text($0[keyPath: path]) })
    if isSettable {
      field.set = setter(name) { value in
        guard case .text(let text) = value else { throw WrongValue(expected: "a text") }
        return text
      }
    }
    return field
  }

  /// A text that the addresses of objects are made of. Each new object needs it.
  ///
  /// - Parameter allowsBlanks: whether it may have blanks, which divide the parts of a version's key.
  static func key(
    _ path: any KeyPath<Entity, String> & Sendable, _ name: String, allowsBlanks: Bool = false
  ) -> Field {
    var field = text(path, name, isRequired: true)
    field.set = setter(name) { value in
      // Clients drop a step of an address that is one point or two.
      guard case .text(let text) = value, (1...200).contains(text.unicodeScalars.count), text != ".",
        text != "..",
        !text.unicodeScalars.contains(where: { scalar in
          scalar.value == 0 || (!allowsBlanks && scalar.properties.isWhitespace)
        })
      else {
        throw WrongValue(
          expected:
            "a text of 1 to 200 characters without \(allowsBlanks ? "zero bytes" : "blanks"), other than . and .."
        )
      }
      return text
    }
    return field
  }

  static func integer(_ path: any KeyPath<Entity, Int> & Sendable, _ name: String) -> Field {
    Field(
      name: name, kind: .integer, path: name, isSortable: true, get: { .integer($0[keyPath: path]) },
      set: setter(name) { value in
        guard case .integer(let number) = value else { throw WrongValue(expected: "a whole number") }
        return number
      })
  }

  static func flag(_ path: any KeyPath<Entity, Bool> & Sendable, _ name: String) -> Field {
    Field(
      name: name, kind: .flag, path: name, get: { .flag($0[keyPath: path]) },
      set: setter(name) { value in
        guard case .flag(let flag) = value else { throw WrongValue(expected: "true or false") }
        return flag
      })
  }

  /// Sets by key: an assignment through a key path reads the old value first, which costs more and tells nothing.
  private static func setter(
    _ name: String, _ value: @escaping @Sendable (FieldValue) throws -> Any
  ) -> Setter {
    { object, new, _ in object.setValue(try value(new), forKey: name) }
  }

  /// A relationship to one object, shown and set by that object's unique name.
  ///
  /// - Parameter get: the object. A closure, because a key path to it is made anew and followed step by step for each object.
  static func reference<Target: Resource>(
    _ name: String, isRequired: Bool = false, _ get: @escaping @Sendable (Entity) -> Target?
  ) -> Field {
    Field(
      name: name, kind: .reference, path: "\(name).\(Target.keyName)", isRequired: isRequired,
      get: { object in get(object).map { .text($0.resourceKey) } ?? .null },
      set: { object, value, context in
        switch value {
        case .null where !isRequired: object.setValue(nil, forKey: name)
        case .text(let key): object.setValue(try Target.find([key], in: context)[0], forKey: name)
        default: throw WrongValue(expected: isRequired ? "a name" : "a name or null")
        }
      })
  }

  /// A relationship to many objects, shown and set by their unique names. Setting it replaces all.
  ///
  /// - Parameters:
  ///   - change: adds and removes members.
  ///   - get: the members.
  static func references<Target: Resource>(
    _ name: String, _ get: @escaping @Sendable (Entity) -> Set<Target>,
    change: @escaping @Sendable (Entity, _ added: Set<Target>, _ removed: Set<Target>) -> Void
  ) -> Field {
    var field = members(name, get)
    field.path = "\(name).\(Target.keyName)"
    field.set = { object, value, context in
      guard case .texts(let keys) = value else { throw WrongValue(expected: "a list of names") }
      let (old, new) = (get(object), Set(try Target.find(keys, in: context)))
      if old != new { change(object, new.subtracting(old), old.subtracting(new)) }
    }
    return field
  }

  /// The same, only to be read.
  static func members<Target: Resource>(
    _ name: String, _ get: @escaping @Sendable (Entity) -> Set<Target>
  ) -> Field {
    Field(
      name: name, kind: .references, isDetail: true,
      get: { .texts(get($0).map(\.resourceKey).sorted()) })
  }
}

/// A value of another type than the field's.
struct WrongValue: Error {
  var expected: String
}

/// A name that no object has.
struct UnknownName: Error {
  var entity: String
  var name: String
}
