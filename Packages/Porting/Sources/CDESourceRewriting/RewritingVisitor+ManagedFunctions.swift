internal import SwiftSyntax

// `@NSManaged` functions, which change a to-many relationship, get their bodies.
extension RewritingVisitor {
  func rewriteManagedFunction(_ node: FunctionDeclSyntax) {
    guard node.attributes.first(named: "NSManaged") != nil, node.body == nil else { return }
    let parameters = node.signature.parameterClause.parameters.map { ($0.secondName ?? $0.firstName).text }
    let selector = node.attributes.objectiveCName ?? selector(of: node)
    guard let call = ManagedFunction(selector: selector)?.call(parameters) else {
      report(
        .error, at: node,
        "Core Data has no accessor named \(selector). Functions with @NSManaged are addToItems(_:), "
          + "removeFromItems(_:), insertIntoItems(_:at:), removeFromItems(at:) and replaceItems(at:with:) for a "
          + "relationship items.")
      return
    }
    edits.insert(" { \(call) }", at: node.contentRange.upperBound)
  }

  /// The name that Objective-C gives a function.
  private func selector(of node: FunctionDeclSyntax) -> String {
    var text = node.name.text
    for (number, parameter) in node.signature.parameterClause.parameters.enumerated() {
      let label = parameter.firstName.text
      if label != "_" {
        text += number == 0 ? (label == "with" || label == "at" ? "" : "With") + capitalised(label) : label
      }
      text += ":"
    }
    return text
  }

  private func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}

/// A function that changes a to-many relationship, known by its Objective-C name.
struct ManagedFunction {
  /// The function of the runtime.
  private let function: String
  /// The name of the relationship, as written in the selector.
  private let name: Substring
  private let labels: [String]

  private static let forms: [(prefix: String, suffix: String, function: String, labels: [String])] = [
    // As Swift derives selectors from names such as addToItems(_:).
    ("insertInto", ":at:", "_cdInsert", ["", "at: "]),
    ("removeFrom", "At:", "_cdRemove", ["at: "]),
    ("replace", "At:with:", "_cdReplace", ["at: ", "with: "]),
    ("addTo", ":", "_cdAdd", [""]),
    ("removeFrom", ":", "_cdRemove", [""]),
    // As Xcode writes them in @objc(…).
    ("insertObject:in", "AtIndex:", "_cdInsert", ["", "at: "]),
    ("removeObjectFrom", "AtIndex:", "_cdRemove", ["at: "]),
    ("replaceObjectIn", "AtIndex:withObject:", "_cdReplace", ["at: ", "with: "]),
    ("insert", ":atIndexes:", "_cdInsert", ["", "at: "]),
    ("remove", "AtIndexes:", "_cdRemove", ["at: "]),
    ("add", "Object:", "_cdAdd", [""]),
    ("remove", "Object:", "_cdRemove", [""]),
    ("add", ":", "_cdAdd", [""]),
    ("remove", ":", "_cdRemove", [""]),
  ]

  init?(selector: String) {
    if let found = Self.replacement(of: selector) {
      self = found
      return
    }
    for form in Self.forms where selector.hasPrefix(form.prefix) && selector.hasSuffix(form.suffix) {
      let name = selector.dropFirst(form.prefix.count).dropLast(form.suffix.count)
      guard !name.isEmpty, !name.contains(":") else { continue }
      (function, labels, self.name) = (form.function, form.labels, name)
      return
    }
    return nil
  }

  private init(function: String, name: Substring, labels: [String]) {
    (self.function, self.name, self.labels) = (function, name, labels)
  }

  /// `replaceItemsAtIndexes:withItems:` names the relationship twice.
  private static func replacement(of selector: String) -> ManagedFunction? {
    let parts = selector.split(separator: ":")
    guard parts.count == 2, parts[0].hasPrefix("replace"), parts[0].hasSuffix("AtIndexes"),
      parts[1].hasPrefix("with")
    else { return nil }
    let name = parts[0].dropFirst("replace".count).dropLast("AtIndexes".count)
    return name == parts[1].dropFirst("with".count)
      ? ManagedFunction(function: "_cdReplace", name: name, labels: ["at: ", "with: "]) : nil
  }

  /// The call that does the work; nil for another number of parameters.
  func call(_ parameters: [String]) -> String? {
    guard parameters.count == labels.count else { return nil }
    let arguments = zip(labels, parameters).map { $0 + $1 }.joined(separator: ", ")
    return "\(function)(\"\(name)\", \(arguments))"
  }
}
