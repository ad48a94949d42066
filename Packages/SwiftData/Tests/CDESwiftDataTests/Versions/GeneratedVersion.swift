@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation
import Synchronization

/// One version of a generated schema, and what its code does when a store gets to it.
struct GeneratedVersion: Sendable {
  /// Which property of the class has the values.
  enum Slot: CaseIterable, Sendable { case number0, number1, maybe0, maybe1, text0, text1, real0 }

  struct Attribute: Sendable, Equatable {
    var name: String
    var former: String?
    var slot: Slot
    var isUnique = false

    var fallback: GeneratedValue {
      switch slot {
      case .number0, .number1: .number(7)
      case .maybe0, .maybe1: .missing
      case .text0, .text1: .text("new")
      case .real0: .real(0.5)
      }
    }
  }

  var number = 1
  var attributes: [Attribute] = []
  var hasGuests = true
  /// Whether code runs before the migration to this version: it removes duplicates of values that are unique then.
  var hasCodeBefore = false
  /// The name of a number that the code after the migration doubles.
  var doubled: String?
  private var names = 0

  var hasCode: Bool { hasCodeBefore || doubled != nil }

  init(_ random: inout SplitMix) {
    for slot in [Slot.number0, .maybe0, .text0] { attributes.append(Attribute(name: newName(), slot: slot)) }
    hasGuests = Bool.random(using: &random)
  }

  private mutating func newName() -> String {
    names += 1
    return "\(["q", "b", "x", "e"][names % 4])\(names)"
  }

  /// Whether stores can't tell the versions apart.
  func hasEntities(of other: GeneratedVersion) -> Bool {
    func plain(_ version: GeneratedVersion) -> [Attribute] {
      version.attributes.map { Attribute(name: $0.name, slot: $0.slot, isUnique: $0.isUnique) }
    }
    return plain(self) == plain(other) && hasGuests == other.hasGuests
  }

  /// The next version, with one to three changes.
  func next(_ random: inout SplitMix) -> GeneratedVersion {
    var version = self
    version.number += 1
    version.hasCodeBefore = false
    version.doubled = nil
    for index in version.attributes.indices { version.attributes[index].former = nil }
    var touched: Set<String> = []
    for _ in 0..<Int.random(in: 1...3, using: &random) { version.change(&random, &touched) }
    if Int.random(in: 0..<3, using: &random) == 0 {
      version.doubled =
        version.attributes.first { [.number0, .number1].contains($0.slot) && !$0.isUnique }?.name
    }
    return version
  }

  private mutating func change(_ random: inout SplitMix, _ touched: inout Set<String>) {
    let free = Slot.allCases.filter { slot in !attributes.contains { $0.slot == slot } }
    let index = attributes.indices.filter { !touched.contains(attributes[$0].name) }.randomElement(
      using: &random)
    switch Int.random(in: 0..<7, using: &random) {
    case 0, 1:
      guard let slot = free.randomElement(using: &random) else { return }
      attributes.append(Attribute(name: newName(), slot: slot))
      touched.insert(attributes.last!.name)
    case 2:
      guard let index, attributes.count > 1 else { return }
      attributes.remove(at: index)
    case 3:
      guard let index else { return }
      attributes[index].former = attributes[index].name
      attributes[index].name = newName()
      touched.insert(attributes[index].name)
    case 4:
      // A number gets another type, and an optional one becomes required.
      guard let index, !attributes[index].isUnique else { return }
      switch attributes[index].slot {
      case .number0, .number1: if free.contains(.real0) { attributes[index].slot = .real0 }
      case .maybe0, .maybe1: if free.contains(.number1) { attributes[index].slot = .number1 }
      default: return
      }
      touched.insert(attributes[index].name)
    case 5: hasGuests.toggle()
    default:
      guard let index, [.number0, .number1, .text0, .text1].contains(attributes[index].slot),
        !attributes.contains(where: \.isUnique)
      else { return }
      attributes[index].isUnique = true
      hasCodeBefore = true
      touched.insert(attributes[index].name)
    }
  }
}

enum GeneratedValue: Hashable, Sendable {
  case number(Int)
  case text(String)
  case real(Double)
  case missing
}

/// The objects of a store, by their numbers.
struct GeneratedWorld: Equatable, Sendable {
  var houses: [Int: [String: GeneratedValue]] = [:]
  /// The house of each guest.
  var guests: [Int: Int?] = [:]

  init() {}

  init(_ version: GeneratedVersion, _ random: inout SplitMix) {
    for id in 1...8 {
      for attribute in version.attributes {
        let number = Int.random(in: 0..<6, using: &random)
        houses[id, default: [:]][attribute.name] =
          switch attribute.slot {
          case .number0, .number1: .number(number)
          case .maybe0, .maybe1: number == 0 ? .missing : .number(number)
          case .text0, .text1: .text("t\(number)")
          case .real0: .real(Double(number))
          }
      }
    }
    for id in 1...12 {
      guests[id] = .some(
        version.hasGuests && Bool.random(using: &random) ? Int.random(in: 1...8, using: &random) : nil)
    }
  }

  /// What another world has otherwise.
  func differences(from other: GeneratedWorld) -> [String] {
    var result: [String] = []
    for id in Set(houses.keys).union(other.houses.keys).sorted() where houses[id] != other.houses[id] {
      result.append("house \(id): \(houses[id] ?? [:]), expected \(other.houses[id] ?? [:])")
    }
    for id in Set(guests.keys).union(other.guests.keys).sorted() where guests[id] != other.guests[id] {
      let houses = [guests[id], other.guests[id]].map { $0.flatMap(\.self).map { "\($0)" } ?? "none" }
      result.append("guest \(id): in \(houses[0]), expected in \(houses[1])")
    }
    return result
  }

  /// What the migration from one version to the next leaves.
  mutating func migrate(from old: GeneratedVersion, to new: GeneratedVersion) {
    if new.hasCodeBefore {
      let removed = new.duplicates(in: houses)
      for id in removed { houses[id] = nil }
      for (guest, house) in guests where house.map(removed.contains) == true { guests[guest] = .some(nil) }
    }
    houses = houses.mapValues { values in
      var result: [String: GeneratedValue] = [:]
      for attribute in new.attributes {
        guard let value = values[attribute.former ?? attribute.name] else {
          result[attribute.name] = attribute.fallback
          continue
        }
        switch (attribute.slot, value) {
        case (.real0, .number(let number)): result[attribute.name] = .real(Double(number))
        case (.number0, .missing), (.number1, .missing): result[attribute.name] = attribute.fallback
        default: result[attribute.name] = value
        }
        if attribute.name == new.doubled, case .number(let number)? = result[attribute.name] {
          result[attribute.name] = .number(2 * number)
        }
      }
      if let doubled = new.doubled,
        values[new.attributes.first { $0.name == doubled }?.former ?? doubled] == nil,
        case .number(let number)? = result[doubled]
      {
        result[doubled] = .number(2 * number)
      }
      return result
    }
    if !(old.hasGuests && new.hasGuests) { guests = guests.mapValues { _ in nil } }
  }
}

extension GeneratedVersion {
  /// Houses whose value of the attribute that is unique in this version another one of a lower number has.
  ///
  /// - Parameter areOld: whether the values have the names of the version before.
  func duplicates(in houses: [Int: [String: GeneratedValue]], areOld: Bool = true) -> Set<Int> {
    guard let unique = attributes.first(where: \.isUnique) else { return [] }
    var known: Set<GeneratedValue> = []
    var result: Set<Int> = []
    for (id, values) in houses.sorted(by: { $0.key < $1.key }) {
      let name = areOld ? unique.former ?? unique.name : unique.name
      guard let value = values[name] else { continue }
      if !known.insert(value).inserted { result.insert(id) }
    }
    return result
  }
}
