/// Stands for a property with `willSet` or `didSet` in checks that an initialiser sets all. For generated accessors.
public struct _ObservedProperty {
  /// Whether the observers run just now: a set inside of them runs none, as with a stored property.
  public var isObserved = false

  /// No observer runs.
  public init() {}
}
