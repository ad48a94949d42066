/// Makes the model: proportions follow what published models contain.
struct ModelMaker {
  private var random: Random
  private var model = Model()

  init(seed: UInt64) { random = Random(seed: seed) }

  private static let nouns = [
    "Account", "Address", "Album", "Answer", "Article", "Badge", "Basket", "Booking", "Bundling", "Channel",
    "Chapter", "Comment", "Course", "Coupon", "Device", "Document", "Draft", "Episode", "Exercise", "Feed",
    "Folder", "Game", "Habit", "Invoice", "Journal", "Label", "Lesson", "Library", "List", "Location",
    "Medium", "Meeting", "Member", "Memo", "Message", "Meter", "Note", "Order", "Payment", "Playlist",
    "Podcast", "Post", "Product", "Profile", "Project", "Question", "Quiz", "Reading", "Receipt", "Recipe",
    "Record", "Reminder", "Report", "Review", "Season", "Session", "Station", "Task", "Ticket", "Workout",
  ]

  private static let words: [AttributeKind: [String]] = [
    .string: [
      "title", "summary", "remoteID", "slug", "note_text", "colorHex", "languageCode", "default", "where",
    ],
    .int16: ["rank", "retryCount", "page", "stars"], .int32: ["position", "duration", "wordCount", "repeat"],
    .int64: ["serverID", "byteCount", "revision", "viewCount"], .float: ["ratio", "opacity", "volume"],
    .double: ["latitude", "longitude", "progress", "score"], .decimal: ["price", "balance", "tax"],
    .boolean: ["isRead", "isArchived", "needsSync", "hasAttachment"],
    .date: ["createdAt", "updatedAt", "dueDate", "lastSeen"], .binary: ["thumbnail", "payload", "signature"],
    .uuid: ["uuid", "token", "deviceUUID"], .uri: ["webURL", "imageURL", "feedURL"],
    .strings: ["aliases", "keywords"], .archive: ["metadata", "options"], .state: ["state", "syncState"],
    .level: ["level", "priority"], .mode: ["mode", "source"],
  ]

  /// How often a kind occurs among a thousand attributes.
  private static let weights: [(AttributeKind, Int)] = [
    (.string, 380), (.boolean, 120), (.int64, 110), (.date, 90), (.int16, 40), (.int32, 40), (.double, 40),
    (.binary, 35), (.decimal, 25), (.float, 20), (.uuid, 20), (.uri, 20), (.strings, 15), (.archive, 10),
    (.state, 15), (.level, 10), (.mode, 10),
  ]

  mutating func make() -> Model {
    for noun in Self.nouns { model.entities.append(Entity(name: noun, className: noun)) }
    arrangeTrees()
    nameClasses()
    for index in model.entities.indices { addAttributes(to: index) }
    for index in model.entities.indices { addRelationship(from: index) }
    addRareRelationships()
    return model
  }

  /// Six trees of three levels: a root, two children, and two grandchildren below the first child.
  private mutating func arrangeTrees() {
    for tree in 0..<6 {
      let root = tree * 5
      model.entities[root].isAbstract = tree % 2 == 0
      for child in [root + 1, root + 2] { model.entities[child].parent = root }
      for grandchild in [root + 3, root + 4] { model.entities[grandchild].parent = root + 1 }
    }
  }

  private mutating func nameClasses() {
    for index in model.entities.indices {
      let name = model.entities[index].name
      // Class generation: 28 of a hundred; category: the rest that is not by hand.
      switch index % 25 {
      case 3, 8, 13, 18, 20, 23, 24: model.entities[index].generation = .definition
      case 6, 15: model.entities[index].generation = .category
      default: break
      }
      if random.chance(40) {
        model.entities[index].className = random.pick(["CD\(name)", "\(name)MO", "Managed\(name)"])
      }
      guard model.entities[index].generation == .manual else { continue }
      if index % 11 == 4 { model.entities[index].form = .dot }
      if index % 11 == 9 { model.entities[index].form = .module }
      // Classes made by Xcode could not name these, so their neighbours are written by hand.
      model.entities[index].isNested = index == 35 || index == 39
    }
    for index in model.entities.indices where model.entities[index].isNested {
      // The runtime knows a nested class by its Objective-C name.
      model.entities[index].form = .plain
    }
  }

  // MARK: Attributes

  private mutating func addAttributes(to index: Int) {
    let entity = model.entities[index]
    var used = Set(model.attributes(of: entity).map(\.name))
    var attributes: [Attribute] = []
    if entity.parent == nil {
      // What tests find an object by.
      let key = "\(entity.name.lowercased())Key"
      attributes.append(Attribute(name: key, kind: .string, isOptional: false))
      used.insert(key)
      if random.chance(40) { model.entities[index].uniqueness.append([key]) }
    }
    let count = 5 + random.below(6)
    // Each kind occurs somewhere, whatever the seed.
    let fixed = AttributeKind.allCases[index % AttributeKind.allCases.count]
    for number in 0..<count {
      let kind = number == 0 ? fixed : weightedKind()
      var attribute = Attribute(name: name(for: kind, number: index * 16 + number, used: &used), kind: kind)
      shape(&attribute, generation: entity.generation)
      attributes.append(attribute)
    }
    model.entities[index].attributes = attributes
    addIndexes(to: index)
  }

  private mutating func weightedKind() -> AttributeKind {
    var number = random.below(Self.weights.reduce(0) { $0 + $1.1 })
    for (kind, weight) in Self.weights {
      if number < weight { return kind }
      number -= weight
    }
    return .string
  }

  private mutating func name(for kind: AttributeKind, number: Int, used: inout Set<String>) -> String {
    let word = random.pick(Self.words[kind] ?? ["value"])
    if used.insert(word).inserted { return word }
    let numbered = "\(word)\(number)"
    used.insert(numbered)
    return numbered
  }

  private mutating func shape(_ attribute: inout Attribute, generation: CodeGeneration) {
    attribute.isOptional = random.chance(70)
    if random.chance(10) { attribute.userInfo = [("sync.remoteKey", attribute.name), ("empty", "")] }
    if random.chance(3) { attribute.extra.append(("elementID", "old_\(attribute.name)")) }
    if random.chance(3) { attribute.extra.append(("versionHashModifier", "2")) }
    if random.chance(3) { attribute.extra.append(("spotlightIndexingEnabled", "YES")) }
    if random.chance(3) { attribute.extra.append(("preserveAfterDeletion", "YES")) }
    if attribute.kind.isNumber {
      attribute.isScalar = random.chance(60)
      if random.chance(70) {
        attribute.standard =
          attribute.kind == .boolean ? random.pick(["YES", "NO"]) : random.pick(["0", "1", "0.0"])
      }
      if attribute.kind == .int16, random.chance(50) {
        attribute.extra += [("minValueString", "-100"), ("maxValueString", "1000")]
      }
    }
    switch attribute.kind {
    case .string:
      if random.chance(30) { attribute.standard = random.pick(["", "none", "de &amp; fr"]) }
      if random.chance(10) { attribute.extra += [("minValueString", "1"), ("maxValueString", "200")] }
      if random.chance(3) { attribute.extra.append(("regularExpressionString", "[a-z0-9 ]*")) }
      attribute.isTransient = attribute.standard == nil && attribute.isOptional && random.chance(8)
    case .date:
      attribute.isScalar = generation != .manual && random.chance(10)
      if random.chance(20) { attribute.extra.append(("defaultDateTimeInterval", "631152000")) }
    case .decimal: attribute.standard = random.chance(60) ? "0.0" : nil
    case .binary: if random.chance(30) { attribute.extra.append(("allowsExternalBinaryDataStorage", "YES")) }
    case .strings:
      attribute.extra += [("valueTransformerName", "StringsTransformer"), ("customClassName", "[String]")]
    case .archive: attribute.extra.append(("valueTransformerName", "NSSecureUnarchiveFromData"))
    case .state, .level:
      (attribute.isScalar, attribute.isOptional, attribute.standard) = (true, false, "0")
    case .mode: (attribute.isOptional, attribute.standard) = (false, "automatic")
    default: break
    }
  }

  private mutating func addIndexes(to index: Int) {
    let attributes = model.entities[index].attributes.filter { !$0.isTransient && $0.kind != .binary }
    guard attributes.count > 3, random.chance(30) else { return }
    model.entities[index].indexes.append([attributes[1].name])
    if random.chance(40) { model.entities[index].indexes.append([attributes[0].name, attributes[2].name]) }
  }

  // MARK: Relationships

  /// One pair of relationships from each entity to a later one, in all combinations of to-one, set and ordered.
  private mutating func addRelationship(from index: Int) {
    let destination = (index * 7 + 11) % model.entities.count
    let forms: [(Relationship.Form, Relationship.Form)] = [
      (.toOne, .set), (.set, .toOne), (.ordered, .toOne), (.set, .set), (.toOne, .toOne), (.ordered, .set),
    ]
    let (form, back) = forms[index % forms.count]
    let name = "\(plain(model.entities[destination].name))\(form == .toOne ? "" : "s")Of\(index)"
    let inverse = "\(plain(model.entities[index].name))\(back == .toOne ? "" : "s")To\(index)"
    let spellings: [Relationship.Spelling] = [
      .optionalFoundationSet, .foundationSet, .optionalTypedSet, .typedSet,
    ]
    model.entities[index].relationships.append(
      Relationship(
        name: name, form: form, destination: destination, inverse: inverse,
        rule: form != .toOne && random.chance(35) ? "Cascade" : "Nullify", spelling: random.pick(spellings)))
    model.entities[destination].relationships.append(
      Relationship(
        name: inverse, form: back, destination: index, inverse: name, spelling: random.pick(spellings)))
  }

  /// To the same entity, and without an inverse.
  private mutating func addRareRelationships() {
    for index in [32, 41, 50] {
      model.entities[index].relationships += [
        Relationship(name: "parentItem", form: .toOne, destination: index, inverse: "childItems"),
        Relationship(
          name: "childItems", form: index == 41 ? .ordered : .set, destination: index, inverse: "parentItem",
          rule: "Cascade"),
      ]
    }
    model.entities[51].special = .derived
    model.entities[54].special = .composite
    for index in [33, 44] {
      model.entities[index].relationships.append(
        Relationship(name: "related", form: .toOne, destination: 55, inverse: nil))
    }
  }

  private func plain(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }
}
