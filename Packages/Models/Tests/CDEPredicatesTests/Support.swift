import CDEPredicates
import Foundation

/// A small object graph without a store.
final class Thing: PredicateValueProviding, PredicateObjectConvertible, CustomStringConvertible {
  struct Reference: PredicateObjectReference {
    var number: Int
    var predicateDescription: String { "<thing \(number)>" }
  }

  let number: Int
  var attributes: [String: Any]
  var parent: Thing?
  var tags: [Thing] = []

  init(_ number: Int = 0, _ attributes: [String: Any] = [:], parent: Thing? = nil, tags: [Thing] = []) {
    self.number = number
    self.attributes = attributes
    self.parent = parent
    self.tags = tags
  }

  var predicateObjectReference: any PredicateObjectReference { Reference(number: number) }
  var description: String { "thing \(number)" }

  func predicateValue(forKey key: String) throws -> PredicateValue {
    switch key {
    case "parent": parent.map { .object($0) } ?? .null
    case "tags": .collection(tags.map { .object($0) })
    default: try PredicateValue(attributes[key])
    }
  }
}

/// The printed form; the property on `NSPredicate` itself is deprecated on Linux.
func format(_ predicate: NSPredicate) -> String {
  if let compound = predicate as? TreeCompoundPredicate { return compound.predicateFormat }
  return (predicate as? TreePredicate)?.predicateFormat ?? "not a tree"
}

/// Evaluates a format with an object.
func holds(_ predicateFormat: String, _ object: Any?, _ arguments: Any?...) throws -> Bool {
  try PredicateTree(format: predicateFormat, arguments: arguments).evaluate(with: PredicateValue(object))
}

/// A reproducible source of randomness.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
