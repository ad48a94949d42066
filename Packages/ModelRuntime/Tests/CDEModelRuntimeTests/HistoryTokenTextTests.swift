import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import Foundation
import Testing

@Suite("Tokens of histories as texts", .onSQLite)
struct HistoryTokenTextTests {
  private static let first = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
  private static let second = "9B2B5C1E-7D7A-4B0E-8F2C-1E5B2F9D4A60"

  /// Made by another program from the form's description.
  private static let known: [(text: String, places: [String: HistoryTokenText.Place])] = [
    ("1AD8lBOBPiUHTmgwDBegsMwEOz2te8Q", [first: (7, nil)]),
    ("1AD8lBOBPiUHTmgwDBegsMwEPQcbyokAgAABQqvJR", [first: (7, 770_000_000.25)]),
    (
      "1AD8lBOBPiUHTmgwDBegsMwHZBEHG8qJAIAAAAJsrXB59eksOjyweWy-dSmAA8grV9w",
      [first: (300, 770_000_000.25), second: (0, nil)]
    ),
    ("1gRydxQ", [:]),
  ]

  private static func isSame(
    _ left: [String: HistoryTokenText.Place]?, _ right: [String: HistoryTokenText.Place]
  ) -> Bool {
    left?.count == right.count
      && right.allSatisfy { store, place in left?[store].map { $0 == place } ?? false }
  }

  @Test("The text of a place stays what it is")
  func form() throws {
    for (text, places) in Self.known {
      #expect(HistoryTokenText.text(places) == text)
      let token = try #require(NSPersistentHistoryToken(stringRepresentation: text))
      #expect(token.stringRepresentation == text)
      #expect(Self.isSame(HistoryTokenText.places(token.stringRepresentation), places))
    }
  }

  @Test("A token of several stores comes back from its text, equal, and continues where it was")
  func roundTrip() async throws {
    let stack = try Stack([Item.self, Category.self, Tag.self], options: NSPersistentHistoryTrackingKey)
    let coordinator = stack.container.persistentStoreCoordinator
    _ = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil,
      at: stack.folder.appendingPathComponent("Second.sqlite"),
      options: [NSPersistentHistoryTrackingKey: true as NSNumber])
    let context = stack.context()
    func save(_ counts: [Int]) throws {
      for (store, count) in zip(coordinator.persistentStores, counts) {
        for _ in 0..<count {
          context.assign(Item(context: context), to: store)
          try context.save()
        }
      }
    }
    let token = try await context.perform {
      try save([3, 2])
      let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
      try save([1, 4])
      return token
    }
    let text = token.stringRepresentation
    #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
    #expect(text.utf8.count < 90)
    let back = try #require(NSPersistentHistoryToken(stringRepresentation: text))
    #expect(back == token && back.hash == token.hash && back.compare(token) == .orderedSame)
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: back)
    request.resultType = .count
    let count = try await context.perform {
      (try context.execute(request) as? NSPersistentHistoryResult)?.result as? NSNumber
    }
    #expect(count?.intValue == 5)
    // The times are kept, by which a restored copy of a store is noticed.
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let archived = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
    #expect(archived?.stringRepresentation == text)
  }

  @Test("Every place that a history can have has a text of its own, which gives the place back")
  func places() {
    let numbers: [Int64] = [0, 1, 63, 64, 127, 128, 16_383, 16_384, 1 << 32, Int64.max / 2]
    let times: [Double?] = [
      nil, 0, -1, 0.1, 770_000_000.123456, .greatestFiniteMagnitude, -.leastNonzeroMagnitude,
    ]
    let stores = [Self.first, Self.first.lowercased(), "main", "Größe", String(repeating: "x", count: 255)]
    var texts: Set<String> = []
    for number in numbers {
      for time in times {
        for store in stores {
          let places: [String: HistoryTokenText.Place] = [store: (number, time)]
          let text = HistoryTokenText.text(places)
          #expect(text.map { Self.isSame(HistoryTokenText.places($0), places) } == true)
          texts.insert(text ?? "")
        }
      }
    }
    #expect(texts.count == numbers.count * times.count * stores.count)
    let many = Dictionary(uniqueKeysWithValues: (0..<100).map { ("store \($0)", (Int64($0), Double?.none)) })
    #expect(HistoryTokenText.text(many).map { Self.isSame(HistoryTokenText.places($0), many) } == true)
    let long = String(repeating: "x", count: 256)
    #expect(HistoryTokenText.text([Self.first: (-1, nil)]) == nil)
    #expect(HistoryTokenText.text(["": (1, nil)]) == nil)
    #expect(HistoryTokenText.text([long: (1, nil)]) == nil)
  }

  @Test("A text that was cut, changed in one letter or is something else is no token")
  func tampered() {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n\u{0}é")
    for (text, _) in Self.known {
      let letters = Array(text)
      for count in letters.indices {
        #expect(NSPersistentHistoryToken(stringRepresentation: String(letters[..<count])) == nil)
      }
      for index in letters.indices {
        for letter in alphabet where letter != letters[index] {
          var other = letters
          other[index] = letter
          #expect(NSPersistentHistoryToken(stringRepresentation: String(other)) == nil, "\(String(other))")
        }
      }
      for letter in alphabet {
        #expect(NSPersistentHistoryToken(stringRepresentation: text + String(letter)) == nil)
        #expect(NSPersistentHistoryToken(stringRepresentation: String(letter) + text) == nil)
      }
    }
    for text in ["", "1", "2gRydxQ", "0", "null", "YnBsaXN0MDA", String(repeating: "1", count: 100_000)] {
      #expect(NSPersistentHistoryToken(stringRepresentation: text) == nil)
    }
  }

  @Test("Bytes with a right checksum that name no place, or one in another form, are no token")
  func forged() {
    func text(_ bytes: [UInt8]) -> String {
      var checksum: UInt32 = 0x811c_9dc5
      for byte in bytes { checksum = (checksum ^ UInt32(byte)) &* 0x0100_0193 }
      let all = bytes + (0..<4).reversed().map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
      let base64 = Data(all).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      return "1" + base64.replacing("=", with: "")
    }
    #expect(NSPersistentHistoryToken(stringRepresentation: text([1, 0x61, 2])) != nil)
    let long = [UInt8](repeating: 0x80, count: 20)
    let cases: [[UInt8]] = [
      [0], [1], [1, 0x61], [5, 0x61, 2], [0, 1, 2, 3], [1, 0xFF, 2],  // cut, and no UTF-8
      [1, 0x61, 2, 1, 0x61, 2], [1, 0x62, 2, 1, 0x61, 2],  // a store twice, and another order
      [1, 0x61, 0x82, 0], [1, 0x61] + long,  // longer forms of numbers
      [1, 0x61, 3], [1, 0x61, 3, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0],  // times that are missing, and no number
      [1, 0x61, 3, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0],
      [1, 0x61, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],  // beyond 64 bits
      [36] + Array(Self.first.utf8) + [2],  // a UUID in letters
    ]
    for bytes in cases {
      #expect(NSPersistentHistoryToken(stringRepresentation: text(bytes)) == nil, "\(bytes)")
    }
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let count = Int.random(in: 0...40, using: &random)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      // What is taken for a token has exactly this text.
      let made = NSPersistentHistoryToken(stringRepresentation: text(bytes))
      #expect(made == nil || made?.stringRepresentation == text(bytes), "\(bytes)")
    }
  }

  @Test("The text of a place that the history does not have is an expired token when it is read")
  func expired() throws {
    let stack = try Stack([Item.self, Category.self, Tag.self], options: NSPersistentHistoryTrackingKey)
    let context = stack.context()
    for (text, _) in Self.known.dropLast() {
      let token = NSPersistentHistoryToken(stringRepresentation: text)
      let error = #expect(throws: ManagedObjectError.self) {
        try context.performAndWait {
          _ = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
        }
      }
      #expect(error?.code == .historyTokenExpired)
    }
  }
}
