// Foundation has these types on platforms with an Objective-C runtime.
#if !canImport(ObjectiveC)
  public import Foundation
  @_spi(CDE) internal import CDEExecutors

  /// The name under which a value transformer is registered.
  public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Makes a name from its text, without a label as in Foundation.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Property lists and similar values, as securely coded archives. Registered from the start.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
      "NSSecureUnarchiveFromData")
  }

  /// Transforms values and reverses this, as Foundation's class of this name on Apple's platforms.
  ///
  /// Subclass it and register an instance under a name. Attributes refer to it by that name. Any thread may
  /// call a registered transformer.
  ///
  /// - Precondition: a registered transformer has no state.
  nonisolated open class ValueTransformer: NSObject {
    private struct Registered: @unchecked Sendable {
      // Guard of @unchecked Sendable: transformers have no state, which is a precondition of the
      // registration.
      let transformer: ValueTransformer
    }
    private static let registry = Lock<[NSValueTransformerName: Registered]>([
      .secureUnarchiveFromDataTransformerName: Registered(
        transformer: NSSecureUnarchiveFromDataTransformer()),
      // Foundation also finds it by the name of its class, which many models contain.
      NSValueTransformerName("NSSecureUnarchiveFromDataTransformer"):
        Registered(transformer: NSSecureUnarchiveFromDataTransformer()),
    ])

    public override init() { super.init() }

    /// Registers a transformer, or removes the registration with `nil`.
    open class func setValueTransformer(
      _ transformer: ValueTransformer?, forName name: NSValueTransformerName
    ) {
      let entry = transformer.map { Registered(transformer: $0) }
      registry.withLock { $0[name] = entry }
    }

    /// The names under which transformers are registered.
    open class func valueTransformerNames() -> [NSValueTransformerName] {
      registry.withLock { Array($0.keys) }.sorted { $0.rawValue < $1.rawValue }
    }

    static func registered(forName name: NSValueTransformerName) -> ValueTransformer? {
      registry.withLock { $0[name] }?.transformer
    }

    /// Class of the values that ``transformedValue(_:)`` returns.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether ``reverseTransformedValue(_:)`` works; `true` by default.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The transformed value; by default the value itself.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value before the transformation. By default it transforms once more, as in Foundation.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
      checkPrecondition(
        Self.allowsReverseTransformation(), "\(Self.self) does not allow the reverse transformation.")
      return transformedValue(value)
    }
  }

  /// Gives ``ValueTransformer`` an initialiser that returns the registered instance. Only an initialiser in
  /// an extension of a protocol may assign `self`.
  nonisolated public protocol _ValueTransformerLookup {}

  extension ValueTransformer: _ValueTransformerLookup {}

  extension _ValueTransformerLookup {
    /// The transformer that is registered under the name; `nil` when there is none.
    public init?(forName name: NSValueTransformerName) {
      guard let registered = ValueTransformer.registered(forName: name) else { return nil }
      // In two steps, because an optimised build crashes when it casts an optional to `Self`.
      guard let found = registered as? Self else { return nil }
      self = found
    }
  }
#endif
