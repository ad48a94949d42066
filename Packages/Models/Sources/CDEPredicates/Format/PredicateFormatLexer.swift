@_spi(CDE) internal import CDEExecutors

/// Splits a format string into tokens.
///
/// Works on Unicode scalars and not on characters, because a combining mark after a quote would hide the
/// quote.
struct PredicateFormatLexer {
  enum Kind: Equatable {
    case end
    /// A name or a keyword. A name escaped with `#` is never a keyword.
    case word(String, escaped: Bool)
    /// A name ending in a colon, as in `modulus:by:(a, b)`.
    case selector(String)
    /// `@count`, with the sign.
    case aggregate(String)
    case variable(String)
    case number(String)
    case string(String)
    /// The conversion character of `%@`, `%K` or a C conversion.
    case placeholder(Character)
    case symbol(String)
  }

  struct Token: Equatable {
    var kind: Kind
    var position: Int
    /// A word that may be a keyword, in upper case; otherwise empty.
    let keyword: String
    /// The text of a symbol; otherwise empty. The parser compares it instead of kinds, which is faster.
    let symbol: String

    init(kind: Kind, position: Int) {
      self.kind = kind
      self.position = position
      keyword = if case .word(let text, escaped: false) = kind { text.uppercased() } else { "" }
      symbol = if case .symbol(let text) = kind { text } else { "" }
    }
  }

  private let text: [Unicode.Scalar]
  private var index = 0
  private var tokens: [Token] = []

  // Programs have few format strings and use each often. The tokens do not contain arguments.
  private static let known = Lock<[String: [Token]]>([:])
  private static let knownLimit = 256
  private static let lengthLimit = 4_096

  /// - Throws: ``PredicateTreeError`` with the position of text that is no token.
  static func tokens(of format: String) throws(PredicateTreeError) -> [Token] {
    if let known = known.withLock({ $0[format] }) { return known }
    var lexer = PredicateFormatLexer(text: Array(format.unicodeScalars))
    while try lexer.next() {}
    lexer.tokens.append(Token(kind: .end, position: lexer.text.count))
    // A generated format is long and hardly used again.
    if lexer.tokens.count > lengthLimit { return lexer.tokens }
    known.withLock { [tokens = lexer.tokens] known in
      if known.count >= knownLimit { known.removeAll() }
      known[format] = tokens
    }
    return lexer.tokens
  }

  private init(text: [Unicode.Scalar]) {
    self.text = text
  }

  private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
    index + offset < text.count ? text[index + offset] : nil
  }

  private mutating func next() throws(PredicateTreeError) -> Bool {
    while let scalar = peek(), scalar.properties.isWhitespace { index += 1 }
    guard let scalar = peek() else { return false }
    let start = index
    let kind: Kind
    switch scalar {
    case "\"", "'": kind = .string(try string(quote: scalar))
    case "%": kind = .placeholder(try placeholder())
    case "$": kind = .variable(try name(after: "$"))
    case "@": kind = .aggregate("@" + (try name(after: "@")))
    case "#": kind = try escapedWord()
    case _ where Self.startsName(scalar): kind = wordOrSelector()
    case "0"..."9": kind = .number(number())
    case "." where isDigit(1) && !followsOperand: kind = .number(number())
    default: kind = .symbol(try symbol(scalar))
    }
    tokens.append(Token(kind: kind, position: start))
    return true
  }

  /// Whether a dot, as in `.5`, would continue a key path instead.
  private var followsOperand: Bool {
    switch tokens.last?.kind {
    case .word, .variable, .placeholder, .aggregate, .string, .number: true
    case .symbol(let symbol): [")", "]", "}"].contains(symbol)
    default: false
    }
  }

  private func isDigit(_ offset: Int) -> Bool {
    peek(offset).map { ("0"..."9").contains($0) } ?? false
  }

  static func startsName(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.properties.isXIDStart
  }

  static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.properties.isXIDContinue
  }

  private mutating func name() -> String {
    var name = String.UnicodeScalarView()
    while let scalar = peek(), Self.continuesName(scalar) {
      name.append(scalar)
      index += 1
    }
    return String(name)
  }

  private mutating func name(after sign: String) throws(PredicateTreeError) -> String {
    let start = index
    index += 1
    let name = name()
    guard !name.isEmpty else {
      throw PredicateTreeError(
        .malformedFormat, construct: sign, position: start, "a name has to follow \"\(sign)\"")
    }
    return name
  }

  private mutating func escapedWord() throws(PredicateTreeError) -> Kind {
    let next = peek(1)
    if next == "\"" || next == "'" {
      index += 1
      return .word(try string(quote: next!), escaped: true)
    }
    return .word(try name(after: "#"), escaped: true)
  }

  private mutating func wordOrSelector() -> Kind {
    let word = name()
    guard peek() == ":", let after = peek(1), after == "(" || Self.startsName(after) else {
      return .word(word, escaped: false)
    }
    let start = index
    var selector = word
    while peek() == ":" {
      index += 1
      selector += ":" + name()
    }
    if selector.hasSuffix(":"), peek() == "(" { return .selector(selector) }
    index = start
    return .word(word, escaped: false)
  }

  private mutating func number() -> String {
    var digits = String.UnicodeScalarView()
    func take(_ lexer: inout Self) {
      digits.append(lexer.text[lexer.index])
      lexer.index += 1
    }
    if peek() == "0", let radix = peek(1), "xXoObB".unicodeScalars.contains(radix), isHexDigit(2) {
      take(&self)
      take(&self)
      while isHexDigit(0) { take(&self) }
      return String(digits)
    }
    while isDigit(0) { take(&self) }
    if peek() == ".", isDigit(1) {
      take(&self)
      while isDigit(0) { take(&self) }
    }
    if peek() == "e" || peek() == "E" {
      let signed = peek(1) == "+" || peek(1) == "-"
      if isDigit(signed ? 2 : 1) {
        take(&self)
        if signed { take(&self) }
        while isDigit(0) { take(&self) }
      }
    }
    return String(digits)
  }

  private func isHexDigit(_ offset: Int) -> Bool {
    peek(offset)?.properties.isASCIIHexDigit ?? false
  }

  private mutating func string(quote: Unicode.Scalar) throws(PredicateTreeError) -> String {
    let start = index
    var value = String.UnicodeScalarView()
    index += 1
    while let scalar = peek() {
      index += 1
      if scalar == quote { return String(value) }
      if scalar == "\\" {
        value.append(try escape(start: start))
      } else {
        value.append(scalar)
      }
    }
    throw PredicateTreeError(
      .malformedFormat, construct: "string", position: start, "the string that begins here has no end")
  }

  private mutating func escape(start: Int) throws(PredicateTreeError) -> Unicode.Scalar {
    guard let scalar = peek() else {
      throw PredicateTreeError(
        .malformedFormat, construct: "string", position: start, "the string that begins here has no end")
    }
    let position = index - 1
    index += 1
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "x": return try hexadecimal(digits: 2, position)
    case "u": return try hexadecimal(digits: 4, position)
    case "U": return try hexadecimal(digits: 8, position)
    default: return scalar
    }
  }

  private mutating func hexadecimal(digits: Int, _ position: Int) throws(PredicateTreeError) -> Unicode.Scalar
  {
    var value: UInt32 = 0
    for _ in 0..<digits {
      guard let scalar = peek(), let digit = Character(scalar).hexDigitValue, value < 1 << 27 else {
        throw PredicateTreeError(
          .malformedFormat, construct: "escape", position: position,
          "the escape needs \(digits) hexadecimal digits")
      }
      value = value << 4 | UInt32(digit)
      index += 1
    }
    guard let scalar = Unicode.Scalar(value) else {
      throw PredicateTreeError(
        .malformedFormat, construct: "escape", position: position, "the escape names no Unicode scalar")
    }
    return scalar
  }

  private mutating func placeholder() throws(PredicateTreeError) -> Character {
    let start = index
    index += 1
    while let scalar = peek(), "hlqzjtL".unicodeScalars.contains(scalar) { index += 1 }
    guard let scalar = peek(), "@KdDiuUxXoOcCfFeEgGaAsS".unicodeScalars.contains(scalar) else {
      throw PredicateTreeError(
        .malformedFormat, construct: "%", position: start,
        "a placeholder is %@, %K or a C conversion such as %d; a literal percent sign belongs in quotes"
      )
    }
    index += 1
    skipDoubledConversion(scalar)
    return Character(scalar)
  }

  /// Skips the second of two letters for a whole number, as in `%lud`: published formats have them, and Core Data reads
  /// one argument.
  private mutating func skipDoubledConversion(_ first: Unicode.Scalar) {
    let letters = "diu".unicodeScalars
    guard letters.contains(first), let next = peek(), letters.contains(next),
      !(peek(1).map(Self.continuesName) ?? false)
    else { return }
    index += 1
  }

  private static let symbols: [String] = [
    "===", "==", "=<", "=>", "=", "!=", "!", "<>", "<=", "<<", "<", ">=", ">>", ">", "&&", "||", "**", ":=",
    "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "/", "&", "|", "^", "~",
  ]

  private mutating func symbol(_ first: Unicode.Scalar) throws(PredicateTreeError) -> String {
    for symbol in Self.symbols where symbol.unicodeScalars.first == first {
      let scalars = Array(symbol.unicodeScalars)
      if index + scalars.count <= text.count, Array(text[index..<index + scalars.count]) == scalars {
        index += scalars.count
        return symbol
      }
    }
    throw PredicateTreeError(
      .malformedFormat, construct: String(Character(first)), position: index,
      "this character has no meaning in a predicate outside of quotes")
  }
}
