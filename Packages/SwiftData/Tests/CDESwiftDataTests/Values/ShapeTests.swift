import CDEManagedModel
import CDEStore
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Shapes of values")
struct ShapeTests {
  private func elements(_ shape: ValueShape?) -> [String: ValueShape] {
    guard case .composite(let elements) = shape else { return [:] }
    return Dictionary(uniqueKeysWithValues: elements.map { ($0.name, $0.shape) })
  }

  @Test("Numbers, texts and the like have a column of their kind, optional or not")
  func scalars() {
    let kinds: [(any Any.Type, StoreAttributeType)] = [
      (Bool.self, .boolean), (Int8.self, .integer16), (UInt8.self, .integer16), (Int16.self, .integer16),
      (UInt16.self, .integer32), (Int32.self, .integer32), (UInt32.self, .integer64),
      (Int64.self, .integer64),
      (Int.self, .integer64), (UInt.self, .integer64), (UInt64.self, .integer64), (Float.self, .float),
      (Double.self, .double), (CGFloat.self, .double), (Decimal.self, .decimal), (String.self, .string),
      (Date.self, .date), (Data.self, .binary), (UUID.self, .uuid), (URL.self, .uri), (String?.self, .string),
      (Int??.self, .integer64),
    ]
    for (type, kind) in kinds { #expect(ValueShape.of(type) == .scalar(kind), "\(type)") }
  }

  @Test("A struct is a composite in declared order, with nested structs and collections as JSON")
  func structs() throws {
    guard case .composite(let elements) = ValueShape.of(Sample.Address?.self) else {
      Issue.record("no composite")
      return
    }
    #expect(
      elements.map(\.name) == [
        "street", "number", "floor", "point", "former", "residents", "marks", "since", "key", "site", "image",
        "rent",
        "isRented", "ratio", "tags",
      ])
    let shapes = self.elements(.composite(elements))
    let point = ValueShape.composite([
      .init(name: "x", shape: .scalar(.double)), .init(name: "y", shape: .scalar(.double)),
    ])
    #expect(shapes["point"] == point && shapes["former"] == point)
    #expect(shapes["residents"] == .json && shapes["marks"] == .json && shapes["tags"] == .json)
    #expect(shapes["floor"] == .scalar(.integer64) && shapes["rent"] == .scalar(.decimal))
    let attribute = ValueShape.composite(elements).makeAttribute(name: "home")
    let composite = try #require(attribute as? NSCompositeAttributeDescription)
    #expect(
      composite.elements.map(\.attributeType) == [
        .stringAttributeType, .integer64AttributeType, .integer64AttributeType, .compositeAttributeType,
        .compositeAttributeType, .binaryDataAttributeType, .binaryDataAttributeType, .dateAttributeType,
        .UUIDAttributeType, .URIAttributeType, .binaryDataAttributeType, .decimalAttributeType,
        .booleanAttributeType,
        .floatAttributeType, .binaryDataAttributeType,
      ])
    #expect(composite.elements.allSatisfy { $0.isOptional })
  }

  @Test("An enumeration with raw values has one column, one without has a column for each case")
  func enumerations() {
    #expect(ValueShape.of(Sample.Grade.self) == .rawEnumeration(.string))
    #expect(ValueShape.of(Sample.Level?.self) == .rawEnumeration(.integer64))
    #expect(
      ValueShape.of(Sample.Season.self)
        == .enumeration(["spring", "summer", "autumn", "winter"].map { .init(name: $0, hasPayload: false) }))
    #expect(ValueShape.of(Sample.Alone.self) == .enumeration([.init(name: "only", hasPayload: false)]))
    #expect(
      ValueShape.of(Sample.Shape.self)
        == .enumeration([
          .init(name: "circle", hasPayload: true), .init(name: "polygon", hasPayload: true),
          .init(name: "named", hasPayload: true), .init(name: "empty", hasPayload: false),
        ]))
    #expect(
      ValueShape.of(Sample.Term.self)
        == .enumeration([.init(name: "sum", hasPayload: true), .init(name: "number", hasPayload: true)]))
  }

  @Test("Collections as properties are archives, whatever their elements")
  func collections() {
    #expect(ValueShape.of([String].self) == .archive("Array<String>"))
    #expect(ValueShape.of([Int]?.self) == .archive("Array<Int>"))
    #expect(ValueShape.of(Set<String>.self) == .archive("Set<String>"))
    #expect(ValueShape.of([String: Double].self) == .archive("Dictionary<String, Double>"))
    #expect(ValueShape.of([Sample.Point].self) == .archive("Array<Point>"))
  }

  @Test("A type with code of its own has one column if it encodes one value, and is JSON otherwise")
  func codeOfTheirOwn() {
    #expect(ValueShape.of(Sample.Email.self) == .wrapped(.string))
    #expect(ValueShape.of(Sample.Options.self) == .wrapped(.integer64))
    #expect(ValueShape.of(Sample.Traffic.self) == .wrapped(.integer64))
    #expect(ValueShape.of(Sample.Pair.self) == .json)
    #expect(ValueShape.of(Sample.Loose.self) == .json)
    #expect(ValueShape.of(Sample.Nested.self) == .json)
    #expect(ValueShape.of(Sample.Animal.self) == .json)
    #expect(ValueShape.of(Sample.Dog.self) == .json)
    #expect(ValueShape.of(Sample.Dashed.self) == .json)
    #expect(ValueShape.of(Sample.Nothing.self) == .json)
    #expect(ValueShape.of(ClosedRange<Int>.self) == .json)
  }

  @Test("The elements of a struct are its coding keys")
  func keys() {
    #expect(Set(elements(ValueShape.of(Sample.Renamed.self)).keys) == ["name", "count"])
    #expect(Set(elements(ValueShape.of(Sample.Partial.self)).keys) == ["title"])
    #expect(Set(elements(ValueShape.of(Sample.Box<Sample.Grade>.self)).keys) == ["value"])
  }

  @Test("A struct that refuses the sample has its stored properties as elements")
  func strict() {
    #expect(
      elements(ValueShape.of(Sample.Strict.self)) == ["title": .scalar(.string), "size": .scalar(.integer64)])
  }

  @Test("Foundation's structures without plain keys are JSON")
  func foundation() {
    #expect(ValueShape.of(TimeZone.self) == .json)
    #expect(ValueShape.of(CGPoint.self) == .json)
    #expect(ValueShape.of(DateInterval.self) != nil)
    #expect(ValueShape.of(Locale.self) != nil)
  }

  @Test("A type that is not Codable has no shape")
  func others() {
    #expect(ValueShape.of(Substring.self) == nil)
    #expect(ValueShape.of(NSObject.self) == nil)
    #expect(ValueShape.of([NSObject].self) == nil)
  }

  @Test("Key paths to parts of structs have the names of elements")
  func paths() {
    #expect(ValuePaths.elementName(of: \Sample.Address.street) == "street")
    #expect(ValuePaths.elementName(of: \Sample.Address.point) == "point")
    #expect(ValuePaths.elementName(of: \Sample.Renamed.title) == nil)
    #expect(ValuePaths.elementName(of: \Sample.Partial.cached) == nil)
    #expect(ValuePaths.elementName(of: \Sample.Address.street.count) == nil)
  }
}
