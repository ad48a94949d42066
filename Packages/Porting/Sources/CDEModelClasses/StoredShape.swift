internal import Foundation

/// The type that decodes all of some JSON texts.
///
/// SwiftData stores the arrays and dictionaries of a `Codable` structure as JSON in a binary element, whose type no model has.
indirect enum StoredShape: Equatable {
  case flag, whole, number, text, uuid
  /// Nil for arrays that are all empty.
  case array(StoredShape?)
  /// The shapes of the values by key, and whether some objects lack the key.
  case object([String: (shape: StoredShape?, isOptional: Bool)])
  /// Values that no one type decodes.
  case mixed

  static func == (one: StoredShape, other: StoredShape) -> Bool {
    switch (one, other) {
    case (.flag, .flag), (.whole, .whole), (.number, .number), (.text, .text), (.uuid, .uuid),
      (.mixed, .mixed):
      true
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)):
      one.count == other.count
        && one.allSatisfy { key, value in
          other[key].map { $0.shape == value.shape && $0.isOptional == value.isOptional } == true
        }
    default: false
    }
  }

  /// The shape of both.
  func joined(to other: StoredShape) -> StoredShape {
    if self == other { return self }
    switch (self, other) {
    case (.whole, .number), (.number, .whole): return .number
    case (.text, .uuid), (.uuid, .text): return .text
    case (.array(let one), .array(let other)): return .array(Self.joined(one, other))
    case (.object(let one), .object(let other)):
      var all: [String: (shape: StoredShape?, isOptional: Bool)] = [:]
      for key in Set(one.keys).union(other.keys) {
        let (mine, theirs) = (one[key], other[key])
        all[key] = (
          Self.joined(mine?.shape, theirs?.shape),
          mine == nil || theirs == nil || mine!.isOptional || theirs!.isOptional
        )
      }
      return .object(all)
    default: return .mixed
    }
  }

  private static func joined(_ one: StoredShape?, _ other: StoredShape?) -> StoredShape? {
    guard let one, let other else { return one ?? other }
    return one.joined(to: other)
  }

  /// The shape of a JSON text, or nil for other bytes.
  init?(json: Data) {
    guard let value = try? JSONDecoder().decode(Value.self, from: json), let shape = value.shape else {
      return nil
    }
    self = shape
  }

  private struct Value: Decodable {
    /// Nil for null.
    let shape: StoredShape?

    init(from decoder: any Decoder) throws {
      if let values = try? [Value](from: decoder) {
        shape = .array(values.reduce(nil) { StoredShape.joined($0, $1.shape) })
        return
      }
      if let values = try? [String: Value](from: decoder) {
        shape = .object(values.mapValues { ($0.shape, $0.shape == nil) })
        return
      }
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        shape = nil
      } else if (try? container.decode(Bool.self)) != nil {
        shape = .flag
      } else if (try? container.decode(Int.self)) != nil {
        shape = .whole
      } else if (try? container.decode(Double.self)) != nil {
        shape = .number
      } else {
        shape = UUID(uuidString: try container.decode(String.self)) == nil ? .text : .uuid
      }
    }
  }
}
