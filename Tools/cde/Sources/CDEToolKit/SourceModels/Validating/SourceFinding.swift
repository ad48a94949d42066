import CDESourceFacts

/// A place where model, rules and sources disagree.
public struct SourceFinding: Sendable, Hashable {
  public var file: String
  public var line: Int
  public var column: Int
  /// A short name of the kind of finding, for programs.
  public var rule: Rule
  /// The entity, with the property where there is one: `Note.title`.
  public var subject: String
  public var message: String
  public var remedy: String
  /// The changes that put it right, if they are certain.
  var fixes: [AttributeFix] = []
  var edit: SourceEdit?

  /// Whether `--fix` puts it right.
  public var isFixable: Bool { !fixes.isEmpty || edit != nil }

  /// The kinds of findings.
  public enum Rule: String, CaseIterable, Sendable {
    case syntax, rules, missingClass, unknownClass, superclass, entityOption, missingProperty,
      unknownProperty,
      name, type, optionality, defaultValue, persistentName, unique, transient, preservation, storageMethod,
      transformer, decodeFailurePolicy, missingRelationship, inverse, deleteRule, count, composition,
      enumeration,
      missingFile, staleFile, editedFile, leftoverFile

    /// What it says in general, for reports.
    var title: String {
      switch self {
      case .syntax: "The source can't be parsed."
      case .rules: "A rule of the configuration contradicts the model."
      case .missingClass: "An entity has no class."
      case .unknownClass: "A class has no entity."
      case .superclass: "The class inherits from another class than the model says."
      case .entityOption: "An option of the class differs from the model."
      case .missingProperty: "The class lacks a property of the model."
      case .unknownProperty: "The model lacks a property of the class."
      case .name: "The property has another name than the rules say."
      case .type: "The property has another type than the model and the rules say."
      case .optionality: "The property is optional and the model's is not, or the other way round."
      case .defaultValue: "The default differs from the model's."
      case .persistentName: "The persistent name differs from the model's name."
      case .unique: "The uniqueness differs from the model's."
      case .transient: "The property is stored and the model's is not, or the other way round."
      case .preservation: "The preservation on deletion differs from the model's."
      case .storageMethod: "The storage method differs from what the rules say."
      case .transformer: "The transformer differs from the model's."
      case .decodeFailurePolicy: "The decode failure policy differs from what the rules say."
      case .missingRelationship: "A relationship has no @Relationship."
      case .inverse: "The inverse differs from the model's."
      case .deleteRule: "The delete rule differs from the model's."
      case .count: "The least or greatest count differs from the model's."
      case .composition: "The fields of a composition differ from the model's elements."
      case .enumeration: "The raw type of an enumeration differs from the attribute's type."
      case .missingFile: "A generated file is missing."
      case .staleFile: "A generated file is older than the model or its configuration."
      case .editedFile: "A generated file was edited by hand."
      case .leftoverFile: "A generated file is not made any more."
      }
    }
  }
}

/// A change of a range of a file's bytes.
struct SourceEdit: Sendable, Hashable {
  var file: String
  var range: Range<Int>
  var text: String
}

/// A change of the arguments of a property's attribute, which is added if the property lacks it.
///
/// Fixes of one attribute are joined to one edit.
struct AttributeFix: Sendable, Hashable {
  enum Change: Sendable, Hashable {
    case addTrait(String)
    case removeTrait(String)
    case set(label: String, value: String)
    case remove(label: String)
  }

  var file: String
  /// The start of the property's declaration, which tells properties apart.
  var declaration: Int
  var attribute: String
  var change: Change
}
