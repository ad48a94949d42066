/// Takes a block to another isolation.
struct Carrier<Value>: @unchecked Sendable {
  // Guard: the maker gives the value away and does not use it again.
  let value: Value
  init(_ value: Value) { self.value = value }
}
