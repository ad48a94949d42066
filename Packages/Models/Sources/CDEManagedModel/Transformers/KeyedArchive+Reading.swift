#if !canImport(ObjectiveC)
  internal import Foundation

  /// The contents of an archive.
  enum KeyedArchiveContents {
    case value(Any)
    /// Property list classes are allowed, but there are other classes, which Foundation must read.
    case otherClasses
    /// A class that is not allowed.
    case refused(String)
    case damaged
  }

  extension KeyedArchive {
    /// Reads an archive whose classes, or their superclasses, are among `allowed`.
    static func contents(of data: Data, allowed: [AnyClass]) -> KeyedArchiveContents {
      guard case .dictionary(let top)? = BinaryPropertyListReader.read(data),
        case .array(let objects)? = top["$objects"], case .dictionary(let roots)? = top["$top"],
        case .reference(let root)? = roots["root"] ?? roots.values.first
      else { return .damaged }
      var reader = KeyedArchiveReader(objects: objects, allowed: allowed)
      do { return .value(try reader.object(root, depth: 0)) } catch {
        // Foundation's unarchiver on Linux ends the process when it reads a class that is not allowed,
        // whatever its failure policy is.
        guard case .otherClasses = error else { return error.contents }
        if let name = reader.refusedClass { return .refused(name) }
        return reader.isWhole && reader.othersCanBeRead(in: top) ? .otherClasses : .damaged
      }
    }
  }

  private enum Obstacle: Error {
    case otherClasses, refused(String), damaged

    var contents: KeyedArchiveContents {
      switch self {
      case .otherClasses: .otherClasses
      case .refused(let name): .refused(name)
      case .damaged: .damaged
      }
    }
  }

  /// Names of classes. To get a class's name takes longer than to read an archive that contains it.
  private enum KeyedArchiveClassNames {
    private static let known: [ObjectIdentifier: String] = Dictionary(
      uniqueKeysWithValues: NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses.map {
        (ObjectIdentifier($0), NSStringFromClass($0))
      })

    static let propertyList = Set(known.values)

    static func names(of classes: [AnyClass]) -> Set<String> {
      var names: Set<String> = []
      for type in classes { names.insert(known[ObjectIdentifier(type)] ?? NSStringFromClass(type)) }
      return names
    }
  }

  private struct KeyedArchiveReader {
    let objects: [PropertyListNode]
    private let classes: [AnyClass]
    private let allowed: Set<String>
    /// Objects may be shared. A small archive with repeatedly shared objects could fill the memory.
    private var budget: Int
    /// Objects found so far whose classes Foundation must read.
    private var others: Set<Int> = []

    init(objects: [PropertyListNode], allowed classes: [AnyClass]) {
      self.objects = objects
      self.classes = classes
      allowed = KeyedArchiveClassNames.names(of: classes)
      budget = 16 * objects.count + 1024
    }

    mutating func object(_ index: Int, depth: Int) throws(Obstacle) -> Any {
      guard objects.indices.contains(index), depth < 200, budget > 0 else { throw .damaged }
      budget -= 1
      switch objects[index] {
      case .string(let text):
        try require("NSString")
        return text
      case .bool(let value):
        try require("NSNumber")
        return NSNumber(value: value)
      case .integer(let value):
        try require("NSNumber")
        return NSNumber(value: value)
      case .real(let value):
        try require("NSNumber")
        return NSNumber(value: value)
      case .data(let data):
        try require("NSData")
        return data
      case .date(let value):
        try require("NSDate")
        return Date(timeIntervalSinceReferenceDate: value)
      case .dictionary(let fields): return try object(fields, at: index, depth)
      case .null, .reference, .array: throw .damaged
      }
    }

    /// A class of the archive that neither is allowed nor inherits from an allowed class.
    var refusedClass: String? {
      for case .dictionary(let fields) in objects {
        guard case .array(let nodes)? = fields["$classes"] else { continue }
        let names = nodes.compactMap { if case .string(let name) = $0 { name } else { nil } }
        if !names.contains(where: allowed.contains) { return names.first ?? "" }
      }
      return nil
    }

    /// Whether all objects of classes that this reader supports can be read. Foundation ends the process when
    /// a list contains itself, or when a dictionary has more keys than values.
    var isWhole: Bool {
      mutating get {
        budget = 64 * objects.count + 4096
        for index in objects.indices {
          guard case .dictionary(let fields) = objects[index], fields["$class"] != nil else { continue }
          do { _ = try object(index, depth: 0) } catch {
            guard case .otherClasses = error else { return false }
          }
        }
        return true
      }
    }

    /// Whether Foundation can read each object of another class separately, after ``isWhole`` has found them.
    /// If it can't read a member, it ends the process when it makes the surrounding list.
    func othersCanBeRead(in archive: [String: PropertyListNode]) -> Bool {
      // An archiver writes the contents of an object after the object. Objects are read from the inside to
      // the outside.
      others.sorted(by: >).allSatisfy { index in
        var part = archive
        part["$top"] = .dictionary(["root": .reference(index)])
        let data = BinaryPropertyListWriter.data(.dictionary(part))
        return (try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)) != nil
      }
    }

    private func require(_ name: String) throws(Obstacle) {
      guard allowed.contains(name) else { throw .refused(name) }
    }

    private mutating func object(
      _ fields: [String: PropertyListNode], at place: Int, _ depth: Int
    ) throws(Obstacle) -> Any {
      guard case .reference(let index)? = fields["$class"], objects.indices.contains(index),
        case .dictionary(let description) = objects[index],
        case .string(let name)? = description["$classname"]
      else { throw .damaged }
      var names = [name]
      if case .array(let classes)? = description["$classes"] {
        for case .string(let parent) in classes { names.append(parent) }
      }
      guard !allowed.isDisjoint(with: names) else { throw .refused(name) }
      switch name {
      case "NSNull": return NSNull()
      case "NSString", "NSMutableString": return try text(fields)
      case "NSData", "NSMutableData": return try bytes(fields["NS.data"] ?? fields["NS.bytes"])
      case "NSDate": return Date(timeIntervalSinceReferenceDate: try real(fields["NS.time"]))
      case "NSUUID":
        let data = try bytes(fields["NS.uuidbytes"])
        guard data.count == 16 else { throw .damaged }
        return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
      case "NSURL": return try url(fields, depth)
      case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return try decimal(fields)
      case "NSArray", "NSMutableArray": return try members(fields["NS.objects"], depth)
      case "NSSet", "NSMutableSet":
        return NSSet(array: try hashable(try members(fields["NS.objects"], depth)))
      case "NSDictionary", "NSMutableDictionary": return try dictionary(fields, depth)
      default:
        // A number is never written as an object of its class. Reading it as one would end the process.
        if KeyedArchiveClassNames.propertyList.contains(name) { throw .damaged }
        // A damaged name is no class. Foundation would end the process when it uses the name or reads the
        // object.
        guard let found = NSClassFromString(name) as? NSObject.Type,
          classes.contains(where: { found.isSubclass(of: $0) })
        else { throw .damaged }
        others.insert(place)
        throw .otherClasses
      }
    }

    private mutating func members(_ node: PropertyListNode?, _ depth: Int) throws(Obstacle) -> [Any] {
      guard case .array(let references)? = node else { throw .damaged }
      var result: [Any] = []
      for reference in references {
        guard case .reference(let index) = reference else { throw .damaged }
        result.append(try object(index, depth: depth + 1))
      }
      return result
    }

    /// Foundation on Linux never returns when it hashes a decimal number.
    private func hashable(_ members: [Any]) throws(Obstacle) -> [Any] {
      if members.contains(where: { $0 is NSDecimalNumber }) { throw .damaged }
      return members
    }

    private mutating func dictionary(
      _ fields: [String: PropertyListNode], _ depth: Int
    ) throws(Obstacle) -> Any {
      // Before any member is read, because reading may find a class that Foundation must read.
      guard case .array(let names)? = fields["NS.keys"], case .array(let members)? = fields["NS.objects"],
        names.count == members.count
      else { throw .damaged }
      let keys = try hashable(try self.members(fields["NS.keys"], depth))
      let values = try self.members(fields["NS.objects"], depth)
      if let names = keys as? [String] {
        return Dictionary(zip(names, values)) { first, _ in first }
      }
      var result: [AnyHashable: Any] = [:]
      for (key, value) in zip(keys, values) {
        guard let key = key as? AnyHashable else { throw .damaged }
        result[key] = value
      }
      return result
    }

    private mutating func url(_ fields: [String: PropertyListNode], _ depth: Int) throws(Obstacle) -> Any {
      guard case .reference(let index)? = fields["NS.relative"],
        case .string(let relative)? = objects.indices.contains(index) ? objects[index] : nil
      else { throw .damaged }
      var base: URL?
      if case .reference(let index)? = fields["NS.base"], index != 0 {
        base = try object(index, depth: depth + 1) as? URL
      }
      guard let url = URL(string: relative, relativeTo: base) else { throw .damaged }
      return url
    }

    private func decimal(_ fields: [String: PropertyListNode]) throws(Obstacle) -> Any {
      let mantissa = Array(try bytes(fields["NS.mantissa"]))
      let exponent = try integer(fields["NS.exponent"])
      guard mantissa.count <= 16, mantissa.count.isMultiple(of: 2), let exponent = Int32(exactly: exponent),
        (-128...127).contains(exponent)
      else { throw .damaged }
      var isBigEndian = false
      if let order = fields["NS.mantissa.bo"] { isBigEndian = try integer(order) == 2 }
      var value: UInt128 = 0
      for start in stride(from: mantissa.count - 2, through: 0, by: -2) {
        let (first, second) = (UInt128(mantissa[start]), UInt128(mantissa[start + 1]))
        value = value << 16 | (isBigEndian ? first << 8 | second : second << 8 | first)
      }
      let isNegative = try flag(fields["NS.negative"])
      if value == 0, isNegative { return NSDecimalNumber.notANumber }
      guard let significand = Decimal(string: "\(value)") else { throw .damaged }
      return NSDecimalNumber(
        decimal: Decimal(
          sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: significand))
    }

    // MARK: Fields, in the object or by reference

    private func field(_ node: PropertyListNode?) throws(Obstacle) -> PropertyListNode {
      guard let node else { throw .damaged }
      guard case .reference(let index) = node else { return node }
      guard objects.indices.contains(index) else { throw .damaged }
      return objects[index]
    }

    private func text(_ fields: [String: PropertyListNode]) throws(Obstacle) -> String {
      switch try field(fields["NS.string"] ?? fields["NS.bytes"]) {
      case .string(let text): return text
      case .data(let data): return String(decoding: data, as: UTF8.self)
      default: throw .damaged
      }
    }

    private func bytes(_ node: PropertyListNode?) throws(Obstacle) -> Data {
      guard case .data(let data) = try field(node) else { throw .damaged }
      return data
    }

    private func real(_ node: PropertyListNode?) throws(Obstacle) -> Double {
      switch try field(node) {
      case .real(let value): return value
      case .integer(let value): return Double(value)
      default: throw .damaged
      }
    }

    private func integer(_ node: PropertyListNode?) throws(Obstacle) -> Int64 {
      guard case .integer(let value) = try field(node) else { throw .damaged }
      return value
    }

    private func flag(_ node: PropertyListNode?) throws(Obstacle) -> Bool {
      switch try field(node) {
      case .bool(let value): return value
      case .integer(let value): return value != 0
      default: throw .damaged
      }
    }
  }
#endif
