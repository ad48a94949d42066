public import CDEManagedModel
internal import Foundation

extension Schema {
  /// A property with a value.
  public class Attribute: SchemaProperty, @unchecked Sendable {
    // Guard: immutable. The default value is of a type of the application, and is read only.

    /// The name of the class's property.
    public let name: String
    /// The name in the earlier version of the schema; ``name`` if it was not renamed.
    public let originalName: String
    /// What was written at the property.
    public let options: [Option]
    /// The type of the property, an optional if it may be nil.
    public let valueType: any Any.Type
    /// The value that was written at the declaration, as it was when the schema was made.
    public let defaultValue: Any?
    /// Another text makes another version of the property, for instance after a change of its meaning.
    public let hashModifier: String?
    /// How the values are stored; nil for a transformable attribute, and for a type that can't be stored.
    let shape: ValueShape?

    /// Makes what `@Attribute` says of a property. A schema adds the property's name and type.
    public convenience init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
      self.init(
        name: "", originalName: originalName, options: options, valueType: Never.self,
        hashModifier: hashModifier)
    }

    /// Makes a whole attribute.
    ///
    /// - Parameters:
    ///   - name: the name of the property.
    ///   - originalName: its name in the earlier version; nil for the same.
    ///   - options: what is special about it.
    ///   - valueType: the type of the property, an optional if it may be nil.
    ///   - defaultValue: the value that is written at the declaration.
    ///   - hashModifier: a text that makes another version of the property.
    public init(
      name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
      defaultValue: Any? = nil, hashModifier: String? = nil
    ) {
      self.name = name
      self.originalName = originalName ?? name
      self.options = options
      self.valueType = valueType
      self.defaultValue = defaultValue.flatMap { ValueCoding.unwrap($0) }
      self.hashModifier = hashModifier
      let isTransformable = options.contains { $0.transformer != nil }
      shape = isTransformable || valueType == Never.self ? nil : ValueShape.of(valueType)
    }

    init(stored: StoredAttribute) {
      name = stored.name
      originalName = stored.originalName
      options = stored.options
      valueType = stored.type
      defaultValue = stored.defaultValue
      hashModifier = stored.hashModifier
      shape = stored.shape
    }

    public required convenience init(from decoder: any Decoder) throws {
      self.init(stored: try StoredAttribute(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws { try StoredAttribute(self).encode(to: encoder) }

    /// True.
    public var isAttribute: Bool { true }
    /// False.
    public var isRelationship: Bool { false }
    /// Whether the attribute is ephemeral, so that stores leave it out.
    public var isTransient: Bool { options.contains(.ephemeral) }
    /// Whether the type is an optional.
    public var isOptional: Bool { valueType is any OptionalValue.Type }
    /// Whether two models of the entity can't have the same value.
    public var isUnique: Bool { options.contains(.unique) }
    /// Whether a value transformer makes bytes of the values.
    public var isTransformable: Bool { transformer != nil }

    var transformer: Option.Transformer? { options.lazy.compactMap(\.transformer).first }

    /// Attributes are equal if stores can't tell them apart. Types and default values do not count.
    public static func == (first: Attribute, second: Attribute) -> Bool {
      first.name == second.name && first.originalName == second.originalName
        && first.options == second.options
        && first.isOptional == second.isOptional && first.shape == second.shape
        && first.hashModifier == second.hashModifier
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(shape)
    }
  }

  /// An attribute with parts of its own: a struct or an enumeration.
  public final class CompositeAttribute: Attribute, @unchecked Sendable {
    // Guard: as inherited, immutable.

    /// The parts, in the order of their columns.
    public var properties: [Attribute] {
      guard let shape else { return [] }
      return shape.parts(name: name).map { name, type, shape in
        Attribute(stored: StoredAttribute(name: name, type: type, shape: shape))
      }
    }
  }
}

extension Schema.Attribute {
  /// What is special about an attribute.
  public struct Option: Hashable, Codable, Sendable {
    enum Transformer: Hashable, Codable, Sendable {
      case name(String)
      /// The name of a transformer's class, which may be registered under another name.
      case type(String)
    }

    private enum Kind: String, Hashable, Codable, Sendable {
      case unique, transformable, externalStorage, allowsCloudEncryption, preserveValueOnDeletion, ephemeral,
        spotlight
    }

    private let kind: Kind
    let transformer: Transformer?

    private init(_ kind: Kind, _ transformer: Transformer? = nil) {
      self.kind = kind
      self.transformer = transformer
    }

    /// Two models of the entity can't have the same value. Saving a second one updates the row of the first.
    public static var unique: Option { Option(.unique) }
    /// Large values may be in files of their own.
    public static var externalStorage: Option { Option(.externalStorage) }
    /// Kept for other programs; without an effect on Linux.
    public static var allowsCloudEncryption: Option { Option(.allowsCloudEncryption) }
    /// The history keeps the last value of a deleted model.
    public static var preserveValueOnDeletion: Option { Option(.preserveValueOnDeletion) }
    /// The value is in memory only. Setting it is a change that a context knows of.
    public static var ephemeral: Option { Option(.ephemeral) }
    /// Kept for other programs; without an effect on Linux.
    public static var spotlight: Option { Option(.spotlight) }

    /// A value transformer makes bytes of the values.
    ///
    /// - Parameter transformerType: the transformer's class. An instance must be registered, under any name.
    public static func transformable(by transformerType: ValueTransformer.Type) -> Option {
      Option(.transformable, .type(_typeName(transformerType, qualified: true)))
    }

    /// A value transformer makes bytes of the values.
    ///
    /// - Parameter transformerName: the name under which the transformer is registered.
    public static func transformable(by transformerName: String) -> Option {
      Option(.transformable, .name(transformerName))
    }
  }
}

extension Schema.Attribute.Option.Transformer {
  /// The name under which the transformer is registered. If it is not, the name of its class.
  var registeredName: String {
    switch self {
    case .name(let name): return name
    case .type(let type):
      let found = ValueTransformer.valueTransformerNames().first { name in
        ValueTransformer(forName: name).map { _typeName(Swift.type(of: $0), qualified: true) == type }
          ?? false
      }
      return found?.rawValue ?? String(type.split(separator: ".").last ?? "")
    }
  }
}
