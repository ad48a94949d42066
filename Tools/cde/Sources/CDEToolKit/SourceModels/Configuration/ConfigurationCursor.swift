/// A value of a configuration with its place, for errors that name it.
struct ConfigurationCursor {
  let value: JSONValue
  /// The keys that lead to the value, joined by dots; empty for the whole document.
  let place: String
  let file: String

  private func failure(_ text: String) -> ToolError {
    ToolError("\(place.isEmpty ? "The document" : "“\(place)”") of \(file) \(text)")
  }

  /// The members of an object whose keys are names of the user's.
  func members() throws -> [(key: String, value: ConfigurationCursor)] {
    guard case .object(let members) = value else { throw failure("must be an object in braces.") }
    var seen: Set<String> = []
    for member in members where !seen.insert(member.key).inserted {
      throw failure("has the key “\(member.key)” twice; remove one of them.")
    }
    return members.map { member in
      let path = place.isEmpty ? member.key : "\(place).\(member.key)"
      return (member.key, ConfigurationCursor(value: member.value, place: path, file: file))
    }
  }

  /// The members of an object that has certain keys only. Null stands for no value.
  func members(of keys: [String]) throws -> [String: ConfigurationCursor] {
    var result: [String: ConfigurationCursor] = [:]
    for (key, cursor) in try members() {
      guard keys.contains(key) else {
        throw cursor.failure("is unknown; the keys there are \(keys.sorted().joined(separator: ", ")).")
      }
      if cursor.value != .null { result[key] = cursor }
    }
    return result
  }

  func elements() throws -> [ConfigurationCursor] {
    guard case .array(let values) = value else { throw failure("must be an array in brackets.") }
    return values.enumerated().map { index, value in
      ConfigurationCursor(value: value, place: "\(place)[\(index)]", file: file)
    }
  }

  func string() throws -> String {
    guard case .string(let text) = value else { throw failure("must be a text in quotation marks.") }
    guard !text.isEmpty else { throw failure("is empty; give it a value, or remove the key.") }
    return text
  }

  func bool() throws -> Bool {
    guard case .bool(let flag) = value else { throw failure("must be true or false.") }
    return flag
  }

  func choice<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) throws -> Choice
  where Choice.RawValue == String {
    let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    guard case .string(let text) = value, let choice = Choice(rawValue: text) else {
      throw failure("must be one of \(names).")
    }
    return choice
  }

  /// A name in Swift.
  func name() throws -> String {
    let text = try string()
    guard SwiftNaming.isName(text) else { throw failure("must be a name in Swift, which “\(text)” is not.") }
    return text
  }

  /// A type in Swift, such as `[String: Int]` or `Outer.Inner`.
  func type() throws -> String {
    let text = try string()
    let signs = "[]<>.,:?& "
    let fits = text.unicodeScalars.allSatisfy {
      SwiftNaming.isNamePart($0) || signs.unicodeScalars.contains($0)
    }
    guard fits, text.unicodeScalars.contains(where: SwiftNaming.isNamePart) else {
      throw failure("must be a type in Swift, which “\(text)” is not.")
    }
    guard !text.hasSuffix("?") else {
      throw failure("must be a type without a question mark, because the model says what is optional.")
    }
    return text
  }

  /// A text or a whole number.
  func rawValue() throws -> JSONValue {
    switch value {
    case .string: return value
    case .number(let text) where Int(text) != nil: return value
    default: throw failure("must be a text or a whole number.")
    }
  }

  func fail(_ text: String) -> ToolError { failure(text) }
}
