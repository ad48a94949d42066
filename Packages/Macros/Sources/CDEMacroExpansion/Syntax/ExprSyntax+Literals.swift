import SwiftSyntax

extension ExprSyntax {
  /// The value of a `true` or `false` literal.
  var booleanLiteral: Bool? {
    self.as(BooleanLiteralExprSyntax.self).map { $0.literal.tokenKind == .keyword(.true) }
  }

  /// The value of a string literal without interpolation.
  var stringLiteral: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }

  var isNilLiteral: Bool { self.is(NilLiteralExprSyntax.self) }

  /// The value of a non-negative integer literal; underscores are allowed, a sign is not.
  var countLiteral: Int? {
    guard let literal = self.as(IntegerLiteralExprSyntax.self) else { return nil }
    return Int(literal.literal.text.filter { $0 != "_" })
  }

  /// The case name of `.x`, `Enumeration.x` or `CoreDataEvolution.Enumeration.x`.
  func caseName(of enumeration: String) -> String? {
    guard let access = self.as(MemberAccessExprSyntax.self) else { return nil }
    if let base = access.base {
      let spelled = base.trimmedDescription
      guard spelled == enumeration || spelled == "CoreDataEvolution.\(enumeration)" else { return nil }
    }
    return access.declName.argumentNames == nil ? access.declName.baseName.text : nil
  }
}

extension TokenSyntax {
  /// An identifier without the backticks that let it be a keyword.
  var bareName: String {
    let spelled = text
    guard spelled.count > 2, spelled.hasPrefix("`"), spelled.hasSuffix("`") else { return spelled }
    return String(spelled.dropFirst().dropLast())
  }
}

extension String {
  /// The text as a Swift string literal.
  var quoted: String {
    var result = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0": result += "\\0"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A letter or underscore, then letters, digits and underscores.
  var isPersistentName: Bool {
    guard let first, first.isLetter || first == "_" else { return false }
    return dropFirst().allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }

  var withUppercasedFirstLetter: String { prefix(1).uppercased() + dropFirst() }
}
