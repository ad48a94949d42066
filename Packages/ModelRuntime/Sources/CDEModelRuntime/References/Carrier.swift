/// Carries a block to another isolation.
struct Carrier<Value>: @unchecked Sendable {
  // Guard: the code that makes the carrier does not use the value afterwards.
  let value: Value
  init(_ value: Value) { self.value = value }
}
