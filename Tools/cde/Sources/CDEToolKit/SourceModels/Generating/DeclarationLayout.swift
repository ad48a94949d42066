/// Breaks declarations as swift-format does with its own settings, so that a formatter leaves them alone.
enum DeclarationLayout {
  static let width = 100

  /// The lines of a property with its attributes.
  static func property(
    attribute: (name: String, arguments: [String])?, _ declaration: String, value: String?,
    indentation: String
  ) -> [String] {
    let whole = declaration + (value.map { " = \($0)" } ?? "")
    func declared() -> [String] {
      let line = indentation + whole
      guard line.count > width, let value else { return [line] }
      return ["\(indentation)\(declaration) =", "\(indentation)    \(value)"]
    }
    guard let attribute else { return declared() }
    let list = attribute.arguments.joined(separator: ", ")
    let marker = "@\(attribute.name)" + (attribute.arguments.isEmpty ? "" : "(\(list))")
    let line = "\(indentation)\(marker) \(whole)"
    if line.count <= width { return [line] }
    if indentation.count + marker.count <= width { return [indentation + marker] + declared() }
    var lines = ["\(indentation)@\(attribute.name)("]
    lines += filled(attribute.arguments, indentation + "  ", closing: ")")
    return lines + declared()
  }

  /// The parts with commas between them, as many on a line as have room.
  static func filled(_ parts: [String], _ indentation: String, closing: String) -> [String] {
    var lines: [String] = []
    var line = indentation
    for (index, part) in parts.enumerated() {
      let text = part + (index == parts.count - 1 ? closing : ",")
      if line == indentation {
        line += text
      } else if line.count + 1 + text.count <= width {
        line += " " + text
      } else {
        lines.append(line)
        line = indentation + text
      }
    }
    return lines + [line]
  }

  /// The lines of a comment.
  static func comment(_ text: String, _ indentation: String) -> [String] {
    var lines: [String] = []
    var line = "\(indentation)//"
    for word in text.split(separator: " ") {
      if line.count + 1 + word.count > width, line != "\(indentation)//" {
        lines.append(line)
        line = "\(indentation)//"
      }
      line += " " + word
    }
    return lines + [line]
  }
}
