import CDESwiftData
import Testing

@Suite("Versions of schemas")
struct SchemaVersionTests {
  @Test("A version is ordered by its numbers, and printed with dots")
  func order() {
    #expect(Schema.Version(1, 9, 9) < Schema.Version(1, 10, 0))
    #expect(Schema.Version(2, 0, 0) > Schema.Version(1, 10, 0))
    #expect(Schema.Version(1, 2, 3).description == "1.2.3")
  }
}
