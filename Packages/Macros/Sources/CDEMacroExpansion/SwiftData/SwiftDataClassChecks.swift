import SwiftDiagnostics
import SwiftSyntax

/// What properties, constraints and attributes of one class contradict.
struct SwiftDataClassChecks {
  let model: SwiftDataModel

  var problems: [Diagnostic] {
    model.properties.flatMap { SwiftDataOptionChecks(property: $0).problems } + names + untyped
      + originalNames
      + constraints + foreignAttributes
  }

  // MARK: Properties

  private var names: [Diagnostic] {
    let ofClass = ReservedName.problem(
      model.declaration.name, in: ReservedName.ofSwiftDataModels, what: "model",
      remedy: "name the class otherwise.")
    return [ofClass].compactMap { $0 }
      + model.properties.compactMap { property in
        property.variable.bindings.first.flatMap {
          ReservedName.problem(
            ofProperty: property.name, at: $0.pattern,
            keeping: "`@Attribute(originalName: \(property.name.quoted))`")
        }
      }
  }

  /// The compiler needs a type or a value, and says so at the generated code only.
  private var untyped: [Diagnostic] {
    model.properties.filter { $0.type == nil && $0.initialValue == nil }.map { property in
      .make(
        "untypedProperty", at: property.identifier,
        "`\(property.name)` has neither a type nor a value, so it is no attribute; write one of them.",
        fixIts: [.inserting("Add a type", ": <#type#>", after: property.identifier)])
    }
  }

  /// Two properties that had one name in the earlier version would get the values of one column.
  private var originalNames: [Diagnostic] {
    var owners: [String: String] = [:]
    var problems: [Diagnostic] = []
    for property in model.properties {
      guard let marker = property.marker, let value = marker.argument("originalName"),
        let name = value.as(StringLiteralExprSyntax.self)?.representedLiteralValue
      else { continue }
      if let owner = owners[name] {
        problems.append(
          .make(
            "originalNames", at: value,
            "`\(owner)` had the name `\(name)` too; only one property can take over its values.",
            fixIts: marker.removing("originalName").map { [$0] } ?? []))
      }
      owners[name] = property.name
    }
    return problems
  }

  // MARK: #Unique and #Index

  private var constraints: [Diagnostic] {
    model.declaration.memberBlock.members.flatMap { item -> [Diagnostic] in
      guard let macro = item.decl.as(MacroExpansionDeclSyntax.self),
        ["Unique", "Index"].contains(macro.macroName.text)
      else { return [] }
      let lists = macro.arguments.flatMap { argument in
        let call = argument.expression.as(FunctionCallExprSyntax.self)
        return call.map { $0.arguments.map(\.expression) } ?? [argument.expression]
      }.compactMap { $0.as(ArrayExprSyntax.self) }
      return lists.flatMap { unstored(in: $0, macro) } + repeated(lists, macro)
    }
  }

  /// The property that a key path with one step names.
  private func name(of path: ExprSyntax) -> String? {
    guard let path = path.as(KeyPathExprSyntax.self), path.components.count == 1,
      let step = path.components.first?.component.as(KeyPathPropertyComponentSyntax.self)
    else { return nil }
    return step.declName.baseName.bareName
  }

  /// Stored and computed properties of the class that no store keeps.
  private var otherProperties: Set<String> {
    let all = model.declaration.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
      .flatMap(\.bindings).compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareName }
    return Set(all).subtracting(model.properties.map(\.name))
  }

  private func unstored(in list: ArrayExprSyntax, _ macro: MacroExpansionDeclSyntax) -> [Diagnostic] {
    let others = otherProperties
    return list.elements.compactMap { element in
      guard let name = name(of: element.expression), others.contains(name) else { return nil }
      return .make(
        "unstoredConstraint", at: element.expression,
        "`\(name)` is not stored, so #\(macro.macroName.text) can't name it; name a persisted property.")
    }
  }

  /// One property that is unique by itself makes a set with others needless, and twice unique is once too often.
  private func repeated(_ lists: [ArrayExprSyntax], _ macro: MacroExpansionDeclSyntax) -> [Diagnostic] {
    guard macro.macroName.text == "Unique" else { return [] }
    let marked = model.properties.filter { $0.marker.map(isUnique) ?? false }
    var known: Set<[String]> = []
    return lists.compactMap { list in
      let names = list.elements.compactMap { name(of: $0.expression) }
      guard names.count == list.elements.count, !names.isEmpty else { return nil }
      if !known.insert(names.sorted()).inserted {
        return .make(
          "repeatedConstraint", .warning, at: list,
          "#Unique names \(names.map { "`\($0)`" }.joined(separator: ", ")) twice; remove one of the lists.")
      }
      guard names.count == 1, let property = marked.first(where: { $0.name == names[0] }),
        let marker = property.marker,
        let argument = marker.labeledArguments.first(where: { isUnique($0) })
      else { return nil }
      return .make(
        "repeatedConstraint", .warning, at: list,
        "`\(names[0])` is unique by its attribute already; remove the option or the list.",
        fixIts: [.removing("Remove `.unique`", argument: argument)])
    }
  }

  private func isUnique(_ marker: AttributeSyntax) -> Bool {
    marker.labeledArguments.contains { isUnique($0) }
  }

  private func isUnique(_ argument: LabeledExprSyntax) -> Bool {
    argument.label == nil && argument.expression.trimmedDescription.hasSuffix(".unique")
  }

  // MARK: Attributes of the class

  private var foreignAttributes: [Diagnostic] {
    var problems: [Diagnostic] = []
    if let marker = model.declaration.attributes.first(named: "Observable") {
      problems.append(
        .make(
          "observableModel", at: marker,
          "A class with @Model is observable already, and two macros can't both make its accessors; remove @Observable.",
          fixIts: [.removing("Remove @Observable", marker)]))
    }
    if let marker = model.declaration.attributes.first(named: "MainActor") {
      problems.append(
        .make(
          "isolatedModel", at: marker,
          "A model belongs to the isolation of its context, which is another one for each instance, so its class can't be "
            + "@MainActor; isolate the code that uses the models.",
          fixIts: [.removing("Remove @MainActor", marker)]))
    }
    return problems + wrappers
  }

  private var wrappers: [Diagnostic] {
    model.properties.compactMap { property in
      guard let wrapper = property.variable.attributes.first(named: "Published") else { return nil }
      return .make(
        "publishedProperty", at: wrapper,
        "`\(property.name)` is observable by @Model, and a persisted property can't have a wrapper; remove @Published.",
        fixIts: [.removing("Remove @Published", wrapper)])
    }
  }
}
