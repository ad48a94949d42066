@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import Foundation

/// The bytes of an archive, with what has been found out about its names.
///
/// A class, so that the fields of objects can refer to it without a copy. One reader uses it, on one thread.
final class ArchiveStorage {
  let index: BinaryPropertyListIndex
  /// The keys of the property list's objects that are names of fields: 0 for objects that nothing is known
  /// about, 1 for those that are no such name, then the key's number and 2.
  private var keys: [UInt8]
  /// The members of collections that may still be listed. Objects may share collections, so a small archive
  /// could stand for a large model.
  private var budget: Int

  /// Long texts and data by object. Without them, objects that refer to one long text would fill the memory
  /// with copies of it.
  private var longLeaves: [Int: PropertyListNode] = [:]

  init(_ index: BinaryPropertyListIndex) {
    self.index = index
    keys = Array(repeating: 0, count: index.count)
    budget = 32 * index.count + 1024
  }

  /// The object of the property list with a number.
  func object(_ number: Int) -> BinaryPropertyListIndex.Object? {
    if !longLeaves.isEmpty, let known = longLeaves[number] { return .leaf(known) }
    let object = index.object(number)
    switch object {
    case .leaf(.string(let text))? where text.utf8.count > 255: longLeaves[number] = .string(text)
    case .leaf(.data(let data))? where data.count > 255: longLeaves[number] = .data(data)
    default: break
    }
    return object
  }

  /// Whether an object of the property list is the name of a field.
  func object(_ object: Int, is key: ArchiveKey) -> Bool {
    guard object >= 0 else { return false }
    if keys[object] == 0 {
      if case .leaf(.string(let name))? = index.object(object), let key = ArchiveKey.named[name] {
        keys[object] = key.rawValue + 2
      } else {
        keys[object] = 1
      }
    }
    return keys[object] == key.rawValue + 2
  }

  /// The references in a list; empty when more has been listed than an archive of this size can need.
  func references(_ members: BinaryPropertyListIndex.Members) -> [Int] {
    budget -= members.count
    guard budget >= 0 else { return [] }
    var result: [Int] = []
    result.reserveCapacity(members.count)
    for position in 0..<members.count {
      if case .leaf(.reference(let number))? = index.object(index.member(position, of: members)) {
        result.append(number)
      }
    }
    return result
  }

  var isExhausted: Bool { budget < 0 }
}

/// The fields of one archived object, each of which is read when it is asked for.
struct ArchiveFields {
  let storage: ArchiveStorage
  fileprivate let keys: BinaryPropertyListIndex.Members
  fileprivate let values: BinaryPropertyListIndex.Members

  /// The number of a field's value in the property list.
  private func object(_ key: ArchiveKey) -> BinaryPropertyListIndex.Object? {
    let index = storage.index
    for position in 0..<keys.count where storage.object(index.member(position, of: keys), is: key) {
      return storage.object(index.member(position, of: values))
    }
    return nil
  }

  /// A field that is a plain value or a reference; `nil` for none, and for a list.
  subscript(key: ArchiveKey) -> PropertyListNode? {
    if case .leaf(let node)? = object(key) { node } else { nil }
  }

  /// The references in a field that is a list; `nil` for another field.
  func list(_ key: ArchiveKey) -> [Int]? {
    if case .array(let members)? = object(key) { storage.references(members) } else { nil }
  }

  /// The texts in a field that is a list; others are left out.
  func texts(_ key: ArchiveKey) -> [String] {
    guard case .array(let members)? = object(key), members.count <= 64 else { return [] }
    return (0..<members.count).compactMap { position in
      if case .leaf(.string(let text))? = storage.object(storage.index.member(position, of: members)) {
        text
      } else {
        nil
      }
    }
  }

  /// The references in all fields that are no lists, in the order of the file.
  func references() -> [Int] { storage.references(values) }
}

/// The objects of a keyed archive, which refer to each other by number.
struct ModelArchive {
  typealias Fields = ArchiveFields

  let file: String
  let root: Int
  private let storage: ArchiveStorage
  private let objects: BinaryPropertyListIndex.Members

  init(_ data: Data, file: String) throws(ModelFileError) {
    self.file = file
    guard data.starts(with: Data("bplist".utf8)) else {
      throw ModelFileError(
        .unsupportedFormat, "The file is no compiled model: it is not a binary property list.", file: file)
    }
    guard let index = BinaryPropertyListIndex(data) else {
      throw ModelFileError(.damaged, "The file is damaged. Compile the model again.", file: file)
    }
    let storage = ArchiveStorage(index)
    func member(_ key: ArchiveKey, _ object: BinaryPropertyListIndex.Object?) -> BinaryPropertyListIndex
      .Object?
    {
      guard case .dictionary(let keys, let values)? = object else { return nil }
      let found = (0..<keys.count).first { storage.object(index.member($0, of: keys), is: key) }
      return found.flatMap { index.object(index.member($0, of: values)) }
    }
    let list = index.object(index.top)
    guard case .array(let objects)? = member(.archiveObjects, list),
      case .leaf(.reference(let root))? = member(.root, member(.archiveTop, list))
    else {
      throw ModelFileError(.unsupportedFormat, "The file is no archive of a model.", file: file)
    }
    self.storage = storage
    self.objects = objects
    self.root = root
  }

  func damaged(_ what: String) -> ModelFileError {
    ModelFileError(.damaged, "The archive is damaged: \(what). Compile the model again.", file: file)
  }

  /// The number of objects.
  var count: Int { objects.count }

  /// Whether more was asked for than an archive of this size can need. Lists are then incomplete.
  var isExhausted: Bool { storage.isExhausted }

  // MARK: Objects

  private func object(_ number: Int) -> BinaryPropertyListIndex.Object? {
    guard number >= 0, number < objects.count else { return nil }
    return storage.object(storage.index.member(number, of: objects))
  }

  /// The fields of an object; `nil` when the number leads to none, or to a plain value.
  func fields(_ number: Int) -> Fields? {
    guard case .dictionary(let keys, let values)? = object(number) else { return nil }
    return Fields(storage: storage, keys: keys, values: values)
  }

  /// The number that a field refers to; `nil` for nothing, which archives write as the object 0.
  func reference(_ node: PropertyListNode?) -> Int? {
    guard case .reference(let number)? = node, number > 0, number < objects.count else { return nil }
    return number
  }

  func fields(_ node: PropertyListNode?) -> Fields? { reference(node).flatMap { fields($0) } }

  func className(_ fields: Fields) -> String {
    self.fields(fields[.archiveClass])?[.archiveClassName]?.text ?? ""
  }

  /// The name of an object's class, or of the first of its superclasses that is one of some names. An archive names
  /// them all, so an application's own subclass of a description is known by what it is at least.
  func className(_ fields: Fields, among known: Set<String>) -> String {
    let name = className(fields)
    guard !known.contains(name), let own = self.fields(fields[.archiveClass]) else { return name }
    return own.texts(.archiveClasses).first(where: known.contains) ?? name
  }

  // MARK: Plain values, in a field or referred to by it

  private func plain(_ node: PropertyListNode?) -> PropertyListNode? {
    guard case .reference? = node else { return node }
    guard let number = reference(node), case .leaf(let leaf)? = object(number) else { return nil }
    return leaf
  }

  func text(_ node: PropertyListNode?) -> String? {
    if let text = plain(node)?.text { return text }
    return fields(node).flatMap { plain($0[.string])?.text }
  }

  func integer(_ node: PropertyListNode?) -> Int? {
    switch plain(node) {
    case .integer(let value)?: Int(exactly: value)
    case .bool(let value)?: value ? 1 : 0
    case .real(let value)?: Int(exactly: value)
    default: nil
    }
  }

  func flag(_ node: PropertyListNode?) -> Bool { integer(node) ?? 0 != 0 }

  private func real(_ node: PropertyListNode?) -> Double? {
    switch plain(node) {
    case .integer(let value)?: Double(value)
    case .real(let value)?: value
    default: nil
    }
  }

  func data(_ node: PropertyListNode?) -> Data? {
    if case .data(let data)? = plain(node) { data } else { nil }
  }

  // MARK: Collections

  /// The members of an array or a set.
  func members(_ node: PropertyListNode?) -> [Int] { fields(node)?.list(.objects) ?? [] }

  /// The entries of a dictionary, in the order of the file. Stores also write dictionaries of the class
  /// NSKnownKeysDictionary1, whose keys stand in a separate object.
  func entries(_ node: PropertyListNode?) -> [(key: String, value: Int)] {
    guard let fields = fields(node) else { return [] }
    let names: [Int]
    let values: [Int]
    if let mapping = self.fields(fields[.searchMapping] ?? fields[.plainMapping]) {
      names = references(mapping, .keys, .plainKeys)
      values = references(fields, .values, .plainValues)
    } else {
      names = fields.list(.keys) ?? []
      values = fields.list(.objects) ?? []
    }
    var result: [(key: String, value: Int)] = []
    for (name, value) in zip(names, values) {
      if let name = text(.reference(name)) { result.append((name, value)) }
    }
    return result
  }

  /// The references in one of two fields: a list, or the number of an array.
  private func references(_ fields: Fields, _ key: ArchiveKey, _ other: ArchiveKey) -> [Int] {
    fields.list(key) ?? fields.list(other) ?? members(fields[key] ?? fields[other])
  }

  /// The user info of an object; nil for none, and for an empty one.
  func userInfo(_ fields: Fields) -> [AnyHashable: Any]? {
    var result: [AnyHashable: Any] = [:]
    for (key, value) in entries(fields[.userInfo]) {
      if let value = constant(.reference(value))?.described { result[key] = value }
    }
    return result.isEmpty ? nil : result
  }

  // MARK: Values of attributes and conditions

  /// A value of a property list class; `nil` for another class, and for damaged ones.
  func constant(_ node: PropertyListNode?, depth: Int = 0) -> PredicateConstant? {
    guard let node else { return nil }
    if case .reference(let index) = node, index == 0 { return .null }
    if let fields = fields(node) { return object(fields, node, depth) }
    switch plain(node) {
    case .string(let text)?: return .string(text)
    case .bool(let value)?: return .bool(value)
    case .integer(let value)?: return .integer(value)
    case .real(let value)?: return .double(value)
    case .date(let value)?: return ModelFiles.date(value).map { .date($0) }
    case .data(let value)?: return .data(value)
    case .null?, .reference?, .array?, .dictionary?, nil: return nil
    }
  }

  private func object(_ fields: Fields, _ node: PropertyListNode, _ depth: Int) -> PredicateConstant? {
    switch className(fields) {
    case "NSString", "NSMutableString": return text(node).map { .string($0) }
    case "NSNull": return .null
    case "NSDate":
      return real(fields[.time]).flatMap(ModelFiles.date).map { .date($0) }
    case "NSData", "NSMutableData": return data(fields[.data]).map { .data($0) }
    case "NSUUID":
      guard let data = data(fields[.uuidbytes]), data.count == 16 else { return nil }
      return .uuid(data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case "NSURL":
      guard let relative = text(fields[.relative]), depth < 8 else { return nil }
      var base: URL?
      if case .url(let url)? = constant(fields[.base], depth: depth + 1) { base = url }
      return URL(string: relative, relativeTo: base).map { .url($0) }
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return decimal(fields).map { .decimal($0) }
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet":
      // A list that contains itself, or repeatedly the same list, has no end.
      guard depth < 4 else { return nil }
      var result: [PredicateConstant] = []
      for member in members(node).prefix(1000) {
        guard let value = constant(.reference(member), depth: depth + 1) else { return nil }
        result.append(value)
      }
      return .list(result)
    default: return nil
    }
  }

  private func decimal(_ fields: Fields) -> Decimal? {
    guard let mantissa = data(fields[.mantissa]).map(Array.init), mantissa.count <= 16,
      mantissa.count.isMultiple(of: 2), let exponent = integer(fields[.exponent]),
      (-128...127).contains(exponent)
    else { return nil }
    let isBigEndian = integer(fields[.mantissaByteOrder]) == 2
    var value: UInt128 = 0
    for start in stride(from: mantissa.count - 2, through: 0, by: -2) {
      let (first, second) = (UInt128(mantissa[start]), UInt128(mantissa[start + 1]))
      value = value << 16 | (isBigEndian ? first << 8 | second : second << 8 | first)
    }
    let isNegative = flag(fields[.negative])
    guard let significand = Decimal(string: "\(value)") else { return nil }
    return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
  }
}

extension PredicateConstant {
  /// The value in the form that descriptions have it: numbers as `NSNumber`, the rest as Swift values; `nil`
  /// for no value.
  var described: Any? {
    if case .list(let values) = self { values.compactMap(\.described) } else { keyedScalar }
  }
}
