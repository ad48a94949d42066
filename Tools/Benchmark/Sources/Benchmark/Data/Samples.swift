import Foundation

/// A small generator with a fixed sequence, so that every run and every contender works on the same data.
struct SequenceGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// One item as plain values: what raw SQLite decodes into, and what every contender inserts.
struct ItemValues {
  var id: Int64
  var title: String
  var count: Int
  var score: Double
  var createdAt: Date
  var note: String?
  var uuid: UUID
  var category: Int64?
}

/// The data of a run: items in categories, made once.
struct Samples {
  let items: [ItemValues]
  let categoryNames: [String]
  /// Existing keys, drawn at random with repetition.
  let randomKeys: [Int64]
  /// A tenth of the keys, each once, in random order.
  let distinctKeys: [Int64]

  var itemCount: Int { items.count }
  var categoryCount: Int { categoryNames.count }
  var filedCount: Int { items.lazy.filter { $0.category != nil }.count }

  init(items itemCount: Int, categories categoryCount: Int) {
    var generator = SequenceGenerator(seed: 42)
    items = (1...itemCount).map { id in
      let (first, second) = (generator.next(), generator.next())
      let uuid = withUnsafeBytes(of: (first, second)) { $0.load(as: uuid_t.self) }
      return ItemValues(
        id: Int64(id), title: Self.phrase(&generator), count: generator.below(10_000),
        score: Double(generator.below(1_000_000)) / 7,
        createdAt: Date(timeIntervalSinceReferenceDate: 7e8 + Double(generator.below(100_000_000)) / 3),
        note: generator.below(10) < 3 ? nil : Self.phrase(&generator), uuid: UUID(uuid: uuid),
        category: generator.below(50) == 0 ? nil : Int64(1 + generator.below(categoryCount)))
    }
    var names = SequenceGenerator(seed: 7)
    categoryNames = (0..<categoryCount).map { _ in Self.phrase(&names) }
    var keys = SequenceGenerator(seed: 99)
    randomKeys = (0..<itemCount).map { _ in Int64(1 + keys.below(itemCount)) }
    distinctKeys = Self.draw(itemCount / 10, of: itemCount)
  }

  private static func draw(_ count: Int, of all: Int) -> [Int64] {
    var generator = SequenceGenerator(seed: 5)
    var chosen = Set<Int>()
    while chosen.count < count { chosen.insert(1 + generator.below(all)) }
    var keys = chosen.sorted().map(Int64.init)
    for index in stride(from: keys.count - 1, to: 0, by: -1) {
      keys.swapAt(index, generator.below(index + 1))
    }
    return keys
  }

  private static let words = [
    "project", "release", "customer", "invoice", "meeting", "budget", "quarterly", "draft", "review",
    "shipment",
    "contract", "garden", "Zürich", "café", "schedule", "holiday", "planning", "notes", "summary", "urgent",
  ]

  /// 20 to 60 bytes of words.
  private static func phrase(_ generator: inout SequenceGenerator) -> String {
    let length = 20 + generator.below(34)
    var text = ""
    while text.utf8.count < length {
      if !text.isEmpty { text += " " }
      text += words[generator.below(words.count)]
    }
    return text
  }
}
