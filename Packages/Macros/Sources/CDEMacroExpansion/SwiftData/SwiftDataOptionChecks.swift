import SwiftDiagnostics
import SwiftSyntax

/// Options and markers of one property that exclude each other, or say the same twice.
struct SwiftDataOptionChecks {
  let property: SwiftDataProperty

  var problems: [Diagnostic] {
    guard let marker = property.marker else { return [] }
    return repeated(marker) + ephemeral(marker) + collections(marker) + counts(marker)
  }

  private func options(_ marker: AttributeSyntax) -> [(argument: LabeledExprSyntax, name: String)] {
    marker.labeledArguments.filter { $0.label == nil }.map { argument in
      let call = argument.expression.as(FunctionCallExprSyntax.self)?.calledExpression ?? argument.expression
      let name = call.as(MemberAccessExprSyntax.self)?.declName.baseName.text ?? call.trimmedDescription
      return (argument, name)
    }
  }

  private func repeated(_ marker: AttributeSyntax) -> [Diagnostic] {
    var known: Set<String> = []
    return options(marker).filter { !known.insert($0.name).inserted }.map { argument, name in
      .make(
        "repeatedOption", at: argument.expression,
        "`.\(name)` is an option of `\(property.name)` already; remove one of the two.",
        fixIts: [.removing("Remove the second `.\(name)`", argument: argument)])
    }
  }

  private func ephemeral(_ marker: AttributeSyntax) -> [Diagnostic] {
    let options = options(marker)
    guard let ephemeral = options.first(where: { $0.name == "ephemeral" }) else { return [] }
    let needsStore = ["unique", "externalStorage", "preserveValueOnDeletion", "spotlight"]
    return options.filter { needsStore.contains($0.name) }.map { argument, name in
      .make(
        "ephemeralOption", at: argument.expression,
        "`.\(name)` needs a stored value, and `.ephemeral` keeps `\(property.name)` out of the store; remove one of the two.",
        fixIts: [
          .removing("Remove `.\(name)`", argument: argument),
          .removing("Remove `.ephemeral`", argument: ephemeral.argument),
        ])
    }
  }

  private var isCollection: Bool {
    guard let type = property.type else { return property.initialValue?.is(ArrayExprSyntax.self) == true }
    return switch TypeShape(type).kind {
    case .array, .set: true
    default: false
    }
  }

  private func collections(_ marker: AttributeSyntax) -> [Diagnostic] {
    guard marker.shortName == "Relationship", isCollection else { return [] }
    return options(marker).filter { $0.name == "unique" }.map { argument, _ in
      .make(
        "uniqueCollection", at: argument.expression,
        "`\(property.name)` holds several models, and only one model can be unique; remove `.unique`.",
        fixIts: [.removing("Remove `.unique`", argument: argument)])
    }
  }

  private func counts(_ marker: AttributeSyntax) -> [Diagnostic] {
    func number(_ label: String) -> Int? { marker.argument(label).flatMap { Int($0.trimmedDescription) } }
    let (minimum, maximum) = (number("minimumModelCount") ?? 0, number("maximumModelCount") ?? 0)
    guard let place = marker.argument("maximumModelCount") ?? marker.argument("minimumModelCount") else {
      return []
    }
    if maximum > 0, minimum > maximum {
      return [
        .make(
          "counts", at: place,
          "`\(property.name)` has at least \(minimum) models and at most \(maximum); correct one of the counts.",
          fixIts: [.replacing("Use \(minimum) as the maximum", place, with: "\(minimum)")])
      ]
    }
    if property.type != nil, !isCollection, max(minimum, maximum) > 1 {
      return [
        .make(
          "counts", at: place,
          "`\(property.name)` holds one model, and has counts for several; declare an array, or remove the counts.",
          fixIts: ["maximumModelCount", "minimumModelCount"].compactMap { marker.removing($0) })
      ]
    }
    return []
  }
}
