import CDESwiftData
import Foundation
import Synchronization

/// The versions by the tags of their classes.
enum MadeVersions {
  private static let table = Mutex<[ObjectIdentifier: GeneratedVersion]>([:])
  private static let next = Mutex(0)

  static func spec(of tag: Any.Type) -> GeneratedVersion {
    table.withLock { $0[ObjectIdentifier(tag)] }!
  }

  /// A tag that no version has.
  static func newTag(for version: GeneratedVersion) -> any GeneratedTag.Type {
    let number = next.withLock { next in
      next += 1
      return next
    }
    let tag = digits(number, Zero.self)
    table.withLock { $0[ObjectIdentifier(tag)] = version }
    return tag
  }

  /// A type for a number, made of the types of its digits.
  private static func digits<Tag>(_ number: Int, _ tag: Tag.Type) -> any GeneratedTag.Type {
    if number == 0 { return Digits<Tag>.self }
    return number % 2 == 0
      ? digits(number / 2, Pair<Zero, Tag>.self) : digits(number / 2, Pair<One, Tag>.self)
  }

  private enum Zero {}
  private enum One {}
  private enum Pair<Digit, Rest> {}
  private enum Digits<Number>: GeneratedTag {}
}

/// What is done with the classes of a tag.
protocol GeneratedTag: SendableMetatype {}

extension GeneratedTag {
  static var spec: GeneratedVersion { MadeVersions.spec(of: Self.self) }
  static var version: any VersionedSchema.Type { MadeSchema<Self>.self }

  /// The step that leads to this version.
  static func stage(from old: any GeneratedTag.Type) -> MigrationStage {
    let spec = spec
    guard spec.hasCode else { return .lightweight(fromVersion: old.version, toVersion: version) }
    return .custom(
      fromVersion: old.version, toVersion: version,
      willMigrate: !spec.hasCodeBefore
        ? nil
        : { context in
          let world = try old.world(in: context)
          try old.delete(spec.duplicates(in: world.houses), in: context)
        },
      didMigrate: spec.doubled.map { name in { context in try double(name, in: context) } })
  }

  private static func double(_ name: String, in context: ModelContext) throws {
    guard let attribute = spec.attributes.first(where: { $0.name == name }) else { return }
    for house in try context.fetch(FetchDescriptor<Made<Self>.House>()) {
      guard case .number(let number) = house.value(attribute.slot) else { continue }
      house.set(attribute.slot, .number(2 * number))
    }
  }

  static func delete(_ ids: Set<Int>, in context: ModelContext) throws {
    for house in try context.fetch(FetchDescriptor<Made<Self>.House>()) where ids.contains(house.id) {
      context.delete(house)
    }
    try context.save()
  }

  static func fill(_ context: ModelContext, _ world: GeneratedWorld) throws {
    var houses: [Int: Made<Self>.House] = [:]
    for (id, values) in world.houses.sorted(by: { $0.key < $1.key }) {
      let house = Made<Self>.House()
      house.id = id
      for attribute in spec.attributes { house.set(attribute.slot, values[attribute.name] ?? .missing) }
      context.insert(house)
      houses[id] = house
    }
    for (id, house) in world.guests.sorted(by: { $0.key < $1.key }) {
      let guest = Made<Self>.Guest()
      guest.id = id
      context.insert(guest)
      if let house { guest.house = houses[house] }
    }
    try context.save()
  }

  static func world(in context: ModelContext) throws -> GeneratedWorld {
    var world = GeneratedWorld()
    for house in try context.fetch(FetchDescriptor<Made<Self>.House>()) {
      for attribute in spec.attributes {
        world.houses[house.id, default: [:]][attribute.name] = house.value(attribute.slot)
      }
    }
    for guest in try context.fetch(FetchDescriptor<Made<Self>.Guest>()) {
      world.guests[guest.id] = .some(spec.hasGuests ? guest.house?.id : nil)
    }
    return world
  }
}

enum MadeSchema<Tag: GeneratedTag>: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(Tag.spec.number, 0, 0) }
  static var models: [any PersistentModel.Type] { [Made<Tag>.House.self, Made<Tag>.Guest.self] }
}

/// The plan of the versions that end with a tag.
enum MadePlan<Tag: GeneratedTag>: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { MadeChains.chain(Tag.self).map { $0.version } }
  static var stages: [MigrationStage] {
    let chain = MadeChains.chain(Tag.self)
    return zip(chain, chain.dropFirst()).map { $1.stage(from: $0) }
  }
}

/// The versions that follow each other, by the tag of the last one.
enum MadeChains {
  private static let table = Mutex<[ObjectIdentifier: [any GeneratedTag.Type]]>([:])

  static func chain(_ last: any GeneratedTag.Type) -> [any GeneratedTag.Type] {
    table.withLock { $0[ObjectIdentifier(last)] } ?? []
  }

  static func add(_ chain: [any GeneratedTag.Type]) {
    guard let last = chain.last else { return }
    table.withLock { $0[ObjectIdentifier(last)] = chain }
  }
}

extension GeneratedTag {
  static var plan: any SchemaMigrationPlan.Type { MadePlan<Self>.self }
}

// MARK: Properties

extension Made.House {
  func value(_ slot: GeneratedVersion.Slot) -> GeneratedValue {
    switch slot {
    case .number0: .number(number0)
    case .number1: .number(number1)
    case .maybe0: maybe0.map { .number($0) } ?? .missing
    case .maybe1: maybe1.map { .number($0) } ?? .missing
    case .text0: .text(text0)
    case .text1: .text(text1)
    case .real0: .real(real0)
    }
  }

  func set(_ slot: GeneratedVersion.Slot, _ value: GeneratedValue) {
    switch (slot, value) {
    case (.number0, .number(let value)): number0 = value
    case (.number1, .number(let value)): number1 = value
    case (.maybe0, .number(let value)): maybe0 = value
    case (.maybe1, .number(let value)): maybe1 = value
    case (.maybe0, .missing): maybe0 = nil
    case (.maybe1, .missing): maybe1 = nil
    case (.text0, .text(let value)): text0 = value
    case (.text1, .text(let value)): text1 = value
    case (.real0, .real(let value)): real0 = value
    default: fatalError("\(value) is no value of \(slot).")
    }
  }
}

extension GeneratedVersion {
  func houseMetadata<Tag>(_ tag: Tag.Type) -> [Schema.PropertyMetadata] {
    var result = [
      Schema.PropertyMetadata(name: "id", keypath: \Made<Tag>.House.id, defaultValue: nil, metadata: nil)
    ]
    for attribute in attributes {
      let path: AnyKeyPath
      let fallback: Any?
      switch attribute.slot {
      case .number0: (path, fallback) = (\Made<Tag>.House.number0, 7)
      case .number1: (path, fallback) = (\Made<Tag>.House.number1, 7)
      case .maybe0: (path, fallback) = (\Made<Tag>.House.maybe0, nil)
      case .maybe1: (path, fallback) = (\Made<Tag>.House.maybe1, nil)
      case .text0: (path, fallback) = (\Made<Tag>.House.text0, "new")
      case .text1: (path, fallback) = (\Made<Tag>.House.text1, "new")
      case .real0: (path, fallback) = (\Made<Tag>.House.real0, 0.5)
      }
      let metadata =
        attribute.isUnique
        ? Schema.Attribute(.unique, originalName: attribute.former)
        : Schema.Attribute(originalName: attribute.former)
      result.append(
        Schema.PropertyMetadata(
          name: attribute.name, keypath: path, defaultValue: fallback, metadata: metadata))
    }
    if hasGuests {
      result.append(
        Schema.PropertyMetadata(
          name: "guests", keypath: \Made<Tag>.House.guests, defaultValue: nil,
          metadata: Schema.Relationship(inverse: \Made<Tag>.Guest.house)))
    }
    return result
  }

  func guestMetadata<Tag>(_ tag: Tag.Type) -> [Schema.PropertyMetadata] {
    var result = [
      Schema.PropertyMetadata(name: "id", keypath: \Made<Tag>.Guest.id, defaultValue: nil, metadata: nil)
    ]
    if hasGuests {
      result.append(
        Schema.PropertyMetadata(
          name: "house", keypath: \Made<Tag>.Guest.house, defaultValue: nil, metadata: nil))
    }
    return result
  }
}
