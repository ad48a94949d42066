internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import Foundation

/// Key paths that go on behind a value: over objects, dictionaries, and collections with their operators.
enum CollectedValues {
  /// The value at the end of a path. A collection gives the collection of its members' values; `@count`, `@sum`, `@avg`,
  /// `@min` and `@max` give one value; `@distinctUnionOfObjects` and `@unionOfObjects` an array. `@unionOfArrays`,
  /// `@distinctUnionOfArrays` and `@distinctUnionOfSets` give the members of collections.
  static func value(of value: Any?, along path: String) -> Any? {
    switch value {
    case let object as NSManagedObject: return object.value(forKeyPath: path)
    case let elements as [String: Any]:
      let (key, rest) = split(path)
      return rest.map { Self.value(of: elements[key], along: $0) } ?? elements[key]
    case let set as NSSet: return collected(set.allObjects, path) { NSSet(array: $0.map(hashable)) }
    case let set as NSOrderedSet:
      return collected(set.array, path) { NSOrderedSet(array: distinct($0).map(hashable)) }
    case let array as [Any]: return collected(array, path) { $0 }
    case let entity as NSEntityDescription: return self.value(of: entity, along: path)
    case let text as String: return path == "length" ? NSNumber(value: text.utf16.count) : nil
    default: return nil
    }
  }

  private static func value(of entity: NSEntityDescription, along path: String) -> Any? {
    switch path {
    case "name": entity.name
    case "managedObjectClassName": entity.managedObjectClassName
    default: nil
    }
  }

  /// The first key of a path, and the path behind it; nil if there is none.
  static func split(_ path: String) -> (key: String, rest: String?) {
    guard let point = path.firstIndex(of: ".") else { return (path, nil) }
    return (String(path[..<point]), String(path[path.index(after: point)...]))
  }

  private static func collected(_ members: [Any], _ path: String, _ make: ([Any]) -> Any) -> Any? {
    let (key, rest) = split(path)
    guard key.hasPrefix("@") else { return make(values(of: members, path)) }
    if key == "@count" { return NSNumber(value: members.count) }
    guard let rest else { return nil }
    let values = values(of: members, rest)
    switch key {
    case "@sum": return sum(values)
    case "@avg":
      // A member without a value counts as zero, as in Foundation.
      return members.isEmpty
        ? NSNumber(value: 0) : NSNumber(value: sum(values).doubleValue / Double(members.count))
    case "@min": return ordered(values).first
    case "@max": return ordered(values).last
    case "@unionOfObjects": return values
    case "@distinctUnionOfObjects": return distinct(values)
    case "@unionOfArrays", "@unionOfSets": return values.flatMap { elements(of: $0) }
    case "@distinctUnionOfArrays": return distinct(values.flatMap { elements(of: $0) })
    case "@distinctUnionOfSets": return NSSet(array: values.flatMap { elements(of: $0).map(hashable) })
    default: return nil
    }
  }

  private static func sum(_ values: [Any]) -> NSNumber {
    let numbers = values.compactMap { $0 as? NSNumber }
    if numbers.contains(where: { $0 is NSDecimalNumber }) {
      return NSDecimalNumber(decimal: numbers.reduce(0) { $0 + $1.decimalValue })
    }
    return NSNumber(value: numbers.reduce(0) { $0 + $1.doubleValue })
  }

  /// The values without repetitions, each where it came first.
  private static func distinct(_ values: [Any]) -> [Any] {
    var seen: Set<AnyHashable> = []
    return values.filter { value in (hashable(value) as? AnyHashable).map { seen.insert($0).inserted } ?? true
    }
  }

  /// The elements of a composite with another value at the end of a path. A composite on the way that is nil gets that element only.
  static func setting(_ value: Any?, in elements: [String: Any], along path: String) -> [String: Any] {
    let (key, rest) = split(path)
    var elements = elements
    elements[key] =
      rest.map { setting(value, in: elements[key] as? [String: Any] ?? [:], along: $0) } ?? value
    return elements
  }

  /// The members of a collection; a value that is none is its only member.
  static func elements(of value: Any?) -> [Any] {
    switch value {
    case nil: []
    case let set as NSSet: set.allObjects
    case let set as NSOrderedSet: set.array
    case let array as [Any]: array
    case let value?: [value]
    }
  }

  private static func values(of members: [Any], _ path: String) -> [Any] {
    if path == "self" { return members }
    return members.compactMap { value(of: $0, along: path) }
  }

  /// A value that may be a member of a set: the hash of Foundation's decimals overflows the stack.
  private static func hashable(_ value: Any) -> Any {
    guard let number = value as? NSDecimalNumber, !(number is HashedDecimal) else { return value }
    return HashedDecimal(decimal: number.decimalValue)
  }

  /// Values of one kind in their order; values of other kinds are left out.
  private static func ordered(_ values: [Any]) -> [Any] {
    if let numbers = values as? [NSNumber] { return numbers.sorted { $0.compare($1) == .orderedAscending } }
    if let dates = values as? [Date] { return dates.sorted() }
    if let texts = values as? [String] { return texts.sorted() }
    return []
  }
}
