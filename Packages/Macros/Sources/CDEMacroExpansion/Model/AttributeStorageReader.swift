import SwiftDiagnostics
import SwiftSyntax

/// Decides whether an attribute's type and default fit its storage method, and makes the strategy.
struct AttributeStorageReader {
  let marker: AttributeSyntax
  let options: AttributeOptions
  let shape: TypeShape
  let binding: PatternBindingSyntax

  func storage(_ diagnostics: inout [Diagnostic]) -> (any AttributeStorage)? {
    var found = options.validations.compactMap { $0.problem(for: shape, method: options.method) }
    let storage: (any AttributeStorage)?
    let type = shape.wrapped.trimmedDescription
    switch options.method {
    case .default:
      if shape.primitive == nil {
        found = [PropertyTypeReader.unstorable(name, shape, at: typeNode) ?? notPrimitive(type)]
      } else if found.isEmpty, let primitive = shape.primitive, let value = binding.initializer?.value,
        let problem = DefaultValue(name: name, primitive: primitive, expression: value)
          .problem(options.validations)
      {
        found = [problem]
      }
      storage = shape.primitive.map { DefaultStorage(primitive: $0, isOptional: shape.isOptional) }
    case .raw:
      if let problem = rawProblem(type) { found.append(problem) }
      let value = binding.initializer?.value
      storage = RawStorage(
        type: type, isOptional: shape.isOptional,
        defaultExpression: value.flatMap { $0.isNilLiteral ? nil : $0.trimmedDescription },
        asserts: options.assertsDecoding)
    case .codable:
      found += decodedProblems()
      storage = DecodedStorage(name: "Codable", asserts: options.assertsDecoding, schema: ".codable")
    case .transformed(let name):
      found += decodedProblems()
      storage = DecodedStorage(
        name: "Transformed", asserts: options.assertsDecoding,
        schema: ".transformed(transformerName: \(name))")
    case .composition:
      if let problem = compositionProblem(type) {
        found.append(problem)
      } else {
        found += decodedProblems()
      }
      storage = DecodedStorage(
        name: "Composition", asserts: false,
        schema: ".composition(fields: \(type).__cdRuntimeCompositionFields)")
    case .invalid: storage = nil
    }
    diagnostics += found
    return found.isEmpty ? storage : nil
  }

  private var name: String { binding.pattern.trimmedDescription }

  private var typeNode: TypeSyntax { binding.typeAnnotation?.type ?? shape.wrapped }

  private func notPrimitive(_ type: String) -> Diagnostic {
    var fixIts: [FixIt] = [.replacing("Use @Ignore", marker, with: "@Ignore")]
    if case .other = shape.kind, marker.argument("storageMethod") == nil {
      fixIts.append(storing("Store it by its raw value", "raw"))
    }
    if shape.isOptional, marker.argument("storageMethod") == nil {
      fixIts.append(storing("Store it as JSON", "codable"))
    }
    return .make(
      "defaultStorage", at: typeNode,
      "`.default` storage only supports primitive attribute types (\(Primitive.list)) and their "
        + "optionals, not `\(type)`; give another `storageMethod` (`.raw`, `.codable`, `.composition`, "
        + "`.transformed`), or mark the property with @Ignore.", fixIts: fixIts)
  }

  private func storing(_ message: String, _ method: String) -> FixIt {
    let adding = marker.adding("storageMethod: .\(method)", order: AttributeOptions.labels)
    return adding.renamed(message)
  }

  private func rawProblem(_ type: String) -> Diagnostic? {
    if case .other = shape.kind { return nil }
    return .make(
      "rawType", at: typeNode,
      "`.raw` requires a RawRepresentable type, such as an enumeration with raw values; `\(type)` is "
        + "\(shape.primitive == nil ? "a collection" : "stored as it is"). Remove `storageMethod`"
        + "\(shape.primitive == nil ? ", or use `.codable`" : "").",
      fixIts: shape.primitive == nil ? [] : [marker.removing("storageMethod")].compactMap { $0 })
  }

  private func compositionProblem(_ type: String) -> Diagnostic? {
    if case .other = shape.kind { return nil }
    return .make(
      "compositionType", at: typeNode,
      "`.composition` requires a @Composition struct type; `\(type)` is "
        + "\(shape.primitive == nil ? "a collection" : "stored as it is").",
      fixIts: shape.primitive == nil ? [] : [marker.removing("storageMethod")].compactMap { $0 })
  }

  /// Decoding may fail, and there is no value to fall back to but nil.
  private func decodedProblems() -> [Diagnostic] {
    var found: [Diagnostic] = []
    let method = "@Attribute storageMethod `\(options.method.spelling)`"
    if !shape.isOptional {
      let spelled = shape.wrapped.trimmedDescription
      let optional = spelled.contains(" ") && !spelled.hasSuffix("]") ? "(\(spelled))?" : "\(spelled)?"
      found.append(
        .make(
          "decodedOptional", at: typeNode,
          "\(method) currently requires an optional property, because what is stored may not be "
            + "decodable; declare it as `\(optional)`.",
          fixIts: [.replacing("Make it optional", typeNode, with: optional)]))
    }
    if let initializer = binding.initializer, !initializer.value.isNilLiteral {
      found.append(
        .make(
          "decodedDefault", at: initializer.value,
          "\(method) only supports nil as an explicit default value; set the value in an initialiser or in "
            + "`awakeFromInsert()`.",
          fixIts: [.trimming("Remove the default value", initializer)]))
    }
    return found
  }
}
