import CDEManagedModel
import CDEModelFiles
import CDEPredicates
import Testing

@Suite("Derivations as expressions")
struct DerivationExpressionTests {
  @Test(
    "An expression is stored as the text that model files have",
    arguments: [
      "chat.serverId", "pages.@count", "pages.price.@sum", "pages.@sum.price", "canonical:(name)",
      "lowercase:(name)",
      "uppercase:(name)", "now()",
    ])
  func expressions(text: String) throws {
    let attribute = NSDerivedAttributeDescription()
    attribute.derivation = text
    let expression = try #require(attribute.derivationExpression)
    let copy = NSDerivedAttributeDescription()
    copy.derivationExpression = expression
    // Two texts of one expression mean the same attribute, and give it the same hash.
    for attribute in [attribute, copy] { attribute.name = "value" }
    #expect(copy.derivationExpression == expression)
    #expect(copy.versionHash == attribute.versionHash)
    copy.derivationExpression = nil
    #expect(copy.derivation == nil && copy.derivationExpression == nil)
  }

  @Test("A text that is no expression has none, and a malformed expression's text is the error")
  func malformed() {
    let attribute = NSDerivedAttributeDescription()
    attribute.derivation = "(("
    #expect(attribute.derivationExpression == nil)
    attribute.derivationExpression = TreeExpression(format: "a +")
    #expect(attribute.derivation?.isEmpty == false)
    #expect(attribute.derivationExpression == nil)
  }
}
