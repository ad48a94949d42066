/// A text in XML as its tags and the text between them, to be damaged by whole elements and attributes.
struct XMLPieces {
  /// Tags and texts, in the order of the file. A comment or a declaration counts as a text.
  private let pieces: [[UInt8]]

  init(_ text: [UInt8]) {
    var pieces: [[UInt8]] = []
    var start = 0
    var quote: UInt8?
    var isTag = false
    for (place, byte) in text.enumerated() {
      if !isTag, byte == UInt8(ascii: "<") {
        if start < place { pieces.append(Array(text[start..<place])) }
        (start, isTag) = (place, true)
      } else if isTag, let current = quote {
        if byte == current { quote = nil }
      } else if isTag, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if isTag, byte == UInt8(ascii: ">") {
        pieces.append(Array(text[start...place]))
        (start, isTag) = (place + 1, false)
      }
    }
    if start < text.count { pieces.append(Array(text[start...])) }
    self.pieces = pieces
  }

  /// Names of elements and attributes, among them those of readers of later formats, and of none.
  static let names = [
    "model", "entity", "attribute", "relationship", "fetchedProperty", "fetchRequest", "fetchIndex",
    "fetchIndexElement", "uniquenessConstraints", "uniquenessConstraint", "constraint", "compoundIndexes",
    "compoundIndex", "index", "userInfo", "entry", "configuration", "memberEntity", "composite", "elements",
    "element", "database", "object", "databaseInfo", "metadata", "plist", "later", "name", "parentEntity",
    "isAbstract", "attributeType", "defaultValueString", "defaultDateTimeInterval", "minValueString",
    "maxValueString", "minDateTimeInterval", "maxDateTimeInterval", "regularExpressionString", "optional",
    "transient", "toMany", "maxCount", "minCount", "ordered", "destinationEntity", "inverseName",
    "inverseEntity", "deletionRule", "elementID", "versionHashModifier", "derivationExpression", "derived",
    "predicateString", "partialIndexPredicate", "expression", "property", "type", "order", "value", "key",
    "id", "idrefs", "renamingIdentifier", "codeGenerationType", "representedClassName", "customClassName",
    "usesScalarValueType", "valueTransformerName", "fetchLimit", "fetchBatchSize", "resultType",
  ]

  /// Numbers that do not fit, text that means something elsewhere, and entities of the file's own.
  static let values = [
    "99999999999999999999999999999999", "-9223372036854775808", "9223372036854775808", "1e309", "-1e400",
    "0x7fffffff", "4294967296", "1e11", "1e-320", "&bomb8;", "&#x10FFFF;", "&#1114112;", "&amp;amp;", "YES",
    "NO", "SELF", "$FETCH_SOURCE", "count:(count:(count:(x)))", "a.b.c.d.e", "@count.@count", "{1, {2, {3}}}",
    "x BETWEEN {1}", "NOT NOT NOT TRUEPREDICATE",
    "SUBQUERY(a, $x, SUBQUERY($x.a, $y, $y.b == $x.c).@count > 0)",
    "FUNCTION(SELF, 'x', 1)", "CAST(1, 'NSDate')", "%@", "%K", "x ==[cdlnx] 'y'", "\u{0301}", "z1 z1 z1",
    "Integer 64", "Composite", "Transformable", "Boolean", "Deny", "category", "class", "RTree",
  ]

  /// The file with some of its elements and attributes removed, repeated, moved, nested or renamed.
  func damaged(_ random: inout RoundRandom) -> [UInt8] {
    var result = pieces
    for _ in 0...random.below(3) {
      guard !result.isEmpty else { break }
      change(&result, &random)
    }
    return Array(result.joined())
  }

  private func change(_ pieces: inout [[UInt8]], _ random: inout RoundRandom) {
    let place = random.below(pieces.count)
    switch random.below(11) {
    case 0: pieces.remove(at: place)
    case 1: pieces.insert(pieces[place], at: random.below(pieces.count))
    case 2: pieces.removeSubrange(Self.element(at: place, of: pieces))
    case 3:
      let element = Self.element(at: place, of: pieces)
      let copy = Array(pieces[element])
      // Rarely so often that limits of the readers are reached.
      let times = random.below(40) == 0 ? 20_000 / copy.count : 1 + random.below(3)
      for _ in 0..<times { pieces.insert(contentsOf: copy, at: element.upperBound) }
    case 4:
      let element = Self.element(at: place, of: pieces)
      let moved = Array(pieces[element])
      pieces.removeSubrange(element)
      pieces.insert(contentsOf: moved, at: random.below(pieces.count + 1))
    case 5:
      let element = Self.element(at: place, of: pieces)
      guard element.count > 1 else { return }
      let depth = random.below(8) == 0 ? 1 + random.below(3000) : 1 + random.below(5)
      let (first, last) = (pieces[element.lowerBound], pieces[element.upperBound - 1])
      pieces.insert(contentsOf: Array(repeating: last, count: depth), at: element.upperBound)
      pieces.insert(contentsOf: Array(repeating: first, count: depth), at: element.lowerBound)
    case 6: pieces.insert(Self.declaration(&random), at: random.below(min(3, pieces.count)))
    default: changeAttribute(&pieces[place], &random)
    }
  }

  /// The pieces from a start tag to its end; the piece alone if it is none, or has no end.
  private static func element(at place: Int, of pieces: [[UInt8]]) -> Range<Int> {
    let alone = place..<(place + 1)
    guard isStart(pieces[place]), !pieces[place].suffix(2).elementsEqual("/>".utf8) else { return alone }
    var depth = 0
    for end in place..<pieces.count {
      if isStart(pieces[end]) {
        if !pieces[end].suffix(2).elementsEqual("/>".utf8) { depth += 1 }
      } else if pieces[end].starts(with: "</".utf8) {
        depth -= 1
        if depth == 0 { return place..<(end + 1) }
      }
    }
    return alone
  }

  private static func isStart(_ piece: [UInt8]) -> Bool {
    piece.count > 2 && piece[0] == UInt8(ascii: "<") && !"/!?".utf8.contains(piece[1])
  }

  /// A document type whose entities would expand to 10^9 characters, or contain each other, or another file.
  private static func declaration(_ random: inout RoundRandom) -> [UInt8] {
    let levels = (1...8).map { level in
      "<!ENTITY bomb\(level) \"\(String(repeating: "&bomb\(level - 1);", count: 10))\">"
    }
    let entities = [
      "<!ENTITY bomb0 \"aaaaaaaaaa\">" + levels.joined(), "<!ENTITY bomb8 \"&bomb8;\">",
      "<!ENTITY bomb8 SYSTEM \"file:///dev/zero\">", "<!ENTITY % p SYSTEM \"file:///dev/zero\"> %p;",
    ]
    switch random.below(4) {
    case 0: return Array("<!DOCTYPE model SYSTEM \"file:///dev/zero\">".utf8)
    case 1: return Array("<!DOCTYPE ".utf8)
    default: return Array("<!DOCTYPE model [\(entities[random.below(entities.count)])]>".utf8)
    }
  }

  /// Removes, repeats, renames or sets one attribute of a tag, or renames the tag.
  private func changeAttribute(_ piece: inout [UInt8], _ random: inout RoundRandom) {
    guard Self.isStart(piece) else { return }
    // Name and value are separated by quotes: `<tag a="`, `1`, `" b="`, `2`, `"/>`.
    var parts = String(decoding: piece, as: UTF8.self).split(
      separator: "\"", omittingEmptySubsequences: false
    ).map(String.init)
    let names = stride(from: 0, to: parts.count - 1, by: 2).map { $0 }
    let name = Self.names[random.below(Self.names.count)]
    guard !names.isEmpty, random.below(8) > 0 else {
      var text = String(decoding: piece, as: UTF8.self)
      let old = text.dropFirst().prefix { !" \n/>".contains($0) }
      text.replaceSubrange(text.index(after: text.startIndex)..<old.endIndex, with: name)
      piece = Array(text.utf8)
      return
    }
    let place = names[random.below(names.count)]
    switch random.below(5) {
    case 0 where place > 0:
      parts.removeSubrange(place..<(place + 2))
    case 1:
      // Twice the same, or one more.
      let added = random.below(3) == 0 ? parts[place] : " \(name)="
      parts.insert(contentsOf: [added, parts[place + 1]], at: place + 2)
    case 2 where place > 0: parts[place] = " \(name)="
    case 3:
      // A text as long as a page of a book, and one much longer.
      let count = random.below(50) == 0 ? 1_000_000 : 3000
      if random.below(4) == 0 { parts[place + 1] = String(repeating: "(a.", count: count / 3) }
    default: parts[place + 1] = Self.values[random.below(Self.values.count)]
    }
    piece = Array(parts.joined(separator: "\"").utf8)
  }
}
