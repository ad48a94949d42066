#if !canImport(ObjectiveC)
  @_spi(CDE) internal import CDEOperators
  internal import Foundation

  /// Keyed archives of property list classes, in the format of `NSKeyedArchiver`.
  ///
  /// Foundation's archiver on Linux ends the process for decimal numbers and for unknown classes. Its
  /// unarchiver ends the process for classes that are not allowed. Here both are errors of the data.
  /// Foundation handles archives of other classes.
  enum KeyedArchive {
    static let version: Int64 = 100_000

    /// The archive of a value; nil when the value is, or contains, an object of a class outside property
    /// lists.
    static func data(of value: Any) -> Data? {
      var writer = KeyedArchiveWriter()
      guard let root = writer.append(value) else { return nil }
      return BinaryPropertyListWriter.data(
        .dictionary([
          "$version": .integer(version), "$archiver": .string("NSKeyedArchiver"),
          "$top": .dictionary(["root": .reference(root)]), "$objects": .array(writer.objects),
        ]))
    }
  }

  private struct KeyedArchiveWriter {
    private(set) var objects: [PropertyListNode] = [.string("$null")]
    private var strings: [ExactText: Int] = [:]
    private var classes: [String: Int] = [:]
    private var depth = 0

    mutating func append(_ value: Any) -> Int? {
      depth += 1
      defer { depth -= 1 }
      // An object that contains itself has no end.
      guard depth < 200 else { return nil }
      // The exact types first, because each cast to a bridged type takes time.
      switch type(of: value) {
      case is String.Type: return appendText(value as! String)
      case is Double.Type: return add(.real(value as! Double))
      case is Int.Type: return add(.integer(Int64(value as! Int)))
      case is Bool.Type: return add(.bool(value as! Bool))
      case is [String: Any].Type:
        let entries = (value as! [String: Any]).sorted { $0.key < $1.key }
        return append(keys: entries.map(\.key), values: entries.map(\.value))
      default: break
      }
      switch value {
      case let text as String: return appendText(text)
      case is NSNull: return object("NSNull", [:])
      case let date as Date: return object("NSDate", ["NS.time": .real(date.timeIntervalSinceReferenceDate)])
      case let data as Data: return add(.data(data))
      case let uuid as UUID:
        return object("NSUUID", ["NS.uuidbytes": .data(withUnsafeBytes(of: uuid.uuid) { Data($0) })])
      case let url as URL: return appendURL(url)
      case let decimal as Decimal where !(value is NSNumber) || value is NSDecimalNumber:
        return appendDecimal(decimal)
      case let number as NSNumber: return appendNumber(number)
      case let array as [Any]: return members(of: array).map { object("NSArray", ["NS.objects": $0]) }
      case let dictionary as [AnyHashable: Any]: return appendDictionary(dictionary)
      case let set as Set<AnyHashable>:
        // Readers do not hash decimal numbers, because Foundation on Linux never returns from that.
        if set.contains(where: { Self.isDecimal($0.base) }) { return nil }
        return members(of: set.map(\.base)).map { object("NSSet", ["NS.objects": $0]) }
      default: return nil
      }
    }

    private mutating func add(_ node: PropertyListNode) -> Int {
      objects.append(node)
      return objects.count - 1
    }

    private mutating func appendText(_ text: String) -> Int {
      let exact = ExactText(text: text)
      if let known = strings[exact] { return known }
      // No other object has this index. "$null" as a value would be read as nil.
      let index = text == "$null" ? object("NSString", ["NS.string": .string(text)]) : add(.string(text))
      strings[exact] = index
      return index
    }

    private mutating func appendURL(_ url: URL) -> Int {
      let base = url.baseURL.map { appendURL($0) } ?? 0
      let relative = appendText(url.baseURL == nil ? url.absoluteString : url.relativeString)
      return object("NSURL", ["NS.base": .reference(base), "NS.relative": .reference(relative)])
    }

    private mutating func appendNumber(_ number: NSNumber) -> Int? {
      switch NumberKind(number) {
      case .boolean: add(.bool(number.boolValue))
      case .floating, .decimal: add(.real(number.doubleValue))
      case .unsigned: Int64(exactly: number.uint64Value).map { add(.integer($0)) }
      case .signed: add(.integer(number.int64Value))
      }
    }

    private mutating func appendDecimal(_ decimal: Decimal) -> Int? {
      // NaN is written as a negative zero.
      let digits = decimal.isNaN ? "0" : decimal.significand.magnitude.description
      guard var mantissa = UInt128(digits) else { return nil }
      let length = (UInt128.bitWidth - mantissa.leadingZeroBitCount + 15) / 16
      var bytes: [UInt8] = []
      for _ in 0..<16 {
        bytes.append(UInt8(truncatingIfNeeded: mantissa))
        mantissa >>= 8
      }
      return object(
        "NSDecimalNumber",
        [
          "NS.exponent": .integer(decimal.isNaN ? 0 : Int64(decimal.exponent)),
          "NS.length": .integer(Int64(length)),
          "NS.negative": .bool(decimal.isNaN || decimal.sign == .minus), "NS.compact": .bool(true),
          // 1 means little endian.
          "NS.mantissa.bo": .integer(1), "NS.mantissa": .data(Data(bytes)),
        ])
    }

    private mutating func appendDictionary(_ dictionary: [AnyHashable: Any]) -> Int? {
      // In an order independent of hashing, so that equal values give equal archives.
      if dictionary.keys.contains(where: { Self.isDecimal($0.base) }) { return nil }
      let entries = dictionary.map { ($0.key.base, $0.value) }.sorted { "\($0.0)" < "\($1.0)" }
      return append(keys: entries.map(\.0), values: entries.map(\.1))
    }

    private static func isDecimal(_ value: Any) -> Bool {
      value is NSDecimalNumber || type(of: value) == Decimal.self
    }

    private mutating func append(keys: [Any], values: [Any]) -> Int? {
      guard let keys = members(of: keys), let values = members(of: values) else { return nil }
      return object("NSDictionary", ["NS.keys": keys, "NS.objects": values])
    }

    private mutating func members(of values: [Any]) -> PropertyListNode? {
      var references: [PropertyListNode] = []
      references.reserveCapacity(values.count)
      for value in values {
        guard let index = append(value) else { return nil }
        references.append(.reference(index))
      }
      return .array(references)
    }

    private mutating func object(_ name: String, _ fields: [String: PropertyListNode]) -> Int {
      var fields = fields
      let index = add(.null)
      fields["$class"] = .reference(classReference(name))
      objects[index] = .dictionary(fields)
      return index
    }

    private mutating func classReference(_ name: String) -> Int {
      if let known = classes[name] { return known }
      let parents = name == "NSDecimalNumber" ? ["NSNumber", "NSValue", "NSObject"] : ["NSObject"]
      let index = add(
        .dictionary([
          "$classname": .string(name), "$classes": .array(([name] + parents).map { .string($0) }),
        ]))
      classes[name] = index
      return index
    }
  }
#endif
