import CDESourceRewriting
import Testing

// The results are compiled by the consumer PortedApp.
@Suite("Members of extensions that are overridden or override")
struct LiftedMemberTests {
  private func rewritten(_ source: String) -> (text: String, messages: [String]) {
    let file = SourceRewriter.Parsed(Array(source.utf8))
    let result = SourceRewriter(index: SourceIndex([file.facts])).rewrite(file)
    return (String(decoding: result.bytes, as: UTF8.self), result.messages.map { $0.printed(file: "F") })
  }

  @Test("A function that overrides in an extension is called by the body of the class")
  func overridingFunction() {
    let result = rewritten(
      """
      class A: NSManagedObject {}
      extension A {
        public override func awakeFromInsert() { super.awakeFromInsert() }
        override class func title(of key: String, _ other: inout Int, with last: Int?) throws -> String { "" }
      }
      """)
    #expect(
      result.text.contains("public override func awakeFromInsert() { self._cdLifted_A_awakeFromInsert() };"))
    #expect(
      result.text.contains(
        "public override class func title(of key: String, _ other: inout Int, with last: Int?) throws -> String "
          + "{ try self._cdLifted_A_title(of: key, &other, with: last) };"))
    #expect(
      result.text.contains("  public func _cdLifted_A_awakeFromInsert() { super.awakeFromInsert() }\n"))
    #expect(result.text.contains("  class func _cdLifted_A_title(of key: String,"))
    #expect(result.messages.isEmpty)
    #expect(result.text.split(separator: "\n").count == 5)
  }

  @Test("A variable that overrides in an extension keeps its setter")
  func overridingVariable() {
    let text = rewritten(
      """
      class B: NSObject { }
      extension B {
        override var description: String { "B" }
        override var size: Int { get { 1 } set { print(newValue) } }
      }
      """
    ).text
    #expect(
      text.contains("public override var description: String { self._cdLifted_B_description };"), "\(text)")
    #expect(
      text.contains(
        "public override var size: Int { get { self._cdLifted_B_size } set { self._cdLifted_B_size = newValue } };"
      ))
    #expect(text.contains("  var _cdLifted_B_description: String { \"B\" }"))
  }

  @Test("A member that a subclass overrides is moved with its visibility, and others stay")
  func overriddenMember() {
    let text = rewritten(
      """
      open class A: NSManagedObject {}
      public extension A {
        @objc class func key() -> String? { nil }
        @objc func rest() {}
      }
      class B: A { override class func key() -> String? { "b" } }
      class C: B { func rest(_ value: Int) {} }
      """
    ).text
    #expect(text.contains("public class func key() -> String? { self._cdLifted_A_key() };"))
    #expect(text.contains("class func _cdLifted_A_key() -> String? { nil }"))
    #expect(text.contains("  func rest() {}"))
    #expect(text.contains("override class func key() -> String? { \"b\" }"))
  }

  @Test(
    "An override in an extension of an unknown class, or under a condition, is an error that says what to do")
  func unknownClass() {
    let unknown = rewritten("extension A { override func awakeFromInsert() {} }")
    #expect(unknown.messages.count == 1)
    #expect(
      unknown.messages.first?.hasPrefix("F:1:15: error: On Linux an extension can override only members")
        == true)
    let conditional = rewritten("class A<T>: B {}\nextension A where T == Int { override func f() {} }")
    #expect(conditional.messages.count == 1)
  }

  @Test("An extension that has what key-value observing calls conforms to the protocol")
  func observers() {
    let function =
      "func observeValue(forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, "
      + "context: UnsafeMutableRawPointer?) {}"
    let result = rewritten("class A: NSObject {}\nextension A { override \(function) }")
    #expect(result.text.hasSuffix("extension A: _CDKeyValueObserver { \(function) }"))
    #expect(result.messages.isEmpty)
  }
}
