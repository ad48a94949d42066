/// The text of a condition without its values.
enum ConditionText {
  /// Texts in quotes and numbers that are no part of a name become `?`.
  static func redacted(_ text: String) -> String {
    var result = ""
    var rest = Substring(text)
    while let first = rest.first {
      if first == "\"" || first == "'" {
        rest = rest.dropFirst()
        while let next = rest.first, next != first { rest = rest.dropFirst(next == "\\" ? 2 : 1) }
        rest = rest.dropFirst()
        result += "?"
      } else if first.isNumber {
        rest = rest.drop { $0.isNumber || $0 == "." || $0 == "e" || $0 == "E" }
        result += "?"
      } else if first.isLetter || "_$@%#".contains(first) {
        let name = rest.prefix { $0.isLetter || $0.isNumber || "_$@%#.".contains($0) }
        result += name
        rest = rest.dropFirst(name.count)
      } else {
        result.append(first)
        rest = rest.dropFirst()
      }
    }
    return result
  }
}
