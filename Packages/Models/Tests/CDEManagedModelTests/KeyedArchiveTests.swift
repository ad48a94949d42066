import Foundation
import Testing

@_spi(CDE) @testable import CDEManagedModel

@Suite("Keyed archives")
struct KeyedArchiveTests {
  private let transformer = NSSecureUnarchiveFromDataTransformer()

  private static let values: [any Sendable] = [
    "", "text", "ä€😀", "$null", 0, -1, 255, 256, Int64.max, Int64.min, 1.5, -0.0, Double.infinity, true,
    false,
    Date(timeIntervalSinceReferenceDate: -5.25), Data(), Data(repeating: 7, count: 300),
    UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!, URL(string: "https://example.org/a?b=1#c")!,
    String(repeating: "long ", count: 50_000), (0..<300).map { "\($0)" }, [[1, 2], [3]],
    ["a": 1, "b": 2], [1: "a", 2: "b"], ["k": ["l": ["m": [1.5]]]],
  ]

  @Test(
    "Every property list value comes back, and Foundation reads the same archive", arguments: values.indices)
  func roundTrip(index: Int) throws {
    let value = Self.values[index]
    let data = try #require(transformer.reverseTransformedValue(value) as? Data)
    let back = try #require(transformer.transformedValue(data))
    #expect((back as? NSObject ?? back as! NSObject).isEqual(value as Any as! NSObject), "\(value): \(back)")
    // Independent of our own reader.
    if value as? String == "$null" { return }
    let foundation = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses, from: data)
    #expect((foundation as? NSObject)?.isEqual(value as Any as! NSObject) == true, "\(value)")
  }

  @Test("Archives that Foundation writes are read", arguments: values.indices)
  func fromFoundation(index: Int) throws {
    let value = Self.values[index]
    if value as? String == "$null" { return }
    let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    let back = try #require(transformer.transformedValue(data))
    #expect((back as! NSObject).isEqual(value as Any as! NSObject), "\(value): \(back)")
  }

  @Test(
    "Decimals keep every digit, which Foundation's archiver on Linux ends the process over",
    arguments: [
      "0", "1", "-1.25", "12345678901234567890123456789012345678", "1e100", "-1e-100", "0.1", "65536", "NaN",
    ])
  func decimals(text: String) throws {
    let value = text == "NaN" ? Decimal.nan : try #require(Decimal(string: text))
    let data = try #require(transformer.reverseTransformedValue(["d": value]) as? Data)
    let back = try #require((transformer.transformedValue(data) as? [String: Any])?["d"] as? Decimal)
    #expect(value.isNaN ? back.isNaN : back == value)
  }

  @Test("Sets, null and relative URLs come back")
  func others() throws {
    func again(_ value: Any) throws -> Any? {
      transformer.transformedValue(try #require(transformer.reverseTransformedValue(value) as? Data))
    }
    #expect(try again(Set(["a", "b"])) as? Set<String> == ["a", "b"])
    #expect(try again(NSSet(array: [1, 2])) as? Set<Int> == [1, 2])
    #expect(try again(NSNull()) is NSNull)
    #expect(try again([NSNull(), "a"]) as? NSArray == [NSNull(), "a"])
    let url = try #require(URL(string: "b", relativeTo: URL(string: "https://example.org/a/")))
    #expect((try again(url) as? URL)?.absoluteString == "https://example.org/a/b")
    #expect(try again(NSMutableArray(array: [NSMutableString(string: "m")])) as? [String] == ["m"])
  }

  /// What Apple's archiver writes and ours does not: mutable classes, data behind references, hints, shared
  /// objects, integers of other widths, decimals in the order of bytes of the machine.
  @Test("Archives in the shapes that only Apple's platforms write are read")
  func applesShapes() throws {
    func string(_ name: String, _ parents: String...) -> PropertyListNode {
      .dictionary([
        "$classname": .string(name), "$classes": .array(([name] + parents).map { .string($0) }),
        "$classhints": .array([.string(name)]),
      ])
    }
    let objects: [PropertyListNode] = [
      .string("$null"),
      .dictionary([
        "$class": .reference(2), "NS.keys": .array([.reference(3), .reference(4), .reference(5)]),
        "NS.objects": .array([.reference(6), .reference(8), .reference(6)]),
      ]),
      string("NSMutableDictionary", "NSDictionary", "NSObject"), .string("m"), .string("d"), .string("again"),
      .dictionary(["$class": .reference(7), "NS.string": .string("mutable")]),
      string("NSMutableString", "NSString", "NSObject"),
      .dictionary([
        "$class": .reference(9), "NS.compact": .bool(true), "NS.exponent": .integer(-2),
        "NS.length": .integer(1), "NS.mantissa": .reference(10), "NS.mantissa.bo": .integer(2),
        "NS.negative": .bool(true),
      ]),
      string("NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"),
      .data(Data([1, 2] + Array(repeating: 0, count: 14))),
    ]
    let data = BinaryPropertyListWriter.data(
      .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000), "$objects": .array(objects),
        "$top": .dictionary(["root": .reference(1)]),
      ]))
    let value = try #require(transformer.transformedValue(data) as? [String: Any])
    #expect(value["m"] as? String == "mutable" && value["again"] as? String == "mutable")
    #expect(value["d"] as? Decimal == Decimal(string: "-2.58"))
  }

  @Test("What is not allowed is refused, whichever depth it stands at")
  func refused() throws {
    final class Texts: NSSecureUnarchiveFromDataTransformer {
      override class var allowedTopLevelClasses: [AnyClass] { [NSString.self, NSArray.self] }
    }
    func archive(_ value: Any) throws -> Data {
      let data = transformer.reverseTransformedValue(value) as? Data
      return try #require(data)
    }
    let texts = Texts()
    #expect(texts.transformedValue(try archive(["a", ["b"]])) as? NSArray == ["a", ["b"]])
    #expect(texts.transformedValue(try archive(1)) == nil)
    #expect(texts.transformedValue(try archive(["a", Date()] as [Any])) == nil)
    #expect(texts.transformedValue(try archive([["k": "v"]])) == nil)
    // A class that only Foundation could read, and that is not allowed.
    let locale = try NSKeyedArchiver.archivedData(
      withRootObject: NSLocale(localeIdentifier: "de_DE"), requiringSecureCoding: true)
    #expect(transformer.transformedValue(locale) == nil)
  }

  @Test("Damaged archives give nil, whatever is wrong with them")
  func damaged() throws {
    let value: [String: Any] = ["a": [1, 2.5, "x"], "d": Decimal(1.5), "u": UUID(), "when": Date()]
    let data = try #require(transformer.reverseTransformedValue(value) as? Data)
    let seed = UInt64.random(in: 0 ... .max)
    var generator = Generator(state: seed)
    var read = 0
    for _ in 0..<3000 {
      var bytes = [UInt8](data)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      if generator.next().isMultiple(of: 4) {
        bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
      }
      if transformer.transformedValue(Data(bytes)) != nil { read += 1 }
    }
    // Most single bytes matter, but those inside text and numbers do not make an archive unreadable.
    #expect(read > 0 && read < 3000, "seed \(seed)")
    // A list that holds itself has no end.
    let endless = BinaryPropertyListWriter.data(
      .dictionary([
        "$objects": .array([
          .string("$null"), .dictionary(["$class": .reference(2), "NS.objects": .array([.reference(1)])]),
          .dictionary(["$classname": .string("NSArray"), "$classes": .array([.string("NSArray")])]),
        ]), "$top": .dictionary(["root": .reference(1)]),
      ]))
    #expect(transformer.transformedValue(endless) == nil)
    #expect(transformer.transformedValue(Data()) == nil)
  }

  @Test("A damaged dictionary is not left to Foundation because of another class beside it")
  func damagedBesideOthers() {
    func archive(keys: Int) -> Data {
      BinaryPropertyListWriter.data(
        .dictionary([
          "$objects": .array([
            .string("$null"),
            .dictionary([
              "$class": .reference(2), "NS.keys": .array(Array(repeating: .reference(3), count: keys)),
              "NS.objects": .array([.reference(4)]),
            ]),
            .dictionary([
              "$classname": .string("NSDictionary"), "$classes": .array([.string("NSDictionary")]),
            ]), .string("key"), .dictionary(["$class": .reference(5), "NS.objects": .array([])]),
            .dictionary([
              "$classname": .string("NSCountedSet"),
              "$classes": .array([.string("NSCountedSet"), .string("NSSet")]),
            ]),
          ]), "$top": .dictionary(["root": .reference(1)]),
          "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        ]))
    }
    for keys in [0, 2, 3] { #expect(transformer.transformedValue(archive(keys: keys)) == nil) }
    #expect((transformer.transformedValue(archive(keys: 1)) as? NSDictionary)?.count == 1)
  }

  @Test("Numbers as objects, and decimals that would have to be hashed, are damage")
  func endless() {
    func archive(_ name: String, _ container: String) -> Data {
      let member: PropertyListNode = .dictionary([
        "$class": .reference(4), "NS.mantissa": .data(Data(repeating: 1, count: 16)),
        "NS.exponent": .integer(0),
        "NS.negative": .bool(false), "NS.mantissa.bo": .integer(1),
      ])
      func description(_ name: String) -> PropertyListNode {
        .dictionary(["$classname": .string(name), "$classes": .array([.string(name), .string("NSNumber")])])
      }
      let list: PropertyListNode = .array([.reference(3)])
      return BinaryPropertyListWriter.data(
        .dictionary([
          "$objects": .array([
            .string("$null"),
            .dictionary(["$class": .reference(2), "NS.keys": list, "NS.objects": list]),
            description(container), member, description(name),
          ]), "$top": .dictionary(["root": .reference(1)]),
        ]))
    }
    #expect(transformer.transformedValue(archive("NSNumber", "NSArray")) == nil)
    #expect(transformer.transformedValue(archive("NSDecimalNumber", "NSSet")) == nil)
    #expect(transformer.transformedValue(archive("NSDecimalNumber", "NSDictionary")) == nil)
    #expect((transformer.transformedValue(archive("NSDecimalNumber", "NSArray")) as? [Any])?.count == 1)
  }

  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }
}
