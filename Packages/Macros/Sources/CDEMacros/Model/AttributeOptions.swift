import SwiftDiagnostics
import SwiftSyntax

/// The arguments of one `@Attribute`.
struct AttributeOptions {
  var isUnique = false
  var isTransient = false
  var persistentName: String?

  /// An attribute that the model macro attached by itself.
  init() {}

  /// Reads the arguments; what is wrong with them goes into `diagnostics`.
  init(_ attribute: AttributeSyntax, diagnostics: inout [Diagnostic]) {
    diagnostics += attribute.unknownLabels(macro: "Attribute", known: ["persistentName"])
    var transient: ExprSyntax?
    for argument in attribute.labeledArguments where argument.label == nil {
      switch argument.expression.caseName(of: "AttributeTrait") {
      case "unique": isUnique = true
      case "transient":
        isTransient = true
        transient = argument.expression
      default:
        diagnostics.append(
          .make(
            "attributeTrait", at: argument.expression,
            "@Attribute only supports the `.unique` and `.transient` traits; remove "
              + "`\(argument.expression.trimmedDescription)`."))
      }
    }
    if isUnique, let transient {
      diagnostics.append(
        .make(
          "transientUnique", at: transient,
          "@Attribute trait `.transient` cannot be combined with `.unique`: a value that is not "
            + "stored cannot be unique in the store. Remove one of the two."))
    }
    persistentName = PersistentName.read(
      attribute, macro: "Attribute", subject: "attribute", diagnostics: &diagnostics)
  }
}

/// The `persistentName:` argument that several macros take.
enum PersistentName {
  static func read(
    _ attribute: AttributeSyntax, macro: String, subject: String, diagnostics: inout [Diagnostic]
  ) -> String? {
    guard let expression = attribute.argument("persistentName"), !expression.isNilLiteral else {
      return nil
    }
    guard let name = expression.stringLiteral else {
      diagnostics.append(
        .make(
          "persistentNameLiteral", at: expression,
          "@\(macro) argument `persistentName` must be a string literal or nil; the name is needed "
            + "while compiling, so write it out."))
      return nil
    }
    guard name.isPersistentName else {
      diagnostics.append(
        .make(
          "persistentNameForm", at: expression,
          "@\(macro) argument `persistentName` must be a valid Core Data \(subject) name: a letter "
            + "or underscore, then letters, digits or underscores."))
      return nil
    }
    return name
  }
}
