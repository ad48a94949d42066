import Foundation

/// Types of values as programs write them, and as few do.
enum Sample {
  struct Point: Codable, Equatable {
    var x: Double
    var y: Double
  }

  struct Address: Codable, Equatable {
    var street: String
    var number: Int
    var floor: Int?
    var point: Point
    var former: Point?
    var residents: [String]
    var marks: [String: Int]
    var since: Date
    var key: UUID
    var site: URL?
    var image: Data
    var rent: Decimal
    var isRented: Bool
    var ratio: Float
    var tags: Set<String>
  }

  enum Grade: String, Codable, CaseIterable { case low = "L", middle, high }
  enum Level: Int, Codable { case first = 1, second }
  enum Wide: UInt64, Codable { case least = 0, most = 18_446_744_073_709_551_615 }
  enum Season: Codable { case spring, summer, autumn, winter }
  enum Alone: Codable, Equatable { case only }

  enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case polygon([Point])
    case named(String, Int?)
    case empty
  }

  indirect enum Term: Codable, Equatable {
    case sum(Term, Term)
    case number(Int)
  }

  struct Mixed: Codable, Equatable {
    var grade: Grade
    var season: Season?
    var shape: Shape
    var levels: [Level]
  }

  /// Encodes a single value.
  struct Email: Codable, Equatable {
    var text: String
    init(text: String) { self.text = text }
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }

  struct Options: OptionSet, Codable {
    let rawValue: Int
    static let loud = Options(rawValue: 1)
    static let quick = Options(rawValue: 2)
  }

  /// Encodes two numbers without keys.
  struct Pair: Codable, Equatable {
    var first: Int
    var second: Int
    init(_ first: Int, _ second: Int) {
      self.first = first
      self.second = second
    }
    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      first = try container.decode(Int.self)
      second = try container.decode(Int.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(first)
      try container.encode(second)
    }
  }

  class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
  }

  final class Dog: Animal {
    var isLoud = false
    override init(name: String) { super.init(name: name) }
    private enum CodingKeys: CodingKey { case isLoud, animal }
    required init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      isLoud = try values.decode(Bool.self, forKey: .isLoud)
      try super.init(from: values.superDecoder(forKey: .animal))
    }
    override func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(isLoud, forKey: .isLoud)
      try super.encode(to: values.superEncoder(forKey: .animal))
    }
  }

  /// Keys that are not the names of the properties.
  struct Renamed: Codable, Equatable {
    var title: String
    var count: Int
    private enum CodingKeys: String, CodingKey { case title = "name", count }
  }

  /// Keys that no column can have.
  struct Dashed: Codable, Equatable {
    var title: String
    private enum CodingKeys: String, CodingKey { case title = "the-title" }
  }

  /// Leaves a property out.
  struct Partial: Codable, Equatable {
    var title: String
    var cached = 0
    private enum CodingKeys: CodingKey { case title }
  }

  /// Refuses an empty text, as it does the sample.
  struct Strict: Codable, Equatable {
    struct Empty: Error {}
    var title: String
    var size: Int
    init(title: String, size: Int) {
      self.title = title
      self.size = size
    }
    private enum CodingKeys: CodingKey { case title, size }
    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      title = try values.decode(String.self, forKey: .title)
      guard !title.isEmpty else { throw Empty() }
      size = try values.decode(Int.self, forKey: .size)
    }
  }

  /// A number or a text, as values of other programs' JSON are.
  enum Loose: Codable, Equatable {
    case number(Int)
    case text(String)
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int.self) {
        self = .number(number)
      } else {
        self = .text(try container.decode(String.self))
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .number(let number): try container.encode(number)
      case .text(let text): try container.encode(text)
      }
    }
  }

  /// Cases with numbers of their own.
  enum Traffic: Codable {
    case go, stop
    init(from decoder: any Decoder) throws {
      self = try decoder.singleValueContainer().decode(Int.self) == 1 ? .go : .stop
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(self == .go ? 1 : 2)
    }
  }

  /// Takes what it does not know for another case.
  enum Known: String, Codable {
    case old, unknown
    init(from decoder: any Decoder) throws {
      self = Known(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
    }
  }

  /// Nested containers by hand.
  struct Nested: Codable, Equatable {
    var depth: Int
    private enum Outer: CodingKey { case inner }
    private enum Inner: CodingKey { case depth }
    init(depth: Int) { self.depth = depth }
    init(from decoder: any Decoder) throws {
      depth = try decoder.container(keyedBy: Outer.self).nestedContainer(keyedBy: Inner.self, forKey: .inner)
        .decode(Int.self, forKey: .depth)
    }
    func encode(to encoder: any Encoder) throws {
      var outer = encoder.container(keyedBy: Outer.self)
      var inner = outer.nestedContainer(keyedBy: Inner.self, forKey: .inner)
      try inner.encode(depth, forKey: .depth)
    }
  }

  struct Box<Value: Codable & Equatable>: Codable, Equatable { var value: Value }

  struct Nothing: Codable, Equatable {}

  struct AllOptional: Codable, Equatable {
    var a: Int?
    var b: Point?
  }
}
