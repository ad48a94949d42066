extension Schema {
  /// Sets of properties whose values together are unique, as `#Unique` names them.
  public final class Unique<Model: PersistentModel>: @unchecked Sendable {
    // Guard: immutable.

    /// The sets of properties.
    public let constraints: [[PartialKeyPath<Model>]]

    /// Makes constraints, each of one or several properties.
    public init(_ constraints: [PartialKeyPath<Model>]...) { self.constraints = constraints }
  }

  /// Indexes of properties, as `#Index` names them.
  public final class Index<Model: PersistentModel>: @unchecked Sendable {
    // Guard: immutable.

    /// One index, of one or several properties.
    public enum Types<Indexed: PersistentModel> {
      /// For equality and order.
      case binary([PartialKeyPath<Indexed>])
      /// For numbers that are searched by ranges in several dimensions.
      case rtree([PartialKeyPath<Indexed>])
    }

    /// The indexes.
    public let indices: [Types<Model>]

    /// Makes indexes for equality and order.
    public init(_ indices: [PartialKeyPath<Model>]...) { self.indices = indices.map { .binary($0) } }

    /// Makes indexes of either kind.
    public init(_ indices: Types<Model>...) { self.indices = indices }
  }

  /// An index by the names of its properties.
  struct IndexNames: Hashable, Codable, Sendable {
    let names: [String]
    let isSpatial: Bool
  }
}

/// What a schema reads constraints and indexes from, whatever the model.
protocol ConstraintPaths {
  var paths: [[AnyKeyPath]] { get }
}

protocol IndexPaths {
  var paths: [(paths: [AnyKeyPath], isSpatial: Bool)] { get }
}

extension Schema.Unique: ConstraintPaths {
  var paths: [[AnyKeyPath]] { constraints }
}

extension Schema.Index: IndexPaths {
  var paths: [(paths: [AnyKeyPath], isSpatial: Bool)] {
    indices.map { index in
      switch index {
      case .binary(let paths): (paths, false)
      case .rtree(let paths): (paths, true)
      }
    }
  }
}
