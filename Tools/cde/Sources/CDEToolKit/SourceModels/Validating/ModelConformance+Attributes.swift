import CDEDiagrams
import CDESourceFacts

extension ModelConformance {
  mutating func check(
    _ attribute: ResolvedAttribute, _ property: SourceFacts.Property, _ file: SourceTree.File,
    _ entity: ResolvedEntity
  ) {
    let subject = "\(entity.name).\(attribute.persistentName)"
    let marker = property.attribute("Attribute")
    if attribute.hasChosenName, property.name != attribute.swiftName {
      add(
        file, property.place, .name, subject,
        "\(subject) is named `\(property.name)`, and the rules say `\(attribute.swiftName)`.",
        "Rename the property, or change “swiftName” of the rule.")
    }
    guard let written = property.type else { return }
    if let relationship = property.attribute("Relationship") {
      return add(
        file, relationship.place, .type, subject,
        "\(subject) is an attribute, and the property has @Relationship.",
        "Remove @Relationship, and declare the property as \(attribute.declaredType).")
    }
    let type = TypeText(written.text)
    let method = Self.method(of: marker)
    checkStorage(attribute, method, type, property, file, subject)
    checkType(attribute, method, type, written, file, subject)
    if !attribute.ignoresOptionality, type.isOptional != attribute.isOptional {
      add(
        file, written.place, .optionality, subject,
        "\(subject) is \(attribute.isOptional ? "optional" : "required") in the model, and the property is \(type.isOptional ? "optional" : "not").",
        "Declare it as `\(type.name)\(attribute.isOptional ? "?" : "")`, or change the model.")
    }
    checkTraits(attribute, marker, property, file, subject)
    checkPolicy(attribute, marker, property, file, subject)
    checkDefault(attribute, method, property, written, file, subject)
  }

  /// The storage method that an `@Attribute` says.
  static func method(of marker: SourceFacts.Attribute?) -> StorageMethod {
    guard let text = marker?["storageMethod"]?.text else { return .default }
    let name = text.prefix { $0 != "(" }.split(separator: ".").last.map(String.init) ?? ""
    return StorageMethod(rawValue: name) ?? .default
  }

  // MARK: Storage and type

  private mutating func checkStorage(
    _ attribute: ResolvedAttribute, _ method: StorageMethod, _ type: TypeText,
    _ property: SourceFacts.Property,
    _ file: SourceTree.File, _ subject: String
  ) {
    let marker = property.attribute("Attribute")
    let isPrimitive = AttributeTypes.name(forSwiftType: type.name) != nil
    if method != attribute.storage, attribute.hasChosenStorage || !Self.fits(method, attribute) {
      // Adding what is missing, or removing what nothing needs, leaves the stored form. Another change would not.
      var changes: [AttributeFix.Change] = []
      if method == .default, !isPrimitive, let text = AttributeText.storage(of: attribute),
        type.isOptional || attribute.storage == .raw
      {
        changes = [.set(label: "storageMethod", value: text)]
        // With the method the policy has a meaning, too.
        if let policy = attribute.decodeFailurePolicy, marker?["decodeFailurePolicy"] == nil {
          changes.append(.set(label: "decodeFailurePolicy", value: ".\(policy.rawValue)"))
        }
      } else if attribute.storage == .default, method == .raw, isPrimitive {
        changes = [.remove(label: "storageMethod")]
      }
      return add(
        file, marker?["storageMethod"]?.place ?? property.place, .storageMethod, subject,
        "\(subject) has the storage method \(method.rawValue), and \(attribute.hasChosenStorage ? "the rules say" : "the model's type needs") \(attribute.storage.rawValue).",
        AttributeText.storage(of: attribute).map { "Write `storageMethod: \($0)`." }
          ?? "Remove `storageMethod:`.",
        fixes: fixes(property, "Attribute", changes, file))
    }
    guard method == .transformed, attribute.storage == .transformed, attribute.hasChosenTransformer,
      let argument = marker?["storageMethod"],
      let name = argument.text.firstMatch(of: #/name:\s*"([^"\\]*)"/#)?.1,
      let expected = attribute.transformerName, name != expected
    else { return }
    add(
      file, argument.place, .transformer, subject,
      "\(subject) has the transformer \(name), and the \(attribute.hasChosenStorage ? "rules say" : "model's is") \(expected).",
      "Name \(expected).",
      fixes: fixes(
        property, "Attribute",
        [.set(label: "storageMethod", value: AttributeText.storage(of: attribute) ?? ".default")], file))
  }

  /// Whether a storage method stores values of the attribute's type, where no rule says one.
  private static func fits(_ method: StorageMethod, _ attribute: ResolvedAttribute) -> Bool {
    switch method {
    case .default: attribute.storage == .default
    case .raw: ["String", "Integer 16", "Integer 32", "Integer 64"].contains(attribute.typeName)
    case .codable: attribute.typeName == "Binary Data"
    case .transformed: attribute.typeName == "Transformable"
    case .composition: ["Transformable", "Composite"].contains(attribute.typeName)
    }
  }

  /// The Swift types of properties that hold the attribute's values.
  private static func types(of attribute: ResolvedAttribute) -> [String] {
    attribute.hasChosenType ? [attribute.swiftType] : AttributeTypes.swiftTypes[attribute.typeName] ?? []
  }

  private mutating func checkType(
    _ attribute: ResolvedAttribute, _ method: StorageMethod, _ type: TypeText, _ written: SourceFacts.Text,
    _ file: SourceTree.File, _ subject: String
  ) {
    func isChosen(_ name: String) -> Bool { TypeText(name).name == type.name }
    let remedy = "Declare it as `\(attribute.declaredType)`, or change the rule or the model."
    if method == .default {
      // A storage method that is missing has a finding of its own.
      guard attribute.storage == .default else { return }
      let expected = Self.types(of: attribute)
      if !expected.contains(type.name) {
        add(
          file, written.place, .type, subject,
          "\(subject) is \(attribute.typeName), which is \(expected.joined(separator: " or ")), and the property is \(type.name).",
          remedy)
      }
      return
    }
    if attribute.hasChosenType, attribute.hasChosenStorage || attribute.storage == method,
      !isChosen(attribute.swiftType)
    {
      add(
        file, written.place, .type, subject,
        "\(subject) has the type \(type.name), and the rules say \(attribute.swiftType).", remedy)
    }
    if method == .raw, let enumeration = tree.type(type.name, .enum, in: scope),
      let raw = enumeration.inherited.first?.text,
      let stored = AttributeTypes.name(forSwiftType: TypeText(raw).name), stored != attribute.typeName
    {
      add(
        file, written.place, .enumeration, subject,
        "The raw values of \(type.name) are \(raw), and \(subject) is \(attribute.typeName).",
        "Change the raw type, or the attribute's type in the model.")
    }
    if method == .composition, !attribute.elements.isEmpty,
      let structure = tree.type(type.name, .struct, in: scope)
    {
      checkElements(attribute, structure, written, file, subject)
    }
  }

  private mutating func checkElements(
    _ attribute: ResolvedAttribute, _ structure: SourceFacts.TypeDeclaration, _ written: SourceFacts.Text,
    _ file: SourceTree.File, _ subject: String
  ) {
    var fields: [String: String] = [:]
    for field in structure.properties where field.isStored {
      let name = field.attribute("CompositionField")?["persistentName"]?.string ?? field.name
      fields[name] = AttributeTypes.name(forSwiftType: TypeText(field.type?.text ?? "").name) ?? ""
    }
    let elements = Dictionary(attribute.elements.map { ($0.name, $0.typeName) }) { first, _ in first }
    guard fields != elements else { return }
    let different = Set(fields.keys).union(elements.keys).filter { fields[$0] != elements[$0] }.sorted()
    add(
      file, written.place, .composition, subject,
      "The fields of \(structure.name) differ from the elements of \(subject): \(different.joined(separator: ", ")).",
      "Correct the structure, or the composite in the model.")
  }

  // MARK: Traits

  private mutating func checkTraits(
    _ attribute: ResolvedAttribute, _ marker: SourceFacts.Attribute?, _ property: SourceFacts.Property,
    _ file: SourceTree.File, _ subject: String
  ) {
    let traits: [(name: String, isExpected: Bool, rule: SourceFinding.Rule, what: String)] = [
      ("unique", attribute.isUnique, .unique, "unique"),
      ("transient", attribute.isTransient, .transient, "transient"),
      ("preserveValueOnDeletion", attribute.isPreserved, .preservation, "preserved on deletion"),
    ]
    for trait in traits where (marker?.hasTrait(trait.name) ?? false) != trait.isExpected {
      add(
        file, marker?.place ?? property.place, trait.rule, subject,
        "\(subject) is \(trait.isExpected ? "" : "not ")\(trait.what) in the model, and the property is\(trait.isExpected ? " not" : "").",
        trait.isExpected ? "Add `.\(trait.name)` to @Attribute." : "Remove `.\(trait.name)`.",
        fixes: fixes(
          property, "Attribute",
          [trait.isExpected ? .addTrait(".\(trait.name)") : .removeTrait(trait.name)], file))
    }
  }

  private mutating func checkPolicy(
    _ attribute: ResolvedAttribute, _ marker: SourceFacts.Attribute?, _ property: SourceFacts.Property,
    _ file: SourceTree.File, _ subject: String
  ) {
    guard let expected = attribute.decodeFailurePolicy, Self.method(of: marker).decodes else { return }
    let argument = marker?["decodeFailurePolicy"]
    let name = argument?.text.split(separator: ".").last.map(String.init)
    guard (name ?? DecodeFailurePolicy.fallbackToDefaultValue.rawValue) != expected.rawValue else { return }
    add(
      file, argument?.place ?? marker?.place ?? property.place, .decodeFailurePolicy, subject,
      "\(subject) has the decode failure policy \(name ?? "fallbackToDefaultValue"), and the rules say \(expected.rawValue).",
      "Write `decodeFailurePolicy: .\(expected.rawValue)`.",
      fixes: fixes(
        property, "Attribute", [.set(label: "decodeFailurePolicy", value: ".\(expected.rawValue)")], file))
  }

  // MARK: Defaults

  private mutating func checkDefault(
    _ attribute: ResolvedAttribute, _ method: StorageMethod, _ property: SourceFacts.Property,
    _ written: SourceFacts.Text, _ file: SourceTree.File, _ subject: String
  ) {
    let value = property.initialValue.flatMap {
      ["nil", ".none", "Optional.none"].contains($0.text) ? nil : $0
    }
    if method == .raw { return checkRawDefault(attribute, value, property, file, subject) }
    guard method == .default, attribute.storage == .default else { return }
    let expected = attribute.defaultText
    let actual = value.map { $0.string.map(DefaultLiteral.string) ?? $0.text }
    guard !DefaultLiteral.isSame(actual, expected) else { return }
    var edit: SourceEdit?
    // A value that is no literal may be more than it seems. One of another type would not compile.
    if let expected, Self.types(of: attribute).contains(TypeText(written.text).name),
      DefaultLiteral.isLiteral(expected), property.siblings == 1, file.facts.problems.isEmpty
    {
      if let old = property.initialValue {
        if value == nil || DefaultLiteral.isLiteral(actual ?? "") {
          edit = SourceEdit(file: file.path, range: old.place.range, text: expected)
        }
      } else {
        edit = SourceEdit(
          file: file.path, range: written.place.end..<written.place.end, text: " = \(expected)")
      }
    }
    add(
      file, property.initialValue?.place ?? property.place, .defaultValue, subject,
      "\(subject) has \(expected.map { "the default \($0)" } ?? "no default") in the model, and the property has \(value.map { "\($0.text)" } ?? "none").",
      expected.map { "Write `= \($0)`." } ?? "Remove the default, or add it to the model.", edit: edit)
  }

  private mutating func checkRawDefault(
    _ attribute: ResolvedAttribute, _ value: SourceFacts.Text?, _ property: SourceFacts.Property,
    _ file: SourceTree.File, _ subject: String
  ) {
    guard let type = property.type, let enumeration = tree.type(TypeText(type.text).name, .enum, in: scope)
    else {
      return
    }
    let name = value?.text.split(separator: ".").last.map(String.init)?.replacing("`", with: "")
    let raw = name.flatMap { Self.rawValues(of: enumeration)[$0] }
    // A default that is no case says nothing here.
    if value != nil, raw == nil { return }
    let expected = attribute.rawDefault ?? attribute.defaultTextOfValue
    guard !DefaultLiteral.isSame(raw, expected) else { return }
    add(
      file, value?.place ?? property.place, .defaultValue, subject,
      "\(subject) has \(expected.map { "the default \($0)" } ?? "no default") in the model, and the property has \(raw ?? "none").",
      "Choose the case with the model's default, or change the model.")
  }

  /// The raw values by case, as literals.
  private static func rawValues(of enumeration: SourceFacts.TypeDeclaration) -> [String: String] {
    let isText = enumeration.inherited.first.map { TypeText($0.text).name == "String" } ?? false
    var result: [String: String] = [:]
    var next = 0
    for element in enumeration.cases {
      if isText {
        result[element.name] = DefaultLiteral.string(element.rawValue?.string ?? element.name)
        continue
      }
      if let text = element.rawValue?.text, let number = Int(text.filter({ $0 != "_" })) { next = number }
      result[element.name] = "\(next)"
      next += 1
    }
    return result
  }
}

extension ResolvedAttribute {
  /// The model's default of an attribute that the source stores by raw values and the rules do not.
  fileprivate var defaultTextOfValue: String? { storage == .default ? defaultText : nil }
}
