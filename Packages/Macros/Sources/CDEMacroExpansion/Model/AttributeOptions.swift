import SwiftDiagnostics
import SwiftSyntax

/// The arguments of one `@Attribute`.
struct AttributeOptions {
  static let labels = ["persistentName", "storageMethod", "decodeFailurePolicy"]

  var isUnique = false
  var isPreserved = false
  var isTransient = false
  var persistentName: String?
  var method = StorageMethodArgument.default
  /// Whether a value that cannot be decoded is an assertion in debug builds.
  var assertsDecoding = false
  var validations: [ValidationTrait] = []
  /// The `.transient` trait as written.
  private(set) var transient: LabeledExprSyntax?

  /// An attribute that the model macro attached by itself.
  init() {}

  /// Reads the arguments; what is wrong with them goes into `diagnostics`.
  init(_ attribute: AttributeSyntax, diagnostics: inout [Diagnostic]) {
    diagnostics += attribute.unknownLabels(macro: "Attribute", known: Self.labels)
    for argument in attribute.labeledArguments where argument.label == nil {
      read(trait: argument, &diagnostics)
    }
    if isUnique, let transient {
      diagnostics.append(
        .make(
          "transientUnique", at: transient.expression,
          "@Attribute trait `.transient` cannot be combined with `.unique`: a value that is not "
            + "stored cannot be unique in the store. Remove one of the two.",
          fixIts: [.removing("Remove `.transient`", argument: transient)]))
    }
    persistentName = PersistentName.read(
      attribute, macro: "Attribute", subject: "attribute", diagnostics: &diagnostics)
    if let expression = attribute.argument("storageMethod"), !expression.isNilLiteral {
      method = StorageMethodArgument(expression, diagnostics: &diagnostics)
    }
    readPolicy(attribute, &diagnostics)
    if let transient, method != .default, method != .invalid {
      diagnostics.append(
        .make(
          "transientStorage", at: transient.expression,
          "@Attribute trait `.transient` only supports `.default` storage; remove it, or the storage method.",
          fixIts: [
            .removing("Remove `.transient`", argument: transient),
            attribute.removing("storageMethod"),
          ].compactMap { $0 }))
    }
  }

  private mutating func read(trait argument: LabeledExprSyntax, _ diagnostics: inout [Diagnostic]) {
    switch argument.expression.caseName(of: "AttributeTrait") {
    case "unique": isUnique = true
    case "preserveValueOnDeletion": isPreserved = true
    case "transient":
      isTransient = true
      transient = argument
    default:
      if let trait = ValidationTrait(argument.expression, diagnostics: &diagnostics) {
        validations.append(trait)
      } else if !ValidationTrait.isNamed(argument.expression) {
        diagnostics.append(
          .make(
            "attributeTrait", at: argument.expression,
            "@Attribute only supports the traits `.unique`, `.transient` and `.preserveValueOnDeletion`, and the rules "
              + "`.range(…)`, `.length(…)` and `.matching(…)`; remove "
              + "`\(argument.expression.trimmedDescription)`.",
            fixIts: [.removing("Remove the trait", argument: argument)]))
      }
    }
  }

  private mutating func readPolicy(_ attribute: AttributeSyntax, _ diagnostics: inout [Diagnostic]) {
    guard let expression = attribute.argument("decodeFailurePolicy"), !expression.isNilLiteral else { return }
    switch expression.caseName(of: "AttributeDecodeFailurePolicy") {
    case "fallbackToDefaultValue": break
    case "debugAssertNil": assertsDecoding = true
    default:
      diagnostics.append(
        .make(
          "decodeFailurePolicy", at: expression,
          "@Attribute argument `decodeFailurePolicy` must be written as `.fallbackToDefaultValue` or "
            + "`.debugAssertNil`.",
          fixIts: [
            .replacing("Use `.fallbackToDefaultValue`", expression, with: ".fallbackToDefaultValue"),
            .replacing("Use `.debugAssertNil`", expression, with: ".debugAssertNil"),
          ]))
      return
    }
    if method == .default || method == .composition {
      diagnostics.append(
        .make(
          "policyStorage", at: expression,
          "@Attribute argument `decodeFailurePolicy` is only supported for `.raw`, `.codable`, and "
            + "`.transformed` storage; nothing is decoded here. Remove it.",
          fixIts: [attribute.removing("decodeFailurePolicy")].compactMap { $0 }))
    }
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
