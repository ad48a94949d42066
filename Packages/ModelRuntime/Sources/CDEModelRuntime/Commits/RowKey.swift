internal import CDEStore

/// The identity of a row within a model. Keys are unique in the inheritance tree of a root entity.
struct RowKey: Hashable, Sendable {
  var root: RootIndex
  var key: Int64
}
