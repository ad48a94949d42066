import Foundation
import Testing

@_spi(CDE) @testable import CDEManagedModel

/// Turns strings into data by reversing them, in the direction of a hand-written transformer.
final class ReversingTransformer: ValueTransformer, CDRegisteredValueTransformer {
  static let transformerName = NSValueTransformerName("ReversingTransformer")

  override func transformedValue(_ value: Any?) -> Any? {
    (value as? String).map { Data(String($0.reversed()).utf8) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
  }
}

final class TextOnlyTransformer: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [NSString.self] }
  override class var transformerName: NSValueTransformerName { NSValueTransformerName("TextOnly") }
}

@Suite("Value transformers")
struct ValueTransformerTests {
  private func roundTrip<Value: Equatable>(_ value: Value, transformer: String? = nil) throws -> Bool {
    let data = try TransformableCoding.encode(value, transformer: transformer, entity: "E", property: "p")
    let back = try TransformableCoding.decode(data, transformer: transformer, entity: "E", property: "p")
    return data != nil && back as? Value == value
  }

  @Test("Secure unarchiving is registered from the start and carries property lists")
  func secure() throws {
    #expect(
      NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue == "NSSecureUnarchiveFromData")
    #expect(
      ValueTransformer(forName: .secureUnarchiveFromDataTransformerName)
        is NSSecureUnarchiveFromDataTransformer)
    #expect(
      NSSecureUnarchiveFromDataTransformer.transformerName == .secureUnarchiveFromDataTransformerName)
    #expect(try roundTrip(["a", "b"]))
    #expect(try roundTrip([String]()))
    #expect(try roundTrip(["lat": 1.5, "lon": -2]))
    #expect(try roundTrip("text"))
    #expect(try roundTrip(42))
    #expect(try roundTrip(Date(timeIntervalSinceReferenceDate: 5)))
    #expect(try roundTrip(Data([0, 1])))
    #expect(try roundTrip(URL(string: "https://example.org/a")!))
    #expect(try roundTrip(UUID()))
    #expect(try roundTrip(["names": ["a", "b"], "more": []]))
  }

  @Test("Nil stays nil in both directions")
  func nothing() throws {
    #expect(try TransformableCoding.encode(nil, transformer: nil, entity: "E", property: "p") == nil)
    #expect(try TransformableCoding.decode(nil, transformer: nil, entity: "E", property: "p") == nil)
  }

  @Test("A registered transformer is the instance found, and is used in its own direction")
  func custom() throws {
    let transformer = ReversingTransformer()
    ValueTransformer.setValueTransformer(transformer, forName: ReversingTransformer.transformerName)
    #expect(ValueTransformer(forName: ReversingTransformer.transformerName) === transformer)
    #expect(ReversingTransformer(forName: ReversingTransformer.transformerName) === transformer)
    #expect(TextOnlyTransformer(forName: ReversingTransformer.transformerName) == nil)
    #expect(ValueTransformer.valueTransformerNames().contains(ReversingTransformer.transformerName))
    #expect(try roundTrip("abc", transformer: "ReversingTransformer"))
  }

  @Test("A subclass decides which classes an archive may hold")
  func allowed() throws {
    ValueTransformer.setValueTransformer(TextOnlyTransformer(), forName: TextOnlyTransformer.transformerName)
    #expect(try roundTrip("abc", transformer: "TextOnly"))
    // A class that it does not allow is no more written than read.
    let written = #expect(throws: ModelError.self) {
      try TransformableCoding.encode(Date(), transformer: "TextOnly", entity: "E", property: "p")
    }
    let dates = try TransformableCoding.encode(Date(), transformer: nil, entity: "E", property: "p")
    let read = #expect(throws: ModelError.self) {
      try TransformableCoding.decode(dates, transformer: "TextOnly", entity: "E", property: "p")
    }
    for error in [written, read] {
      #expect(error?.code == .transformFailed)
      for word in ["E.p", "TextOnlyTransformer", "NSDate"] { #expect(error?.message.contains(word) == true) }
    }
  }

  @Test("What is not registered is nil, and the secure transformer goes by both of its names")
  func names() {
    let unknown = NSValueTransformerName("of no transformer")
    #expect(ValueTransformer(forName: unknown) == nil && ReversingTransformer(forName: unknown) == nil)
    for name in ["NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer"] {
      #expect(ValueTransformer(forName: NSValueTransformerName(name)) is NSSecureUnarchiveFromDataTransformer)
      #expect(ValueTransformer.valueTransformerNames().contains(NSValueTransformerName(name)))
    }
  }

  @Test("Texts that differ in their characters' composition alone stay apart in an archive")
  func composition() throws {
    let texts = ["e\u{301}", "\u{e9}", "e\u{301}"]
    let data = try TransformableCoding.encode(texts, transformer: nil, entity: "E", property: "p")
    let read = try TransformableCoding.decode(data, transformer: nil, entity: "E", property: "p") as? [String]
    #expect(read?.map { Array($0.utf8) } == texts.map { Array($0.utf8) })
  }

  @Test("Unknown names, values that can't be archived and damaged bytes are errors that name the property")
  func failures() {
    struct Opaque {}
    let unknown = #expect(throws: ModelError.self) {
      try TransformableCoding.encode("x", transformer: "Missing", entity: "E", property: "p")
    }
    #expect(unknown?.code == .unknownTransformer && unknown?.property == "p")
    let unarchivable = #expect(throws: ModelError.self) {
      try TransformableCoding.encode([Opaque()], transformer: nil, entity: "E", property: "p")
    }
    #expect(unarchivable?.code == .transformFailed)
    let damaged = #expect(throws: ModelError.self) {
      try TransformableCoding.decode(Data([1, 2, 3]), transformer: nil, entity: "E", property: "p")
    }
    #expect(damaged?.code == .transformFailed && damaged?.entity == "E")
  }
}
