/// Texts of a model or a store as a terminal or a picture may show them.
package enum ShownText {
  /// The text without what a terminal would obey: a value may contain codes that move the cursor.
  package static func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result.append("⏎")
      case "\t": result.append("→")
      case let control where isControl(control): result.append("\u{FFFD}")
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      // These turn the direction of the text around them.
      || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }

  /// The number of a terminal's columns that a text takes.
  package static func columns(of text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns(of: $1) }
  }

  private static func columns(of character: Character) -> Int {
    let scalar = character.unicodeScalars.first!
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return scalar.properties.isEmojiPresentation ? 2 : 1
    }
  }

  /// The text, cut to so many columns with a sign that it was.
  package static func cut(_ text: String, to width: Int) -> String {
    guard columns(of: text) > width else { return text }
    var result = ""
    var used = 0
    for character in text {
      let more = columns(of: character)
      if used + more > width - 1 { break }
      result.append(character)
      used += more
    }
    return result + "…"
  }
}
